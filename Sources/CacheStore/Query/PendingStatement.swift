internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// One page of the queue as SQL. Names are checked; values are always bound.
struct PendingStatement {
    /// `blocked_by`: the change that this one waits for, directly or through others, and that does not go on by itself: it
    /// failed, is disputed, lacks its content, or is of an entity that the schema no longer has. `lacks_content`: a
    /// creation that is only sent with content has none.
    static func select(_ schema: EntitySchema) -> String {
        """
        WITH RECURSIVE blocked (id, blocked_by) AS (
          SELECT change_id, needs_id FROM sync_dependency JOIN sync_outbox AS stuck ON stuck.id = needs_id
          WHERE stuck.state = \(OutboxState.failed.sql)
            OR EXISTS (SELECT 1 FROM sync_conflict WHERE change_id = stuck.id AND winner IS NULL)
            OR \(schema.waitsForContentSQL(of: "stuck.")) OR stuck.entity NOT IN (\(schema.namesSQL))
          UNION
          SELECT change_id, blocked_by FROM blocked JOIN sync_dependency ON needs_id = blocked.id)
        SELECT outbox.*, (SELECT min(blocked_by) FROM blocked WHERE blocked.id = outbox.id) AS blocked_by,
          (SELECT min(id) FROM sync_conflict WHERE change_id = outbox.id AND winner IS NULL) AS conflict,
          \(schema.waitsForContentSQL(of: "outbox.")) AS lacks_content
        FROM sync_outbox AS outbox
        """
    }

    /// What callers sort by → the column.
    private static let sortColumns: KeyValuePairs = [
        "id": "id", "retry_count": "attempt_count", "created_at": "created_at", "last_attempt_at": "last_attempt_at",
        "next_attempt_at": "next_attempt_at",
    ]

    private let query: PendingQuery
    private let schema: EntitySchema
    private var keyset = Keyset(columns: [])
    private var conditions: [String] = []
    private(set) var arguments: [DatabaseValue] = []

    /// `strangers`: the entities of the queue that the schema no longer has.
    init(_ query: PendingQuery, schema: EntitySchema, strangers: [String]) throws(CacheError) {
        self.query = query
        self.schema = schema
        let entities = schema.entities.map(\.name) + strangers
        for filter in query.filters { try add(filter, entities) }
        if let record = query.record { add(record: record, of: entities) }
        if query.onlyWithErrors { conditions.append("error_message IS NOT NULL") }
        keyset = Keyset(columns: try Self.columns(query.sort))
        if let cursor = query.cursor {
            let position = try ListCursor.position(cursor, mark: mark, columns: keyset.columns.count)
            let ranges = keyset.ranges(after: position) { "\($0) IS NOT NULL" }
            conditions.append("(\(ranges.map { "(\($0.sql))" }.joined(separator: " OR ")))")
            arguments += ranges.flatMap(\.arguments)
        }
        arguments.append((query.limit + 1).databaseValue)
    }

