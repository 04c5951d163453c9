internal import EntitySchema
internal import GRDB

/// Measurements of a page for its pull: how late its records are, which are known, and their earliest change time.
///
/// Each takes one statement per page and is made only for pulls that need it; a first pull needs none. Unchanged
/// records are not included (`UnchangedRecords`).
extension PageApplier {
    struct Measured {
        var lateness: Int64 = 0
        var earliest: String?
        var known: [Int64] = []
        var knownUpTo: Int64 = 0
        var deletedMeanwhile = false
    }

    /// Measures the records in `sync_incoming` before they are written.
    func measure(_ page: PulledPage) throws -> Measured {
        var measured = Measured()
        if let watermark = page.watermark { measured.lateness = try lateness(watermark) }
        if page.wantsEarliest { measured.earliest = try earliestChange() }
        if let began = page.began { measured.deletedMeanwhile = try hasDeleted(since: began) }
        if let knownUpTo = page.knownUpTo {
            // SQLite reuses the greatest `_pk` when its row is deleted; it is then another record's.
            measured.knownUpTo = min(knownUpTo, try greatestPK())
            measured.known = try known()
        }
        return measured
    }

    /// Milliseconds from the change time of the latest record to `watermark`; 0 when none is late.
    ///
    /// A record is late when its change time is before the watermark and it is new or has another change time than the
    /// cached one. A record that is more than a day late does not count: no overlap could be wide enough, and the daily
    /// full pull brings it.
    private func lateness(_ watermark: String) throws -> Int64 {
        guard let field = table.entity.pull?.changedAt, let reached = Timestamp(iso8601: watermark) else { return 0 }
        let cached = EntityTable.normalizedTime("known._remote ->> '$.\"\(field)\"'")
        let earliest = try String.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT min(page.changed) FROM sync_incoming AS page
                      LEFT JOIN \(table.name) AS known ON known._key = page.key
                    WHERE page.usable AND NOT page.deleted AND known._remote IS NOT page.value
                      AND page.changed >= ?1 AND page.changed < ?2 AND page.changed IS NOT \(cached)
                    """),
            arguments: [(reached - Self.latest).description, reached.description])
        guard let earliest, let late = Timestamp(iso8601: earliest) else { return 0 }
        return max(reached.since(late).milliseconds, 0)
    }

    private static let latest = Duration.seconds(86_400)

    private func earliestChange() throws -> String? {
        try String.fetchOne(db.cachedStatement(sql: "SELECT min(changed) FROM sync_incoming WHERE usable"))
    }

    /// The `_pk`s of the records that are in the cache already.
    private func known() throws -> [Int64] {
        try Int64.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT known._pk FROM sync_incoming AS page
                      CROSS JOIN \(table.name) AS known ON known._key = page.key
                    WHERE page.usable
                    """))
    }

    private func hasDeleted(since position: Int64) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(
                sql: "SELECT EXISTS (SELECT 1 FROM sync_gone WHERE entity = ? AND position > ?)"),
            arguments: [table.entity.name, position]) ?? false
    }
}

extension PageOutcome {
    mutating func add(_ measured: PageApplier.Measured) {
        lateness = measured.lateness
        earliestChange = measured.earliest
        known = measured.known
        knownUpTo = measured.knownUpTo
        deletedMeanwhile = measured.deletedMeanwhile
    }
}
