internal import EntitySchema
internal import GRDB
internal import GRDBSQLite

/// Records as readers see them, as bytes ready for the socket.
extension CacheStore {
    /// One record as JSON, secret fields left out; nil when it is not cached. A key that was given up is followed.
    package func record(_ entity: String, key: String) throws -> [UInt8]? {
        guard let sql = selectOne[entity] else { throw CacheError.notFound("no entity \(entity)") }
        return try read { db in
            let statement = try db.cachedStatement(sql: sql).sqliteStatement
            if let found = try Self.record(key, statement, db) { return found }
            let current = try Alias.current(of: key, entity, db)
            return current == key ? nil : try Self.record(current, statement, db)
        }
    }

    /// The records of a list in order, as a JSON array, and the cursor of the next page.
    package func list(_ query: ListQuery) throws -> ListPage {
        let list = try ListStatement(table: table(query.entity), query: query)
        return try snapshot { db in
            let prepared = try db.cachedStatement(sql: list.sql)
            prepared.setUncheckedArguments(StatementArguments(list.arguments))
            let statement = prepared.sqliteStatement
            defer { sqlite3_reset(statement) }
            var output = RecordBytes(reserving: 800 * query.limit)
            output.append(UInt8(ascii: "["))
            var last: [DatabaseValue] = []
            var count = 0
            var next: String?
            // One row more than asked for tells whether there is a next page.
            while try Self.step(statement, db) {
                if count == query.limit {
                    next = list.cursor(after: last)
                    break
                }
                if count > 0 { output.append(UInt8(ascii: ",")) }
                output.appendRecord(statement)
                count += 1
                if count == query.limit { last = list.position(statement) }
            }
            output.append(UInt8(ascii: "]"))
            return ListPage(records: output.bytes, next: next, total: query.count ? try total(list, db) : nil)
        }
    }

    /// How many records of an entity the cache holds, those whose deletion is queued included.
    package func rowCounts() throws -> [String: Int] {
        try read { db in
            let rows = try Row.fetchAll(
                db.cachedStatement(sql: "SELECT substr(name, 6), count FROM sync_tally WHERE name LIKE 'rows:%'"))
            return Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) })
        }
    }

    private func total(_ list: ListStatement, _ db: Database) throws -> Int {
        try Int.fetchOne(
            db.cachedStatement(sql: list.countSQL), arguments: StatementArguments(list.countArguments)) ?? 0
    }

    private static func record(_ key: String, _ statement: OpaquePointer, _ db: Database) throws -> [UInt8]? {
        var key = key
        return try key.withUTF8 { key in
            defer { sqlite3_reset(statement) }
            // No destructor: SQLite reads the key where it is, and is done with it before this closure ends.
            key.withMemoryRebound(to: CChar.self) { key in
                _ = sqlite3_bind_text(statement, 1, key.baseAddress, Int32(key.count), nil)
            }
            guard try step(statement, db) else { return nil }
            var output = RecordBytes(reserving: 1024)
            output.appendRecord(statement)
            return output.bytes
        }
    }

    private static func step(_ statement: OpaquePointer, _ db: Database) throws -> Bool {
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw DatabaseError(resultCode: ResultCode(rawValue: code), message: db.lastErrorMessage)
        }
    }
}
