internal import EntitySchema

/// The SQL that returns records ready to show: their text, when they came, and their state in the queue.
///
/// SQLite returns the document as it is stored; only a record with queued changes costs a lookup in the queue.
struct RecordSelect {
    let table: EntityTable
    /// The only fields to show, besides the key; nil for the whole record.
    var fields: [String]?

    /// The columns of every record query, in this order.
    static let documentColumn: Int32 = 0
    static let syncedAtColumn: Int32 = 1
    static let syncColumn: Int32 = 2
    static let pkColumn: Int32 = 3

    /// Then come those of `EntityTable.computedFields`, and after them what a query adds, from this column on.
    static func end(_ table: EntityTable) -> Int32 { pkColumn + 1 + Int32(table.computedFieldCount) }

    var columns: String { "\(document), _synced_at, \(sync), _pk\(computed)" }

    var one: String { "SELECT \(columns) FROM \(table.name) WHERE _key = ? AND _deleted = 0" }

    /// The same for a record that was changed just now: ?1 is its `_pk` and ?2 its document, and none of its queued changes
    /// can be in conflict yet. Nil if readers do not see the document as it is.
    var changed: String? {
        guard table.entity.hiddenPlaces.isEmpty else { return nil }
        return "SELECT ?2, _synced_at, NULL, _pk\(computed) FROM \(table.name) WHERE _pk = ?1 AND _deleted = 0"
    }

    /// The document that readers see, without the secret fields. It always has the key.
    var document: String {
        if let fields {
            let key = table.entity.key
            return object(of: ([key] + fields.filter { $0 != key }).compactMap { table.entity[field: $0] })
        }
        return table.withoutSecrets(EntityTable.document)
    }

    /// SQLite takes at most 127 arguments of a function, two for each member.
    private static let mostMembers = 63

    private func object(of fields: [Field]) -> String {
        var object = ""
        var rest = fields[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.mostMembers)
            rest = rest.dropFirst(part.count)
            object =
                object.isEmpty
                ? "json_object(\(part.map { "'\($0.name)', \(shown($0))" }.joined(separator: ", ")))"
                : "json_insert(\(object), \(part.map { "'$.\"\($0.name)\"', \(shown($0))" }.joined(separator: ", ")))"
        }
        return object
    }

    /// The value of a field as JSON, without secrets in it.
    private func shown(_ field: Field) -> String {
        if field.isComputedOnReading { return json(of: field) }
        let whole = EntityTable.document
        return table.value(of: field, by: "->", in: table.holdsSecrets(field) ? table.withoutSecrets(whole) : whole)
    }

    /// The values that `ComputedMembers` adds to a whole record.
    private var computed: String {
        table.computedFields.map { fields == nil ? ", \"\($0.name)\"" : ", NULL" }.joined()
    }

    private func json(of field: Field) -> String {
        let column = "\"\(field.name)\""
        return field.kind == .boolean
            ? "json(CASE \(column) WHEN 1 THEN 'true' WHEN 0 THEN 'false' ELSE json_quote(\(column)) END)"
            : "json_quote(\(column))"
    }

    /// The `_sync` object of a record with queued changes; null for all others, which need no lookup.
    ///
    /// It looks once through the record's changes, and again only for an error: each look takes as long as SQLite takes
    /// to find the record itself.
    private var sync: String {
        let record = "entity = '\(table.entity.name)' AND record_key = _key"
        let touched = table.entity.touchedFields.map(\.name)
        // Fields that move with each edit are pending only if a change sets them itself.
        let given = touched.map { ", max(json_type(body, '$.\"\($0)\"') IS NOT NULL) AS \"gives_\($0)\"" }
        let isPending = (["true"] + touched.map { "(key <> '\($0)' OR \"gives_\($0)\")" }).joined(separator: " AND ")
        return """
            CASE WHEN _local IS NOT NULL THEN (
              SELECT json_object(
                'state', CASE WHEN failed THEN 'error'
                  WHEN EXISTS (SELECT 1 FROM sync_conflict WHERE \(record) AND winner IS NULL) THEN 'conflict'
                  WHEN uploading THEN 'uploading'
                  ELSE 'pending' END,
                'pending_fields', (SELECT json_group_array(key) FROM json_each(_local) WHERE \(isPending)),
                'synced_at', \(Self.syncedAt),
                'error', CASE WHEN errors THEN (SELECT json_object('message', error_message, 'retry_count', attempt_count,
                    'next_attempt_at', \(Self.nextAttempt))
                  FROM sync_outbox WHERE \(record) AND error_message IS NOT NULL ORDER BY id LIMIT 1) END)
              FROM (
                SELECT sum(state = \(Self.failed)) AS failed, sum(state = \(Self.uploading)) AS uploading,
                  count(error_message) AS errors\(given.joined())
                FROM sync_outbox WHERE \(record))) END
            """
    }

    // Made once: each list makes its own statement.
    private static let failed = OutboxState.failed.sql
    private static let uploading = OutboxState.uploading.sql
    private static let syncedAt = EntityTable.time("_synced_at")
    private static let nextAttempt = EntityTable.time("next_attempt_at")
}
