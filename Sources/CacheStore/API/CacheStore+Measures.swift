package import EntitySchema
internal import Foundation
internal import GRDB

/// What the cache holds at one moment, as numbers for whoever watches it.
package struct CacheMeasures: Sendable {
    /// State → changes, every state there is: those of the queue's own, and `blocked`, which waits for one that failed or
    /// for a decision.
    package var queue: [String: Int]
    /// When the change at the head of the queue was made, failed ones included; nil when there is none.
    package var oldestChange: Timestamp?
    /// Entity → records.
    package var rows: [String: Int]
    package var openConflicts: Int
    /// Conflicts ever.
    package var conflicts: Int
    package var drift: Int
    package var setAside: Int
    /// Entity → when its last pull ended well.
    package var lastSyncedAt: [String: Timestamp]
    /// Entity → records kept until somebody confirms that they are gone.
    package var heldDeletions: [String: Int]
    package var databaseBytes: Int
    package var logBytes: Int
}

extension CacheStore {
    package func measures() throws -> CacheMeasures {
        let files = [pool.path, pool.path + "-wal"].map { path in
            (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
        }
        return try snapshot { db in
            let tallies = try Self.numbers("SELECT name, count FROM sync_tally", db)
            let cursors = try Row.fetchAll(
                db.cachedStatement(sql: "SELECT entity, last_synced_at, held_deletions FROM sync_cursor"))
            let known = cursors.filter { schema[$0["entity"]] != nil }
            return CacheMeasures(
                queue: try Self.queueStates(db),
                oldestChange: try Int64.fetchOne(
                    db.cachedStatement(sql: "SELECT created_at FROM sync_outbox ORDER BY id LIMIT 1")
                ).map(Timestamp.init(milliseconds:)),
                rows: Dictionary(
                    uniqueKeysWithValues: schema.entities.map { ($0.name, tallies["rows:\($0.name)"] ?? 0) }),
                openConflicts: tallies["conflicts"] ?? 0,
                conflicts: try Int.fetchOne(
                    db.cachedStatement(sql: "SELECT coalesce(max(id), 0) FROM sync_conflict")) ?? 0,
                drift: tallies["drift"] ?? 0, setAside: tallies["set_aside"] ?? 0,
                lastSyncedAt: known.reduce(into: [:]) { times, row in
                    times[row["entity"]] = (row["last_synced_at"] as Int64?).map(Timestamp.init(milliseconds:))
                },
                heldDeletions: Dictionary(uniqueKeysWithValues: known.map { ($0["entity"], $0["held_deletions"]) }),
                databaseBytes: files[0], logBytes: files[1])
        }
    }

    private static func queueStates(_ db: Database) throws -> [String: Int] {
        var states = Dictionary(uniqueKeysWithValues: OutboxState.allCases.map { ($0.rawValue, 0) })
        states["blocked"] = 0
        let counts = try numbers(
            """
            WITH RECURSIVE stuck (id) AS (
              SELECT id FROM sync_outbox WHERE state = \(OutboxState.failed.sql)
              UNION SELECT change_id FROM sync_conflict WHERE winner IS NULL),
            blocked (id) AS (
              SELECT change_id FROM sync_dependency WHERE needs_id IN stuck
              UNION SELECT change_id FROM sync_conflict WHERE winner IS NULL
              UNION SELECT change_id FROM blocked JOIN sync_dependency ON needs_id = blocked.id)
            SELECT iif(id IN blocked, 'blocked', state), count(*) FROM sync_outbox GROUP BY 1
            """, db)
        states.merge(counts) { $1 }
        return states
    }

    private static func numbers(_ sql: String, _ db: Database) throws -> [String: Int] {
        let rows = try Row.fetchAll(db.cachedStatement(sql: sql))
        return Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) })
    }
}