    /// One row more than the page shows whether there is a next one.
    var sql: String {
        let condition = conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))"
        return "\(Self.select(schema))\(condition) ORDER BY \(keyset.sql()) LIMIT ?"
    }

    /// Whether callers ask for this again and again; there are many other statements.
    var isFrequent: Bool { query.filters.isEmpty && query.record == nil && query.sort.isEmpty }

    func cursor(after row: Row) -> String {
        ListCursor.text(keyset.columns.map { row[$0.name] as DatabaseValue }, mark: mark)
    }

    /// What identifies a list: its filters and its order.
    private var mark: [UInt8] {
        var parts = ["pending", query.record.map { "record \($0)" } ?? ""]
        for filter in query.filters { parts += filter.identity }
        for column in keyset.columns { parts += [column.name, column.descending ? "desc" : "asc"] }
        return ListCursor.mark(of: parts)
    }

    // MARK: Order

    /// The asked columns, then the order in which the changes were made.
    private static func columns(_ sort: [SortTerm]) throws(CacheError) -> [Keyset.Column] {
        var columns: [Keyset.Column] = []
        for term in sort {
            guard let name = sortColumns.first(where: { $0.key == term.field })?.value else {
                throw unknown("column", term.field, among: sortColumns.map(\.key), field: "sort")
            }
            if columns.contains(where: { $0.name == name }) {
                throw .badQuery(field: "sort", message: "sort names \(term.field) twice")
            }
            columns.append(
                Keyset.Column(name: name, descending: term.descending, isNullable: name.hasSuffix("_attempt_at")))
        }
        if !columns.contains(where: { $0.name == "id" }) {
            columns.append(Keyset.Column(name: "id", descending: sort.last?.descending ?? false, isNullable: false))
        }
        return columns
    }

    // MARK: Filters

    private mutating func add(_ filter: FilterComparison, _ entities: [String]) throws(CacheError) {
        switch filter.parameter {
        case "entity":
            try requireKnown(filter, among: entities)
            conditions.append("entity IN \(bind(filter.values.map(JSONText.string)))")
        case "state":
            try requireKnown(filter, among: PendingQuery.State.allCases.map(\.rawValue))
            add(states: filter.values)
        case "retry_count": try add(retryCount: filter)
        default: throw Self.unknown("filter", filter.parameter, among: PendingQuery.filters, field: filter.parameter)
        }
    }

    /// The state that callers see. The queue's own is asked first, because it is cheaper to look at.
    private mutating func add(states: [String]) {
        let blocked = PendingQuery.State.blocked.rawValue
        if !states.contains(blocked) {
            let own = states.compactMap(OutboxState.init(rawValue:)).map { "state = \($0.sql)" }
            conditions.append("(\(own.joined(separator: " OR ")))")
        }
        let known = bind(schema.entities.map { .string($0.name) })
        let isFree = "blocked_by IS NULL AND conflict IS NULL AND NOT lacks_content AND entity IN \(known)"
        let shown = "iif(\(isFree), state, '\(blocked)')"
        conditions.append("\(shown) IN \(bind(states.map(JSONText.string)))")
    }

    private mutating func add(retryCount filter: FilterComparison) throws(CacheError) {
        guard filter.operation != .null else {
            throw .badQuery(field: "retry_count.null", message: "retry_count is never null")
        }
        var counts: [Int] = []
        for text in filter.values {
            guard let count = Int(text), count >= 0 else {
                throw .badQuery(
                    field: filter.parameter, message: "expected a whole number, 0 or greater, got \(text.prefix(50))")
            }
            counts.append(count)
        }
        if filter.operation == .equal {
            conditions.append("attempt_count IN \(bind(counts.map(JSONText.integer)))")
        } else {
            conditions.append("attempt_count \(filter.operation.sql) ?")
            arguments += counts.map(\.databaseValue)
        }
    }

    /// A key names a record of each entity; looked up by both.
    private mutating func add(record key: String, of entities: [String]) {
        conditions.append(
            """
            (entity, record_key) IN (
              SELECT value, coalesce((SELECT record_key FROM sync_alias WHERE entity = value AND old_key = ?), ?)
              FROM json_each(?))
            """)
        let names = JSONText.array(of: entities).text
        arguments += [key.databaseValue, key.databaseValue, names.databaseValue]
    }

    private func requireKnown(_ filter: FilterComparison, among known: [String]) throws(CacheError) {
        guard filter.operation == .equal else {
            let name = filter.parameter
            throw .badQuery(field: name, message: "\(name) takes no comparison; use \(name)=")
        }
        for value in filter.values where !known.contains(value) {
            throw Self.unknown(filter.parameter, value, among: known, field: filter.parameter)
        }
    }

    /// A list that a column can be in.
    private mutating func bind(_ values: [JSONText]) -> String {
        arguments.append(JSONText.array(values).text.databaseValue)
        return "(SELECT value FROM json_each(?))"
    }

    private static func unknown(_ what: String, _ name: String, among known: [String], field: String) -> CacheError {
        .badQuery(field: field, message: Suggestion.refusal(of: name, what, among: known))
    }
}
