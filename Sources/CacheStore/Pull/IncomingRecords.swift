internal import EntitySchema
internal import GRDB
internal import GRDBSQLite
internal import Glibc
internal import JSONText
internal import SchemaDrift

/// Puts the records of one page into a temporary table, from which statements write them.
///
/// Records that the cache already has byte for byte (most of a list that is read again) are found by key, compared as
/// text and left out: writing them would do nothing. A record in the usual notation is parsed here, any other by
/// SQLite's JSON functions.
struct IncomingRecords {
    /// `usable`: it has a key. `changed`: its change time, as normalized text.
    static let createTable = """
        CREATE TEMP TABLE sync_incoming (
          key TEXT, value, usable INTEGER NOT NULL, deleted INTEGER NOT NULL, changed TEXT)
        """

    let table: EntityTable
    let db: Database
    private let insert: Statement
    private let find: Statement
    /// The members that are read: the key, the deletion mark and the change time.
    private let members: [String?]
    /// The first second at which a change time is implausible.
    private let doubtful: [UInt8]

    init(_ table: EntityTable, _ db: Database, at now: Timestamp) throws {
        self.table = table
        self.db = db
        doubtful = Array(PageApplier.latestPlausible(at: now).utf8.prefix(19))
        let pull = table.entity.pull
        members = [table.entity.key, pull?.deleted, pull?.changedAt]
        insert = try db.cachedStatement(
            sql: "INSERT INTO sync_incoming VALUES (?1, ?2, 1, ?3, \(EntityTable.normalizedTime("?4")))")
        find = try db.cachedStatement(sql: "SELECT _pk, _remote FROM \(table.name) WHERE _key = ?")
    }

    /// `isNew`: no record of it can be in the cache. `leavesOut`: unchanged records need not be in the table.
    func fill(_ page: String, isNew: Bool = false, leavesOut: Bool = true) throws -> UnchangedRecords {
        try db.cachedStatement(sql: "DELETE FROM sync_incoming").execute()
        // The statements are bound to the page's memory, which ends with this call.
        defer { for statement in [insert, find] { sqlite3_clear_bindings(statement.sqliteStatement) } }
        var page = page
        return try page.withUTF8 { bytes in
            var walk = JSONElementWalk(bytes, members: members)
            var unchanged = UnchangedRecords()
            var seen: Set<Int64> = []
            // A key with escapes may equal that of any later record, and the last of two counts.
            var compares = leavesOut && !isNew
            while walk.next() {
                guard let record = PlainRecord(walk, bytes) else {
                    try take(bytes[walk.element])
                    unchanged.append(nil)
                    compares = false
                    continue
                }
                if compares, let known = try find(record, bytes), seen.insert(known.pk).inserted, known.isSame {
                    unchanged.append(known.pk)
                    unchanged.note(record.changed, bytes)
                } else {
                    try take(record, bytes)
                    unchanged.append(nil)
                }
            }
            return unchanged
        }
    }

    // MARK: A plain record

    /// Nil for a record that is not in the cache. `isSame` only when writing it would change nothing.
    private func find(
        _ record: PlainRecord, _ bytes: UnsafeBufferPointer<UInt8>
    ) throws -> (pk: Int64, isSame: Bool)? {
        let find = self.find.sqliteStatement
        defer { sqlite3_reset(find) }
        bind(find, 1, record.key, bytes)
        switch sqlite3_step(find) {
        case SQLITE_ROW: break
        case SQLITE_DONE: return nil
        case let code: throw DatabaseError(resultCode: ResultCode(rawValue: code))
        }
        let pk = sqlite3_column_int64(find, 0)
        let stored = sqlite3_column_text(find, 1)
        guard let stored, let base = bytes.baseAddress, sqlite3_column_bytes(find, 1) == record.text.count,
            memcmp(stored, base + record.text.lowerBound, record.text.count) == 0
        else { return (pk, false) }
        return (pk, !record.isDeleted && (record.changed.isEmpty || isPlain(record.changed, bytes)))
    }

    /// Whether a change time compares as text with others of its length and is plausible.
    private func isPlain(_ time: Range<Int>, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        TimeText.isUsual(bytes, time) && bytes[time].prefix(doubtful.count).lexicographicallyPrecedes(doubtful)
    }

    private func take(_ record: PlainRecord, _ bytes: UnsafeBufferPointer<UInt8>) throws {
        let insert = self.insert.sqliteStatement
        defer { sqlite3_reset(insert) }
        bind(insert, 1, record.key, bytes)
        bind(insert, 2, record.text, bytes)
        sqlite3_bind_int(insert, 3, record.isDeleted ? 1 : 0)
        if record.changed.isEmpty { sqlite3_bind_null(insert, 4) } else { bind(insert, 4, record.changed, bytes) }
        let code = sqlite3_step(insert)
        guard code == SQLITE_DONE else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }

    /// The page outlives the step, so nothing is copied.
    private func bind(
        _ statement: OpaquePointer, _ index: Int32, _ range: Range<Int>, _ bytes: UnsafeBufferPointer<UInt8>
    ) {
        guard let base = bytes.baseAddress else { return }
        let text = UnsafeRawPointer(base + range.lowerBound).assumingMemoryBound(to: CChar.self)
        sqlite3_bind_text(statement, index, text, Int32(range.count), nil)
    }

    // MARK: Any other element

    private func take(_ element: UnsafeBufferPointer<UInt8>.SubSequence) throws {
        try db.cachedStatement(
            sql: """
                \(elements)
                INSERT INTO sync_incoming SELECT key, value, usable, deleted, \(changed) FROM element
                """
        ).execute(arguments: ["[\(String(decoding: element, as: UTF8.self))]"])
    }

    private var changed: String {
        guard let field = table.entity.pull?.changedAt else { return "NULL" }
        return "iif(usable, \(EntityTable.normalizedTime("value ->> '$.\"\(field)\"'")), NULL)"
    }

    /// `element (key, value, usable, deleted)`; MATERIALIZED, or each use of `value` would render it again.
    private var elements: String {
        let key = "json_each.value -> '$.\"\(table.entity.key)\"'"
        // A key is text or a whole number. Text with an escaped NUL would be cut short and match another record. Nested
        // `iif`, since only that guarantees that no key is looked for in a value that is no object.
        let usable = """
            iif(json_each.type = 'object',
              iif(json_type(json_each.value, '$."\(table.entity.key)"') IN ('text', 'integer'),
                length(\(key)) <= \(Entity.longestKey + 2) AND \(key) <> '""' AND instr(\(key), '\\u0000') = 0, 0), 0)
            """
        let deleted: String
        if let field = table.entity.pull?.deleted {
            deleted =
                "iif(json_each.type = 'object', coalesce(json_type(json_each.value, '$.\"\(field)\"') "
                + "NOT IN ('null', 'false'), 0), 0)"
        } else {
            deleted = "0"
        }
        // If there are secrets, a value that is no record could be one.
        let value =
            table.hasSecrets ? "iif(json_each.type IN ('object', 'null'), json_each.value, '…')" : "json_each.value"
        return """
            WITH element (key, value, usable, deleted) AS MATERIALIZED (
              SELECT iif(json_each.type = 'object', json_each.value ->> '$."\(table.entity.key)"', NULL),
                \(value), \(usable), \(deleted)
              FROM json_each(?1))
            """
    }
}
