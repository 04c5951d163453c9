internal import EntitySchema
internal import GRDB

/// Gathers a list's conditions and the values bound to them.
struct ListFilter {
    let table: EntityTable
    private(set) var conditions = ["_deleted = 0"]
    private(set) var arguments: [DatabaseValue] = []

    init(table: EntityTable) {
        self.table = table
    }

    mutating func add(_ filter: ListQuery.Filter) throws(CacheError) {
        let field = try filterable(filter.field)
        let column = table.sql(for: field.name)
        if filter.comparison == .null {
            guard let wantsNull = ["true": true, "false": false][filter.values.first ?? ""] else {
                throw CacheError.badQuery(field: "\(field.name).null", message: "expected true or false")
            }
            conditions.append("\(column) IS \(wantsNull ? "" : "NOT ")NULL")
            return
        }
        var values: [DatabaseValue] = []
        for value in filter.values { values.append(try Self.value(value, of: field)) }
        arguments += values
        let holes = values.map { _ in "?" }.joined(separator: ", ")
        switch filter.comparison {
        case .equal where values.count > 1: conditions.append("\(column) IN (\(holes))")
        case .equal: conditions.append("\(column) = ?")
        case .notEqual: conditions.append("\(column) <> ?")
        case .less: conditions.append("\(column) < ?")
        case .atMost: conditions.append("\(column) <= ?")
        case .greater: conditions.append("\(column) > ?")
        case .atLeast: conditions.append("\(column) >= ?")
        case .null: break
        }
    }

    mutating func add(_ sync: ListQuery.SyncFilter) {
        let failed = "(SELECT record_key FROM sync_outbox WHERE entity = '\(table.entity.name)' AND state = 'failed')"
        let disputed = "(SELECT record_key FROM sync_conflict WHERE entity = '\(table.entity.name)' AND winner IS NULL)"
        switch sync {
        case .pending:
            conditions.append("_local IS NOT NULL AND _key NOT IN \(failed) AND _key NOT IN \(disputed)")
        case .error: conditions.append("_local IS NOT NULL AND _key IN \(failed)")
        case .conflict: conditions.append("_key IN \(disputed)")
        }
    }

    private func filterable(_ name: String) throws(CacheError) -> Field {
        guard let field = table.entity[field: name] else {
            let near = Suggestion.nearest(to: name, among: table.entity.fields.map(\.name))
            throw CacheError.badQuery(
                field: name,
                message: "\(table.entity.name) has no field \(name)" + (near.map { "; did you mean \($0)?" } ?? ""))
        }
        switch field.kind {
        case .object, .list: throw CacheError.badQuery(field: name, message: "objects and lists cannot be filtered by")
        default: break
        }
        guard !field.secret else { throw CacheError.badQuery(field: name, message: "this field is secret") }
        return field
    }

    /// The caller's text as the value that the column would hold.
    private static func value(_ text: String, of field: Field) throws(CacheError) -> DatabaseValue {
        switch field.kind {
        case .integer, .number, .money:
            if let value = Int64(text) { return value.databaseValue }
            if let value = Double(text), value.isFinite { return value.databaseValue }
            throw CacheError.badQuery(field: field.name, message: "expected a number, got \(text)")
        case .boolean:
            guard let value = ["true": 1, "false": 0, "1": 1, "0": 0][text] else {
                throw CacheError.badQuery(field: field.name, message: "expected true or false, got \(text)")
            }
            return value.databaseValue
        case .time:
            guard let time = Timestamp(iso8601: text) else {
                throw CacheError.badQuery(
                    field: field.name,
                    message: "expected a time such as 2026-11-21 or 2026-11-21T10:42:00Z, got \(text)")
            }
            return time.description.databaseValue
        default: return text.databaseValue
        }
    }
}
