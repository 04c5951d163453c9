internal import EntitySchema
internal import SQLiteStore

/// One entity in SQL: its table of records, the columns that indexes need, the indexes, and the view for queries under
/// the entity's own name.
///
/// A record is one row. Readers see `document`, which is put together from the first three:
/// - `_remote`: what the server last said, byte for byte.
/// - `_local`: the fields that queued changes set; null without queued changes.
/// - `_document`: what readers see, where `json_patch(_remote, _local)` would not give it; else null.
/// - `_derived`: the derived fields that differ from what the server says.
/// - `_deleted`: its deletion, or that of its owner, is queued.
/// - `_displaced`: the server has it in another place than readers: hidden, or with another owner.
/// - `_version`: the server's own mark for the version in `_remote`.
/// - `_gone`: the server deleted the record while a change of it was being sent (`RecordRow.Deletion`).
/// - `_acknowledged`: the position of the change log when a change of it was last acknowledged.
/// - `_content`: the SHA-256 of the file that the server has besides the record and that is stored here.
/// - `_content_address`: where that file came from.
/// - `_detail`: the mark (`mark`) for which it, or its children, were fetched.
///
/// A field that is indexed, or computed on reading, has an ordinary column with the value that readers see, kept by
/// `RecordWriter`; a time in it is a number of milliseconds. Every other field is an expression over the document.
///
/// A class only because a list, its order and its conditions would each copy the whole entity.
final class EntityTable: Sendable {
    let entity: Entity

    init(entity: Entity) { self.entity = entity }

    /// Begins the name of each table of records.
    static let prefix = "records_"
    /// As SQL, in quotes.
    var name: String { "\"\(Self.prefix)\(entity.name)\"" }
    var bareName: String { Self.prefix + entity.name }
    /// Also works for a name that was not validated by a schema.
    static func name(of entity: String) -> String { (prefix + entity).quoted(by: "\"") }
    var view: String { "\"\(entity.name)\"" }

    /// The columns of every entity's table, in the order of a new table: name → definition.
    static let ownColumns: KeyValuePairs = [
        "_pk": "INTEGER PRIMARY KEY", "_key": "TEXT NOT NULL UNIQUE", "_remote": "TEXT", "_local": "TEXT",
        "_document": "TEXT", "_deleted": "INTEGER NOT NULL DEFAULT 0", "_synced_at": "INTEGER",
        "_acknowledged": "INTEGER", "_detail": "", "_version": "TEXT", "_gone": "INTEGER NOT NULL DEFAULT 0",
        "_derived": "TEXT", "_content": "TEXT", "_content_address": "TEXT",
        "_displaced": "INTEGER NOT NULL DEFAULT 0",
    ]

    var createTable: String {
        let own = Self.ownColumns.map { "\($0.key) \($0.value)" }
        return "CREATE TABLE \(name) (\((own + columns.map(\.definition)).joined(separator: ", ")))"
    }

    /// What readers see of a record; `row` is empty or the name of the table in the query with a dot.
    static func document(of row: String = "") -> String {
        """
        coalesce(\(row)_document, iif(\(row)_local IS NULL, \(row)_remote, json_patch(\(row)_remote, \(row)_local)))
        """
    }

    static let document = document()

    /// True for rows where readers may see something other than what the server said.
    static let differs = "(_local IS NOT NULL OR _document IS NOT NULL OR _deleted <> 0)"

    /// Everything the table is made of: identical text means an identical table.
    var definition: String {
        ([entity.key, createTable, columnSources] + indexes.values.sorted() + [createView]).joined(separator: "\n")
    }

    // MARK: Columns

    /// Where each column's value comes from: identical text means identical values.
    var columnSources: String {
        storedFields.map { field in
            "\(field.name) \(content(of: field)) \(field.source.map { "from \($0)" } ?? "")\(computation(of: field))"
        }.joined(separator: "\n")
    }

    /// How the field is computed on reading; empty for any other.
    func computation(of field: Field) -> String {
        field.isComputedOnReading ? " \(field.derivation?.definition ?? "")" : ""
    }

    struct Column: Equatable {
        var name: String
        var type: String

        var definition: String { type.isEmpty ? "\"\(name)\"" : "\"\(name)\" \(type)" }
    }

    /// One column for each stored field, in the schema's order.
    var columns: [Column] {
        storedFields.map { field in Column(name: field.name, type: field.kind == .time ? "" : type(of: field)) }
    }

