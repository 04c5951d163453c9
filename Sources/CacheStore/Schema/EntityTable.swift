internal import EntitySchema
internal import SQLiteStore

/// One entity in SQL: its table of records, the columns over their text, the indexes, and the view for queries under
/// the entity's own name.
///
/// A record is one row. Each of the first four is null if it would add nothing, so readers see
/// `coalesce(_document, _remote)`:
/// - `_remote`: what the server last said, byte for byte.
/// - `_local`: the fields that queued changes set.
/// - `_derived`: the derived fields that differ from what the server says.
/// - `_document`: `_remote` with `_local`, `_derived` and the computed fields on top.
/// - `_deleted`: its deletion, or that of its owner, is queued.
/// - `_version`: the server's own mark for the version in `_remote`.
/// - `_gone`: the server deleted the record while a change of it was being sent.
/// - `_acknowledged`: the position of the change log when a change of it was last acknowledged.
/// - `_content`: the SHA-256 of the file that the server has besides the record and that is stored here.
/// - `_content_address`: where that file came from.
/// - `_detail`: the value of `when_changed` for which its children were fetched.
///
/// Every field is a virtual column over that text: it takes no space, and adding or dropping one rewrites nothing.
struct EntityTable {
    let entity: Entity

    static let document = "coalesce(_document, _remote)"

    var name: String { "\"records_\(entity.name)\"" }
    /// Also works for a name that was not validated by a schema.
    static func name(of entity: String) -> String { "records_\(entity)".quoted(by: "\"") }
    var view: String { "\"\(entity.name)\"" }

    var createTable: String {
        """
        CREATE TABLE \(name) (
          _pk INTEGER PRIMARY KEY, _key TEXT NOT NULL UNIQUE, _remote TEXT, _local TEXT, _document TEXT,
          _deleted INTEGER NOT NULL DEFAULT 0, _synced_at INTEGER, _acknowledged INTEGER, _detail)
        """
    }

    /// Columns that tables of older versions lack: name → definition.
    static let laterColumns = [
        "_version": "_version TEXT", "_gone": "_gone INTEGER NOT NULL DEFAULT 0", "_derived": "_derived TEXT",
        "_content": "_content TEXT", "_content_address": "_content_address TEXT",
    ]

    /// True for rows where readers see something other than what the server said; small indexes cover these few rows.
    static let differs = "(_document IS NOT NULL OR _deleted <> 0)"

    /// Everything the table is made of: identical text means an identical table.
    var definition: String {
        ([entity.key, createTable] + Self.laterColumns.values.sorted() + columns.map(\.definition)
            + indexes.values.sorted() + triggers.values.sorted() + [createView]).joined(separator: "\n")
    }

    // MARK: Columns

    struct Column: Equatable {
        var name: String
        var type: String
        var expression: String

        var definition: String { "\"\(name)\" \(type) AS (\(expression)) VIRTUAL" }
    }

    /// One column for each field, in the schema's order; a secret field has none.
    var columns: [Column] {
        entity.fields.filter { !$0.secret }.map { field in
            Column(name: field.name, type: type(of: field), expression: expression(for: field))
        }
    }

    /// A field in a query: the stored and indexed `_key` for the key, else the column.
    func sql(for field: String) -> String {
        field == entity.key ? "_key" : "\"\(field)\""
    }

    /// `IS NOT NULL` as a condition that an index can seek: at least the smallest value that the column can hold.
    func isNotNull(_ column: String) -> String {
        let field = entity.fields.first { sql(for: $0.name) == column }
        let isText = column == "_key" || field.map { type(of: $0) == "TEXT" } ?? false
        return "\(column) >= \(isText ? "''" : "-9e999")"
    }

    /// Whether an index begins with this field.
    func isIndexed(_ field: String) -> Bool { field == entity.key || entity[field: field]?.indexed ?? false }

    private func type(of field: Field) -> String {
        switch field.kind {
        case .integer, .boolean: "INTEGER"
        case .number, .money: "NUMERIC"
        case .string, .time, .enum, .reference, .object, .list: "TEXT"
        }
    }

    /// The expression of a field's column, over `record`.
    func expression(for field: Field, in record: String = Self.document) -> String {
        guard field.name != entity.key else { return "_key" }
        switch field.kind {
        case .object, .list: return value(of: field, by: "->", in: record)
        case .time: return Self.normalizedTime(value(of: field, by: "->>", in: record))
        default: return value(of: field, by: "->>", in: record)
        }
    }

