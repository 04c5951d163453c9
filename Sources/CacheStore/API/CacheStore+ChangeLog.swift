package import EntitySchema
internal import GRDB
package import JSONText
internal import SQLiteStore

/// One entry of the change log, as watchers see it.
package struct ChangeEvent: Sendable, Equatable {
    package var seq: Int64
    package var kind: String
    /// `{"seq", "at", "kind", "entity", "id", "fields", "change_id"}`, with `old_id` for a renamed record, `reason` for
    /// one that left its window, `carrier` for a change that was merged into another, and `reminder` for an entry about
    /// a reminder.
    package var document: JSONText
}

/// Some entries in order, and where to continue.
package struct ChangePage: Sendable, Equatable {
    package var events: [ChangeEvent]
    /// The `since` of the next page: the last entry's number, or a later one if the filter let nothing through.
    package var next: Int64
    /// There are more entries than the page holds.
    package var isFull: Bool
}

/// Which entries a watcher wants; nil means all.
package struct ChangeFilter: Sendable, Equatable {
    package var entities: [String]?
    package var kinds: [ChangeLogKind]?

    package init(entities: [String]? = nil, kinds: [ChangeLogKind]? = nil) {
        self.entities = entities
        self.kinds = kinds
    }
}

/// Reads the change log: everything that was committed, in one sequence.
extension CacheStore {
    /// At most `limit` entries after number `since`, oldest first; empty when there are none yet.
    ///
    /// Throws `.gone` when entries after `since` were pruned, and when `since` is a number that does not exist yet and
    /// so belongs to another file. Reads only as many entries as it returns, plus those that the filter leaves out.
    package func changes(since: Int64, filter: ChangeFilter = ChangeFilter(), limit: Int) throws -> ChangePage {
        try snapshot { db in
            let end = try Self.logEnd(db)
            let floor = try Self.logFloor(db)
            guard since >= floor else {
                throw CacheError.gone("changes up to \(floor) are no longer kept; read the records again")
            }
            guard since <= end else {
                throw CacheError.gone(
                    "there is no change \(since) yet, so it belongs to another cache; read the records again")
            }
            guard since < end else { return ChangePage(events: [], next: since, isFull: false) }
            var page = ChangePage(events: [], next: end, isFull: false)
            let rows = try Self.rows(since, filter, db)
            var bytes = 0
            while !page.isFull, let row = try rows.next() { try Self.append(row, since, limit, to: &page, &bytes) }
            if page.isFull, let last = page.events.last { page.next = last.seq }
            return page
        }
    }

    /// The number of the last entry; 0 when there are none yet.
    static func logEnd(_ db: Database) throws -> Int64 {
        try Int64.fetchOne(db.cachedStatement(sql: "SELECT max(seq) FROM sync_change_log")) ?? 0
    }

    /// Entries up to this number may be missing: they were pruned.
    static func logFloor(_ db: Database) throws -> Int64 {
        try SettingTable(db: db)[floorSetting].flatMap { Int64($0) } ?? 0
    }

    private static let floorSetting = "log_floor"