    var storedFields: [Field] { entity.fields.filter(isStored) }

    /// Whether the field has a column.
    func isStored(_ field: Field) -> Bool {
        (field.indexed || field.isComputedOnReading) && field.name != entity.key && !field.isStoredSealed
    }

    /// The fields that no document has, unless the server sends them.
    var computedFields: [Field] { entity.fields.filter(\.isComputedOnReading) }

    var computedFieldCount: Int {
        // By index, because a walk over the fields copies each of them.
        entity.fields.indices.reduce(0) { entity.fields[$1].isComputedOnReading ? $0 + 1 : $0 }
    }

    /// A field's value in a query: `_key`, its column, or an expression with the type that a column would have. `row`
    /// is empty or the name of the table in the query with a dot.
    func sql(for name: String, of row: String = "") -> String {
        guard name != entity.key else { return "\(row)_key" }
        guard let field = entity[field: name] else { return isSyncedAt(name) ? "\(row)_synced_at" : "NULL" }
        return isStored(field) ? "\(row)\"\(name)\"" : expression(for: field, in: Self.document(of: row))
    }

    /// The same of a field that the caller has.
    func sql(of field: Field) -> String { isStored(field) ? "\"\(field.name)\"" : sql(for: field.name) }

    /// The same, with a time as text.
    func plain(for name: String, of row: String = "") -> String {
        let column = sql(for: name, of: row)
        guard let field = entity[field: name], isTimeColumn(field) else { return column }
        return "CASE typeof(\(column)) WHEN 'integer' THEN \(Self.time(column)) ELSE \(column) END"
    }

    /// The same, in less time where a query reads few fields of each row: the document is not put together for it.
    func plainAlone(for name: String, of row: String) -> String {
        // What is at a source may be inside another field.
        guard let field = entity[field: name], field.source == nil, !isStored(field), name != entity.key else {
            return plain(for: name, of: row)
        }
        return expression(for: field, in: Self.text(with: name, of: row))
    }

    /// That of the texts of a row in which readers see the field. Without `_document`, local fields replace those of the
    /// server, and none of them is null.
    private static func text(with field: String, of row: String) -> String {
        """
        iif(\(row)_local IS NULL OR \(row)_document IS NOT NULL, coalesce(\(row)_document, \(row)_remote), \
        iif(\(row)_local -> '$."\(field)"' IS NULL, \(row)_remote, \(row)_local))
        """
    }

    /// `IS NULL` as a condition that an index can seek. A key is never null, so no index can look that up; it is never empty
    /// either.
    func isNull(_ column: String) -> String { column == "_key" ? "_key = ''" : "\(column) IS NULL" }

    /// `IS NOT NULL` as a condition that an index can seek: at least the smallest value that the column can hold.
    func isNotNull(_ column: String) -> String {
        let field = entity.fields.first { sql(for: $0.name) == column }
        let isText = column == "_key" || field.map { type(of: $0) == "TEXT" && !isTimeColumn($0) } ?? false
        return "\(column) >= \(isText ? "''" : "-9e999")"
    }

    /// Whether an index begins with this field.
    func isIndexed(_ field: String) -> Bool {
        // By index, because the field itself would be copied.
        field == entity.key
            || entity.fields.indices.contains { entity.fields[$0].indexed && entity.fields[$0].name == field }
    }

    /// Whether the field has a column with a number of milliseconds.
    func isTimeColumn(_ field: Field) -> Bool { field.kind == .time && (isStored(field) || isSyncedAt(field.name)) }

    /// Whether lists mean `_synced_at` by this name.
    private func isSyncedAt(_ name: String) -> Bool { name == Entity.syncedAt.name && entity[field: name] == nil }

    /// What a column holds of the values. A text never changes: databases hold it.
    private func content(of field: Field) -> String {
        switch field.kind {
        case .time: "time"
        case .boolean where field.isTextOnWire: "boolean in quotes"
        default: field.dayFormat.map { "day \($0.word)" } ?? type(of: field)
        }
    }

    func type(of field: Field) -> String {
        switch field.kind {
        case .integer, .boolean: "INTEGER"
        case .number, .money: "NUMERIC"
        case .string, .time, .date, .enum, .reference, .object, .list: "TEXT"
        }
    }
}
