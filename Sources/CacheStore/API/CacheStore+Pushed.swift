internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// How far the upstream is with what one write queued.
package enum PushProgress: Sendable, Equatable {
    /// The upstream has all of it.
    case confirmed
    /// On its way; `position` counts from 1 at the head of the queue.
    case pending(position: Int)
    /// Given up until a person acts.
    case failed
    /// Behind a change that failed or that a conflict holds.
    case blocked
    /// Somebody has to choose, or the other side has won.
    case conflict
    /// Taken out of the queue without having been sent.
    case discarded
}

/// What became of a write.
extension CacheStore {
    /// Throws `.gone` when what became of its changes is not kept any more.
    package func progress(of write: QueuedWrite) throws -> PushProgress {
        let list = JSONText.array(write.changes.map { JSONText.integer(Int($0)) }).text
        return try snapshot { db in
            let rows = try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        \(Self.pendingColumns) WHERE outbox.id IN (SELECT value FROM json_each(?)) ORDER BY outbox.id
                        """),
                arguments: [list])
            if rows.contains(where: { ($0["conflict"] as Int?) != nil }) { return .conflict }
            if rows.contains(where: { $0["state"] == OutboxState.failed.rawValue }) { return .failed }
            if rows.contains(where: { ($0["blocked_by"] as Int?) != nil }) { return .blocked }
            if let first = rows.first { return .pending(position: try Self.place(of: first["id"], db)) }
            if try Self.isLost(write, list, db) { return .conflict }
            return try Self.isDiscarded(write, list, db) ? .discarded : .confirmed
        }
    }

    private static func place(of change: Int64, _ db: Database) throws -> Int {
        try Int.fetchOne(
            db.cachedStatement(sql: "SELECT count(*) FROM sync_outbox WHERE id <= ?"), arguments: [change]) ?? 1
    }

    /// Whether the server's side has won over one of them.
    private static func isLost(_ write: QueuedWrite, _ list: String, _ db: Database) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT EXISTS (SELECT 1 FROM sync_conflict WHERE id > ?2 AND winner = 'server'
                      AND change_id IN (SELECT value FROM json_each(?1))
                      AND (field IS NULL OR field IN (SELECT value FROM json_each(?3))))
                    """),
            arguments: [list, write.mark.conflict, ChangeLog.keys(write.fields)]) ?? false
    }

    /// Whether one of them, none of which is in the queue any more, left it without being sent.
    private static func isDiscarded(_ write: QueuedWrite, _ list: String, _ db: Database) throws -> Bool {
        let ends = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT change_id, kind, detail ->> '$.reason' FROM sync_change_log
                    WHERE seq > ?2 AND kind IN ('acknowledged', 'discarded')
                      AND change_id IN (SELECT value FROM json_each(?1))
                    """),
            arguments: [list, write.mark.position])
        guard Set(ends.map { $0[0] as Int64 }).isSuperset(of: write.changes) else {
            throw CacheError.gone("what became of this write is not kept any more; read the record")
        }
        return ends.contains { end in
            // A deletion that merging dropped without a conflict met one there: the upstream has what was wanted.
            let isDone = write.operation == .delete && end[2] as String? == ChangeLogReason.merged.rawValue
            return end[1] as String == "discarded" && !isDone
        }
    }
}