    private static func rows(_ since: Int64, _ filter: ChangeFilter, _ db: Database) throws -> RowCursor {
        try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT seq, at, kind, entity, keys, fields, change_id, detail FROM sync_change_log
                    WHERE seq > ?1 AND kind <> 'hook' AND (?2 IS NULL OR entity IN (SELECT value FROM json_each(?2)))
                      AND (?3 IS NULL OR kind IN (SELECT value FROM json_each(?3)))
                    ORDER BY seq
                    """),
            arguments: [
                since, filter.entities.map { JSONText.array(of: $0).text },
                filter.kinds.map { JSONText.array(of: $0.map(\.rawValue)).text },
            ])
    }

    /// What the events of an entry of this kind say of its detail.
    private static func members(ofDetail detail: String, _ kind: String) throws -> [(key: String, value: JSONText)] {
        let name: String
        switch ChangeLogKind(rawValue: kind) {
        case .renamed: name = "old_id"
        case .deleted: name = "reason"
        case .discarded: name = ChangeLog.carrier
        case .reminder: name = kind
        default: return []
        }
        let value = try JSONText(parsing: detail)[name]
        // Only a change that was merged into another has a carrier.
        return value == nil && name == ChangeLog.carrier ? [] : [(name, value ?? .null)]
    }

    /// Appends the entries of one row after number `since`, until the page is full. `bytes`: how many its entries have.
    private static func append(
        _ row: Row, _ since: Int64, _ limit: Int, to page: inout ChangePage, _ bytes: inout Int
    ) throws {
        let keys = try JSONText(parsing: row["keys"] as String).elements
        let first = (row["seq"] as Int64) - Int64(keys.count) + 1
        let kind: String = row["kind"]
        let at = JSONText.string(Timestamp(milliseconds: row["at"]).description)
        let fields = try row.json("fields") ?? .null
        let more = try (row["detail"] as String?).map { try members(ofDetail: $0, kind) } ?? []
        for (index, key) in keys.enumerated() {
            let seq = first + Int64(index)
            guard seq > since else { continue }
            guard page.events.count < limit, bytes < ListPage.mostBytes else { return page.isFull = true }
            let members: [(key: String, value: JSONText)] = [
                ("seq", .integer(Int(seq))), ("at", at), ("kind", .string(kind)),
                ("entity", .string(row["entity"] as String)), ("id", key), ("fields", fields),
                ("change_id", .integer(row["change_id"] as Int?)),
            ]
            let document = JSONText.object(members: members + more)
            bytes += document.bytes.count
            page.events.append(ChangeEvent(seq: seq, kind: kind, document: document))
        }
    }
}

/// How much of the change log is kept.
package struct LogLimits: Sendable, Equatable {
    /// Older entries are deleted.
    package var age: Duration
    /// The number of entries kept, and separately the number of entries about local changes: otherwise one large pull
    /// would push out the history of every edit.
    package var count: Int

    package init(age: Duration, count: Int) {
        self.age = age
        self.count = count
    }

    /// For what a hook has not had yet.
    var doubled: LogLimits { LogLimits(age: age * 2, count: count * 2) }
}

/// Deletes old entries of the change log.
extension CacheStore {
    /// Deletes one batch of rows beyond the limits, oldest first, and returns how many; 0 when there are none.
    ///
    /// One short transaction; the rows are selected before it, on a reader. The last row always stays, since the next
    /// number follows from it. What a hook has not had yet stays up to twice the limits.
    package func pruneLog(to limits: LogLimits, at now: Timestamp, batch: Int = 200) async throws -> Int {
        let doomed = try snapshot { db in
            guard let held = try HookTable(db: db).leastPosition() else {
                return try Self.doomed(limits, now, batch, db)
            }
            let had = try Self.doomed(limits, through: held, now, batch, db)
            guard had.isEmpty else { return had }
            return try Self.doomed(limits.doubled, now, batch, db)
        }
        guard let last = doomed.last?.seq else { return 0 }
        let lastStep = doomed.last(where: \.isStep)?.seq ?? 0
        let list = JSONText.array(doomed.map { JSONText.integer(Int($0.seq)) }).text
        return try await writer.write { db in
            try db.cachedStatement(sql: "DELETE FROM sync_change_log WHERE seq IN (SELECT value FROM json_each(?))")
                .execute(arguments: [list])
            let count = db.changesCount
            try db.cachedStatement(sql: "DELETE FROM sync_log_part WHERE last <= ?").execute(arguments: [lastStep])
            try SettingTable(db: db).set(Self.floorSetting, to: "\(max(last, Self.logFloor(db)))")
            return count
        }
    }

    private static func doomed(
        _ limits: LogLimits, through last: Int64 = .max, _ now: Timestamp, _ batch: Int, _ db: Database
    ) throws -> [(seq: Int64, isStep: Bool)] {
        let end = try Self.logEnd(db)
        let young = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT seq FROM sync_change_log WHERE at >= ? ORDER BY seq LIMIT 1"),
            arguments: [(now - limits.age).milliseconds])
        let steps =
            try Int64.fetchOne(
                db.cachedStatement(sql: "SELECT steps FROM sync_change_log ORDER BY seq DESC LIMIT 1")) ?? 0
        // Entries of older versions are not counted: `steps` is 0 in them.
        return try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT seq, change_id IS NOT NULL FROM sync_change_log
                    WHERE seq < ?1 AND seq <= ?6 AND (seq < ?2 OR iif(change_id IS NULL, seq <= ?3, steps <= ?4))
                    ORDER BY seq LIMIT ?5
                    """),
            arguments: [end, young ?? end, end - Int64(limits.count), steps - Int64(limits.count), batch, last]
        ).map { (seq: $0[0], isStep: $0[1]) }
    }
}
