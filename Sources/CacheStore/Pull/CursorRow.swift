internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// One entity's row in `sync_cursor`.
struct CursorRow {
    let entity: String
    let db: Database

    /// More than any list has, and few enough to count on from there.
    fileprivate static let most = 1 << 53

    func load() throws -> PullCursor {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT watermark, delta, pull, last_synced_at, last_full_at, lateness, held_deletions, held, list_gap,
                      error, "window", total
                    FROM sync_cursor WHERE entity = ?
                    """
            ),
            arguments: [entity])
        guard let row else { return PullCursor() }
        var cursor = PullCursor(
            watermark: row["watermark"], delta: row["delta"],
            pull: (row["pull"] as String?).flatMap(PullInProgress.init(json:)),
            lastSyncedAt: row.time("last_synced_at"), lastFullAt: row.time("last_full_at"),
            lateness: row["lateness"], heldDeletions: min(row["held_deletions"] as Int, Self.most), held: row["held"],
            listGap: row["list_gap"], error: row["error"], window: row["window"], total: row["total"])
        cursor.loadedWatermark = cursor.watermark
        return cursor
    }

    func change(_ change: (inout PullCursor) -> Void) throws {
        var cursor = try load()
        change(&cursor)
        try save(cursor)
    }

    /// The watermark stays as far back as a read of a record has moved it since the cursor was loaded.
    func save(_ cursor: PullCursor) throws {
        var cursor = cursor
        if let loaded = cursor.loadedWatermark, let stored = try watermark(), stored < loaded {
            cursor.goBack(to: stored)
        }
        try db.cachedStatement(
            sql: """
                INSERT INTO sync_cursor
                  (entity, watermark, delta, pull, last_synced_at, last_full_at, lateness, held_deletions, held, list_gap,
                  error, "window", total)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET watermark = excluded.watermark, delta = excluded.delta, pull = excluded.pull,
                  last_synced_at = excluded.last_synced_at, last_full_at = excluded.last_full_at,
                  lateness = excluded.lateness, held_deletions = excluded.held_deletions, held = excluded.held,
                  list_gap = excluded.list_gap, error = excluded.error,
                  "window" = excluded."window", total = excluded.total
                WHERE (watermark, delta, pull, last_full_at, lateness, held_deletions, held, list_gap, error, "window",
                  total) IS NOT (excluded.watermark, excluded.delta, excluded.pull, excluded.last_full_at,
                  excluded.lateness, excluded.held_deletions, excluded.held, excluded.list_gap, excluded.error,
                  excluded."window", excluded.total)
                  OR last_synced_at IS NULL AND excluded.last_synced_at IS NOT NULL
                """
        ).execute(arguments: [
            entity, cursor.watermark, cursor.delta, cursor.pull?.json, cursor.lastSyncedAt?.milliseconds,
            cursor.lastFullAt?.milliseconds, cursor.lateness, cursor.heldDeletions, cursor.held,
            cursor.listGap, cursor.error, cursor.window, cursor.total,
        ])
    }

    private func watermark() throws -> String? {
        try String.fetchOne(
            db.cachedStatement(sql: "SELECT watermark FROM sync_cursor WHERE entity = ?"), arguments: [entity])
    }
}

extension PullInProgress {
    fileprivate var json: String {
        JSONText.object([
            "kind": .string(kind.rawValue), "list": .string(list?.rawValue), "since": .string(since),
            "delta": .string(delta), "until": .string(until), "position": .string(position),
            "seen": .integer(seen), "latest": .string(latest),
            "started": .integer(started.map { Int($0.milliseconds) }), "began": .integer(began.map { Int($0) }),
            "window": .string(window), "went_back": .boolean(wentBack),
        ]).text
    }

    /// Nil for the format of an older version, and for a number that no pull reaches; its pull starts over.
    fileprivate init?(json: String) {
        guard let value = try? JSONText(parsing: json), let kind = value["kind"]?.string.flatMap(Kind.init(rawValue:)),
            let seen = value["seen"]?.integer, (0...CursorRow.most).contains(seen)
        else { return nil }
        self.init(
            kind: kind, list: value["list"]?.string.flatMap(List.init(rawValue:)), since: value["since"]?.string,
            delta: value["delta"]?.string, until: value["until"]?.string, position: value["position"]?.string,
            seen: seen,
            latest: value["latest"]?.string,
            started: value["started"]?.integer.map { Timestamp(milliseconds: Int64($0)) },
            began: value["began"]?.integer.map { Int64($0) }, window: value["window"]?.string,
            wentBack: value["went_back"]?.boolean ?? false)
    }
}
