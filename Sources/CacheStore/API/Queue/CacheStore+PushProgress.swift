internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// The progress of a write.
extension CacheStore {
    /// Throws `.gone` when the log of its changes was pruned.
    package func progress(of write: QueuedWrite) throws -> PushProgress {
        try snapshot { db in
            try end(of: write, db) ?? .pending(position: Self.place(of: Self.current(write, db), db))
        }
    }

    /// The changes that carry the write now: its own may have been merged into others.
    package func carriers(of write: QueuedWrite) throws -> [Int64] {
        try snapshot { db in try Self.current(write, db).changes }
    }

    /// The same; nil while it is pending. Unlike its place, that costs as little in a long queue.
    package func end(of write: QueuedWrite) throws -> PushProgress? {
        try snapshot { db in try end(of: write, db) }
    }

    private func end(of write: QueuedWrite, _ db: Database) throws -> PushProgress? {
        let rows = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    \(PendingStatement.select(schema)) WHERE outbox.id IN (SELECT value FROM json_each(?)) ORDER BY outbox.id
                    """),
            arguments: [Self.list(of: write)])
        if rows.contains(where: { ($0["conflict"] as Int?) != nil }) { return .conflict }
        if rows.contains(where: { $0["state"] == OutboxState.failed.rawValue }) { return .failed }
        if rows.contains(where: { $0["blocked_by"] as Int? != nil || $0["lacks_content"] }) { return .blocked }
        guard rows.isEmpty else { return nil }
        let ends = try Self.ends(of: write, db)
        if let carried = Self.carried(write, ends) { return try end(of: carried, db) }
        if try Self.isLost(write, db) { return .conflict }
        return try Self.isDiscarded(write, ends) ? .discarded : .confirmed
    }

    private static func list(of write: QueuedWrite) -> String {
        JSONText.array(write.changes.map { JSONText.integer(Int($0)) }).text
    }

    /// That of its first change in the queue.
    private static func place(of write: QueuedWrite, _ db: Database) throws -> Int {
        try Int.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT count(*) FROM sync_outbox WHERE id <= (
                      SELECT min(id) FROM sync_outbox WHERE id IN (SELECT value FROM json_each(?)))
                    """),
            arguments: [list(of: write)]) ?? 1
    }

    private static func current(_ write: QueuedWrite, _ db: Database) throws -> QueuedWrite {
        var current = write
        // A change is only merged into an older one, so this ends.
        while let next = carried(current, try ends(of: current, db)) { current = next }
        return current
    }

    /// How one of a write's changes left the queue.
    private struct End {
        var change: Int64
        var isDiscarded: Bool
        var reason: String?
        /// The change that it was merged into.
        var carrier: Int64?
    }

    private static func ends(of write: QueuedWrite, _ db: Database) throws -> [End] {
        let rows = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT change_id, kind = 'discarded', detail ->> '$.reason', detail ->> '$.\(ChangeLog.carrier)'
                    FROM sync_change_log
                    WHERE seq > ?2 AND kind IN ('acknowledged', 'discarded')
                      AND change_id IN (SELECT value FROM json_each(?1))
                    """),
            arguments: [list(of: write), write.mark.position])
        return rows.map { End(change: $0[0], isDiscarded: $0[1], reason: $0[2], carrier: $0[3]) }
    }

    /// The same write with the changes that its own were merged into; nil if none were.
    private static func carried(_ write: QueuedWrite, _ ends: [End]) -> QueuedWrite? {
        let carriers = Dictionary(ends.compactMap { end in end.carrier.map { (end.change, $0) } }) { _, last in last }
        guard !carriers.isEmpty else { return nil }
        var carried = write
        carried.changes = Set(write.changes.map { carriers[$0] ?? $0 }).sorted()
        return carried
    }

    /// Whether the server's side won over one of its changes.
    private static func isLost(_ write: QueuedWrite, _ db: Database) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT EXISTS (SELECT 1 FROM sync_conflict WHERE id > ?2 AND winner = 'server'
                      AND change_id IN (SELECT value FROM json_each(?1))
                      AND (field IS NULL OR field IN (SELECT value FROM json_each(?3))))
                    """),
            arguments: [list(of: write), write.mark.conflict, JSONText.array(of: write.fields).text]) ?? false
    }

    /// Whether one of its changes left the queue without being sent. All of them must have left it.
    private static func isDiscarded(_ write: QueuedWrite, _ ends: [End]) throws -> Bool {
        guard Set(ends.map(\.change)).isSuperset(of: write.changes) else {
            throw CacheError.gone("the outcome of this write is no longer kept; read the record")
        }
        // Merging drops a deletion without a conflict when the server has deleted the record too: nothing is missing.
        let merged = ChangeLogReason.merged.rawValue
        return ends.contains { $0.isDiscarded && !(write.operation == .delete && $0.reason == merged) }
    }
}
