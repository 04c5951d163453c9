internal import EntitySchema
internal import GRDB
internal import SQLiteStore

/// Adds new records to an entity's full-text index, inside the caller's transaction.
///
/// `indexed_to` is a `_pk`: all records up to it are indexed and stay so, and none after it is. It moves in the
/// transaction that indexes, so index and records agree at every commit.
struct SearchIndex {
    let table: SearchTable
    let db: Database

    /// Up to this many new records are indexed by the transaction that inserts them. More are a bulk load, which is
    /// indexed afterwards (`completeSearch`), so that its pages are applied as fast as without an index.
    static let mostAtOnce: Int64 = 100

    /// Indexes the records just inserted, unless there are too many.
    static func noteInserted(_ entity: Entity, _ db: Database) throws {
        guard let table = SearchTable(entity) else { return }
        let index = SearchIndex(table: table, db: db)
        guard try index.lag() <= mostAtOnce else { return }
        _ = try index.append(atMost: mostAtOnce)
    }

    /// The most records that the index can be behind.
    func lag() throws -> Int64 {
        try Int64.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT (SELECT coalesce(max(_pk), 0) FROM \(table.table.name)) - indexed_to
                    FROM sync_search WHERE entity = ?
                    """),
            arguments: [table.entity.name]) ?? 0
    }

    /// Indexes the next records; returns whether there may be more.
    func append(atMost limit: Int64) throws -> Bool {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT indexed_to, (SELECT max(_pk) FROM (
                      SELECT _pk FROM \(table.table.name) WHERE _pk > indexed_to ORDER BY _pk LIMIT ?1)) AS upto
                    FROM sync_search WHERE entity = ?2
                    """),
            arguments: [limit, table.entity.name])
        guard let row, let upTo: Int64 = row["upto"] else { return false }
        let from: Int64 = row["indexed_to"]
        try forget(after: from)
        for sql in table.append { try db.cachedStatement(sql: sql).execute(arguments: [from, upTo]) }
        try db.cachedStatement(sql: "UPDATE sync_search SET indexed_to = ? WHERE entity = ?")
            .execute(arguments: [upTo, table.entity.name])
        return true
    }

    /// New records may reuse the `_pk` of deleted ones, so the old entries are removed first.
    private func forget(after pk: Int64) throws {
        let isOutdated = try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT \(table.isOutdated)"), arguments: [pk])
        guard isOutdated == true else { return }
        for sql in table.renew { try db.cachedStatement(sql: sql).execute(arguments: [pk]) }
    }
}