    /// The member with the field's name or, if there is none, the value at its source.
    func value(of field: Field, by arrow: String, in record: String = Self.document) -> String {
        let own = "\(record) \(arrow) '$.\"\(field.name)\"'"
        guard let source = field.source else { return own }
        let path = source.split(separator: ".").map { ".\"\($0)\"" }.joined()
        return "coalesce(\(own), \(record) \(arrow) '$\(path)')"
    }

    /// A field's value as JSON text, with digits as the upstream wrote them.
    func json(of field: Field, in record: String = Self.document) -> String {
        let own = "\(record) -> '$.\"\(field.name)\"'"
        guard let source = field.source else { return own }
        let path = source.split(separator: ".").map { ".\"\($0)\"" }.joined()
        // `->` returns a null member as the text null; it counts as missing, as in the columns.
        return "coalesce(nullif(\(own), 'null'), \(record) -> '$\(path)')"
    }

    /// A time as UTC with milliseconds, so that text sorts by time; anything else stays as it is. The guard keeps words
    /// such as `now`, which are not allowed in a column, away from strftime.
    static func normalizedTime(_ value: String) -> String {
        """
        CASE WHEN (\(value)) GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*' \
        THEN coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', \(value)), \(value)) ELSE \(value) END
        """
    }

    // MARK: Indexes and view

    /// Index name → statement. Each has the indexed field and then the default order, so that a filtered list in that
    /// order is one range of the index; the row's `_pk`, which ends every index, breaks ties.
    var indexes: [String: String] {
        var indexes: [String: String] = [:]
        let order = entity.sort.map(\.field)
        for field in entity.fields where field.indexed && field.name != entity.key {
            let fields = [field.name] + order.filter { $0 != field.name && $0 != entity.key }
            let index = "\(entity.name)_by_\(field.name)"
            indexes[index] = """
                CREATE INDEX "\(index)" ON \(name) (\(fields.map { "\"\($0)\"" }.joined(separator: ", "))) \
                WHERE _deleted = 0
                """
        }
        for field in entity.fields where entity.ties.contains(where: { $0.field == field.name }) {
            for (side, sought) in [("here", "\"\(field.name)\""), ("there", expression(for: field, in: "_remote"))] {
                let index = "\(entity.name)_differing_\(side)_by_\(field.name)"
                indexes[index] = "CREATE INDEX \"\(index)\" ON \(name) (\(sought)) WHERE \(Self.differs)"
            }
        }
        if let detail, let whenChanged = detail.whenChanged {
            let index = "\(entity.name)_with_new_\(detail.entity)"
            indexes[index] = "CREATE INDEX \"\(index)\" ON \(name) (_pk) WHERE \(detailOutdated(whenChanged))"
        }
        if entity.content != nil {
            let index = "\(entity.name)_by_content"
            indexes[index] = "CREATE INDEX \"\(index)\" ON \(name) (_content) WHERE _content IS NOT NULL"
        }
        return indexes
    }

    /// Trigger name → statement: they count the records that use each content.
    var triggers: [String: String] {
        guard entity.content != nil else { return [:] }
        let (moved, gone) = ("\(entity.name)_content_moved", "\(entity.name)_content_gone")
        return [
            moved: """
            CREATE TRIGGER "\(moved)" AFTER UPDATE OF _content ON \(name) WHEN OLD._content IS NOT NEW._content BEGIN
              UPDATE sync_content SET uses = uses - 1 WHERE sha256 = OLD._content;
              UPDATE sync_content SET uses = uses + 1 WHERE sha256 = NEW._content;
            END
            """,
            gone: """
            CREATE TRIGGER "\(gone)" AFTER DELETE ON \(name) WHEN OLD._content IS NOT NULL BEGIN
              UPDATE sync_content SET uses = uses - 1 WHERE sha256 = OLD._content;
            END
            """,
        ]
    }

    var detail: PullPlan.Detail? { entity.pull?.detail }

    /// True for records whose children have to be fetched again.
    func detailOutdated(_ whenChanged: String) -> String {
        "_detail IS NOT \(sql(for: whenChanged)) AND _remote IS NOT NULL AND _deleted = 0"
    }

    var createView: String {
        let fields = columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
        return "CREATE VIEW \(view) AS SELECT \(fields) FROM \(name) WHERE _deleted = 0"
    }
}
