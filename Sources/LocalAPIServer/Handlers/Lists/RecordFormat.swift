internal import EntitySchema
internal import JSONText
internal import LocalAPI

/// Writes records in the format of a whole list.
struct RecordFormat: Sendable {
    /// Nil for lines of JSON.
    private let csv: CSV?
    /// The columns whose values may be elsewhere in the record, with their fields.
    private let sourced: [(column: Int, field: String)]
    private let entity: Entity

    /// The columns of CSV are `fields`, whose values the record has as members, else all fields that are shown.
    init(_ format: ListFormat, _ entity: Entity, _ fields: [String]?) {
        self.entity = entity
        let shown = entity.fields.filter { !$0.secret }
        csv = format == .csv ? CSV(columns: fields ?? shown.map(\.name), guardsFormulas: true) : nil
        sourced = fields == nil ? shown.enumerated().filter { $1.source != nil }.map { ($0, $1.name) } : []
    }

    var header: [UInt8] {
        var bytes: [UInt8] = []
        csv?.appendHeader(to: &bytes)
        return bytes
    }

    func append(_ record: JSONText, to bytes: inout [UInt8]) {
        guard let csv else { return RecordLines.append(record, to: &bytes) }
        var values = csv.values(in: record)
        for (column, field) in sourced where values[column] == nil || values[column]?.kind == .null {
            values[column] = entity.value(of: field, in: record)
        }
        csv.append(values: values, to: &bytes)
    }
}
