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

    /// Up to this many new records are indexed by the transaction that inserts them, or the first of them if their texts are long.
    /// More are a bulk load, which is indexed afterwards (`completeSearch`), so that its pages are applied as fast as without an
    /// index.
    static let mostAtOnce: Int64 = 100

    /// The records of one batch of a bulk load: other writes wait some 20 ms for it.
    static let batch: Int64 = 2000

    /// A batch ends after about as many bytes of records: FTS5 takes a tenth of a second or two for a megabyte.
    static let mostBytes = 1 << 20

    /// A load of more than a fourth of an index leaves enough segments for merging to pay off.
    private static let mergedPart: Int64 = 4

    /// Indexes the records just inserted, or the first of them, unless there are too many.
    static func noteInserted(_ entity: Entity, _ db: Database) throws {
        guard let table = SearchTable(entity) else { return }
        let index = SearchIndex(table: table, db: db)
        guard try index.lag() <= mostAtOnce else { return }
        _ = try index.append(atMost: mostAtOnce)
    }

    /// The most records that the index can be behind.
    func lag() throws -> Int64 { try Int64.fetchOne(db.cachedStatement(sql: table.lag)) ?? 0 }

    /// Indexes the next records, no more after those with a megabyte in all; returns whether there may be more.
    func append(atMost limit: Int64) throws -> Bool {
        guard let from = try Int64.fetchOne(db.cachedStatement(sql: table.end)),
            let upTo = try end(after: from, atMost: limit)
        else { return false }
        // New records may reuse the `_pk` of deleted ones, so the old entries are removed first.
        try catchUp(after: from)
        for part in table.parts {
            try db.cachedStatement(sql: table.append(to: part)).execute(arguments: [from, upTo])
        }
        try db.cachedStatement(sql: "UPDATE sync_search SET indexed_to = ? WHERE entity = ?")
            .execute(arguments: [upTo, table.entity.name])
        return true
    }

    /// The last of the next records. As bytes, because SQLite counts the characters of a text one by one.
    private func end(after pk: Int64, atMost limit: Int64) throws -> Int64? {
        let sizes = ["_remote", "_local", "_document"].map { "coalesce(length(CAST(\($0) AS BLOB)), 0)" }
        let rows = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT _pk, \(sizes.joined(separator: " + "))
                    FROM \(table.table.name) WHERE _pk > ? ORDER BY _pk LIMIT ?
                    """),
            arguments: [pk, limit])
        var (end, size): (Int64?, Int) = (nil, 0)
        while size < Self.mostBytes, let row = try rows.next() {
            end = row[0]
            size += row[1] as Int
        }
        return end
    }

    /// Replaces the outdated entries with a `_pk` after this one. FTS5 is left alone where there are none.
    func catchUp(after pk: Int64) throws {
        let outdated = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT \(table.catchUp.map(\.isNeeded).joined(separator: ", "))"),
            arguments: [pk])
        guard let outdated else { return }
        var isNeeded = false
        for (index, part) in table.catchUp.enumerated() where outdated[index] {
            isNeeded = true
            try db.cachedStatement(sql: part.sql).execute(arguments: [pk])
        }
        if isNeeded { try db.cachedStatement(sql: table.forgetOutdated).execute(arguments: [pk]) }
    }

    // MARK: After a load

    /// Appends one batch of a bulk load; returns whether there may be more.
    func load() throws -> Bool {
        let lag = try lag()
        let goesOn = try append(atMost: Self.batch)
        if goesOn, lag > Self.batch, lag > (try greatestPK()) / Self.mergedPart { try setMerging(0) }
        return goesOn
    }

    private func greatestPK() throws -> Int64 {
        try Int64.fetchOne(db.cachedStatement(sql: "SELECT max(_pk) FROM \(table.table.name)")) ?? 0
    }

    /// The pages that one step merges: other writes wait some 20 ms for it.
    private static let pagesPerStep: Int64 = 250

    private var merging: String { "search_merging:\(table.entity.name)" }

    /// The step that merging has reached, across restarts; nil when there is nothing to merge.
    func mergeStep() throws -> Int? {
        try SettingTable(db: db)[merging].flatMap { Int($0) }.map { max($0, 0) }
    }

    private func setMerging(_ step: Int?) throws {
        let settings = SettingTable(db: db)
        if let step { try settings.set(merging, to: String(step)) } else { try settings.remove(merging) }
    }

    /// Merges some of the segments that a load left, so that a term is looked up once instead of in each of them;
    /// returns whether there may be more. Each part has two steps: one takes up all its segments, the other continues
    /// until FTS5 writes nothing more.
    func merge() throws -> Bool {
        guard let step = try mergeStep() else { return false }
        guard step / 2 < table.parts.count else {
            try setMerging(nil)
            return false
        }
        let begins = step % 2 == 0
        let before = db.totalChangesCount
        try db.cachedStatement(sql: table.parts[step / 2].merge)
            .execute(arguments: [begins ? -Self.pagesPerStep : Self.pagesPerStep])
        if begins || db.totalChangesCount - before < 2 { try setMerging(step + 1) }
        return true
    }
}
