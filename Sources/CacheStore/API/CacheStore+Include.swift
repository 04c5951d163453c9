internal import EntitySchema
internal import GRDB
internal import SQLiteStore

/// Records shown with those that they are related to, in one snapshot.
extension CacheStore {
    func expanded(_ entity: String, _ key: String, _ include: [Inclusion]) throws -> ShownRecord? {
        let table = try table(entity)
        let columns = Includer.columns(for: include, table).joined(separator: ", ")
        let sql = """
            SELECT \(RecordSelect(table: table).columns), \(columns) FROM \(table.name) WHERE _key = ? AND _deleted = 0
            """
        return try readers.read { connection in
            var records: [Includer.Open] = []
            try connection.snapshot {
                try connection.query(sql, [key.databaseValue]) { statement in
                    records.append(Includer.open(statement, include, at: RecordSelect.pkColumn + 1))
                    return false
                }
                _ = try Includer(schema: schema, connection: connection).close(&records, including: include)
            }
            return records.first.map { record in
                ShownRecord(
                    bytes: record.bytes, version: RecordVersion(of: record.bytes, ownLength: record.ownLength))
            }
        }
    }

    /// To be called in a snapshot.
    func expandedPage(
        _ list: ListStatement, _ query: ListQuery, _ include: [Inclusion], _ connection: ReadConnection
    ) throws -> ListPage {
        var records: [Includer.Open] = []
        var last: [DatabaseValue] = []
        var next: String?
        let first = RecordSelect.pkColumn + 1 + Int32(list.order.terms.count)
        try connection.query(list.statements) { statement in
            // One row more than asked for tells whether there is a next page.
            guard records.count < query.limit else {
                next = list.cursor(after: last)
                return false
            }
            records.append(Includer.open(statement, include, at: first))
            if records.count == query.limit { last = list.order.position(of: statement) }
            return true
        }
        _ = try Includer(schema: schema, connection: connection).close(&records, including: include)
        var bytes = [UInt8(ascii: "[")]
        bytes.reserveCapacity(records.reduce(2) { $0 + $1.bytes.count + 1 })
        for (index, record) in records.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += record.bytes
        }
        bytes.append(UInt8(ascii: "]"))
        return ListPage(records: bytes, count: records.count, next: next)
    }
}
