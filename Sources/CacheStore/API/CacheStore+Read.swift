internal import EntitySchema
internal import GRDB
internal import GRDBSQLite
internal import SQLiteStore

/// Records as readers see them, as bytes ready for the socket.
extension CacheStore {
    /// One record as JSON, secret fields left out; nil when it is not cached. A key that was given up is followed.
    package func record(_ entity: String, key: String) throws -> [UInt8]? {
        try shown(entity, key: key)?.bytes
    }

    /// The same with what tells its version from others, and with the related records that are asked for.
    package func shown(_ entity: String, key: String, include: [Inclusion] = []) throws -> ShownRecord? {
        guard let sql = selectOne[entity] else { throw CacheError.notFound("no entity \(entity)") }
        func look(for key: String) throws -> ShownRecord? {
            try include.isEmpty ? record(sql, key) : expanded(entity, key, include)
        }
        if let found = try look(for: key) { return found }
        let current = try read { db in try KeyAlias.current(of: key, entity, db) }
        return current == key ? nil : try look(for: current)
    }

    private func record(_ sql: String, _ key: String) throws -> ShownRecord? {
        try readers.read { connection in
            var output: ShownRecord?
            try connection.query(sql, [key.databaseValue]) { statement in
                output = ShownRecord(reading: statement)
                return false
            }
            return output
        }
    }

    /// The records of a list in order, as a JSON array, and the cursor of the next page.
    package func list(_ query: ListQuery, include: [Inclusion] = []) throws -> ListPage {
        let table = try table(query.entity)
        let list = try ListStatement(table: table, query: query, extraColumns: Includer.columns(for: include, table))
        return try readers.read { connection in
            var page = ListPage(records: [])
            func fill() throws {
                page =
                    try include.isEmpty
                    ? Self.page(list, query.limit, connection) : expandedPage(list, query, include, connection)
                if query.count { page.total = try Self.total(list, connection) }
            }
            let isOne = !query.count && include.isEmpty && list.statements.count == 1 && list.walk == nil
            if isOne { try fill() } else { try connection.snapshot(fill) }
            page.unindexed = list.unindexed
            return page
        }
    }

    private static func page(_ list: ListStatement, _ limit: Int, _ connection: ReadConnection) throws -> ListPage {
        let walked = try list.walk?.page(limit: limit, connection) { try page(list, [$0], limit, connection) }
        return try walked ?? page(list, list.statements, limit, connection)
    }

    private static func page(
        _ list: ListStatement, _ statements: [ReadConnection.Statement], _ limit: Int, _ connection: ReadConnection
    ) throws -> ListPage {
        var output = RecordBytes(reserving: 800 * limit)
        output.append(UInt8(ascii: "["))
        var last: [DatabaseValue] = []
        var count = 0
        var next: String?
        try connection.query(statements) { statement in
            // One row more than asked for tells whether there is a next page.
            guard count < limit else {
                next = list.cursor(after: last)
                return false
            }
            if count > 0 { output.append(UInt8(ascii: ",")) }
            output.appendRecord(statement)
            count += 1
            if count == limit { last = list.order.position(of: statement) }
            return true
        }
        output.append(UInt8(ascii: "]"))
        return ListPage(records: output.bytes, count: count, next: next)
    }

    private static func total(_ list: ListStatement, _ connection: ReadConnection) throws -> Int {
        var total = 0
        try connection.query(list.countSQL, list.countArguments) { statement in
            total = Int(sqlite3_column_int64(statement, 0))
            return false
        }
        return total
    }

    /// How many records of an entity the cache holds, those whose deletion is queued included.
    package func rowCounts() throws -> [String: Int] {
        try read { db in
            let rows = try Row.fetchAll(
                db.cachedStatement(sql: "SELECT substr(name, 6), count FROM sync_tally WHERE name LIKE 'rows:%'"))
            return Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) })
        }
    }
}
