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
        if let carried = try Self.carried(write, db) { return try end(of: carried, db) }
        if try Self.isLost(write, db) { return .conflict }
        return try Self.isDiscarded(write, db) ? .discarded : .confirmed
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
        while let next = try carried(current, db) { current = next }
        return current
    }

    /// The same write with the changes that its own were merged into; nil if none were.
    private static func carried(_ write: QueuedWrite, _ db: Database) throws -> QueuedWrite? {
        let rows = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT change_id, detail ->> '$.\(ChangeLog.carrier)' FROM sync_change_log
                    WHERE seq > ?2 AND kind = 'discarded' AND detail ->> '$.\(ChangeLog.carrier)' IS NOT NULL
                      AND change_id IN (SELECT value FROM json_each(?1))
                    """),
            arguments: [list(of: write), write.mark.position])
        guard !rows.isEmpty else { return nil }
        let carriers = Dictionary(rows.map { ($0[0] as Int64, $0[1] as Int64) }) { _, last in last }
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
    private static func isDiscarded(_ write: QueuedWrite, _ db: Database) throws -> Bool {
        let ends = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT change_id, kind, detail ->> '$.reason' FROM sync_change_log
                    WHERE seq > ?2 AND kind IN ('acknowledged', 'discarded')
                      AND change_id IN (SELECT value FROM json_each(?1))
                    """),
            arguments: [list(of: write), write.mark.position])
        guard Set(ends.map { $0[0] as Int64 }).isSuperset(of: write.changes) else {
            throw CacheError.gone("the outcome of this write is no longer kept; read the record")
        }
        return ends.contains { end in
            // Merging drops a deletion without a conflict when the server has deleted the record too: nothing is
            // missing.
            let isDone = write.operation == .delete && end[2] as String? == ChangeLogReason.merged.rawValue
            return end[1] as String == "discarded" && !isDone
        }
    }
}
