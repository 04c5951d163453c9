internal import EntitySchema
internal import GRDB

/// What a page tells about its pull, besides its records: how late they come, which are known, from when they are.
///
/// Each answer is one statement a page, and only asked for by pulls that need it: a first pull needs none.
extension PageApplier {
    struct Measured {
        var lateness: Int64 = 0
        var earliest: String?
        var known: [Int64] = []
        var knownUpTo: Int64 = 0
        var deletedMeanwhile = false
    }

    func measure(_ page: PulledPage) throws -> Measured {
        var measured = Measured()
        if let watermark = page.watermark { measured.lateness = try lateness(of: page.records, watermark) }
        if page.cursor?.pull?.kind == .newest { measured.earliest = try earliestChange(in: page.records) }
        if let began = page.began { measured.deletedMeanwhile = try hasDeleted(since: began) }
        if let knownUpTo = page.knownUpTo {
            // The greatest `_pk` of all is given out again when its row is deleted; then it stands for another record.
            measured.knownUpTo = min(knownUpTo, try greatestPK())
            measured.known = try known(in: page.records)
        }
        return measured
    }

    /// Milliseconds from the change time of the record that comes latest to `watermark`; 0 when none comes late.
    ///
    /// Late is a record that is new or that changed at another time than the cached one, from before the watermark. One
    /// that comes a day late and more does not count: no overlap could be wide enough, the daily full pull is for those.
    private func lateness(of page: String, _ watermark: String) throws -> Int64 {
        guard let time = changeTime(of: "value"), let cached = changeTime(of: "known._remote"),
            let reached = Timestamp(iso8601: watermark)
        else { return 0 }
        let earliest = try String.fetchOne(
            db.cachedStatement(
                sql: """
                    \(incoming)
                    SELECT min(\(time)) FROM incoming LEFT JOIN \(table.name) AS known ON known._key = incoming.key
                    WHERE usable AND NOT deleted AND known._remote IS NOT value
                      AND \(time) >= ?2 AND \(time) < ?3 AND \(time) IS NOT \(cached)
                    """),
            arguments: [page, (reached - Self.latest).description, reached.description])
        guard let earliest, let late = Timestamp(iso8601: earliest) else { return 0 }
        return max(reached.since(late).milliseconds, 0)
    }

    private static let latest = Duration.seconds(86_400)

    /// The page's latest change time without those that cannot be: what is no time, or lies more than a day ahead. Pulls
    /// that went on from such a time would miss all that happens until then.
    func plausible(_ latest: String?, in page: String) throws -> String? {
        let limit = (now + .seconds(86_400)).description
        guard let latest, latest > limit, let time = changeTime(of: "value") else { return latest }
        return try String.fetchOne(
            db.cachedStatement(
                sql: """
                    \(incoming)
                    SELECT max(\(time)) FROM incoming WHERE usable AND \(time) <= ?2
                    """),
            arguments: [page, limit])
    }

    private func earliestChange(in page: String) throws -> String? {
        guard let time = changeTime(of: "value") else { return nil }
        return try String.fetchOne(
            db.cachedStatement(sql: "\(incoming) SELECT min(\(time)) FROM incoming WHERE usable"), arguments: [page])
    }

    /// The `_pk`s of the page's records that are in the cache already.
    private func known(in page: String) throws -> [Int64] {
        try Int64.fetchAll(
            db.cachedStatement(
                sql: """
                    \(incoming)
                    SELECT known._pk FROM incoming CROSS JOIN \(table.name) AS known ON known._key = incoming.key
                    WHERE usable
                    """),
            arguments: [page])
    }

    private func hasDeleted(since position: Int64) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(
                sql: "SELECT EXISTS (SELECT 1 FROM sync_gone WHERE entity = ? AND position > ?)"),
            arguments: [table.entity.name, position]) ?? false
    }

    /// The change time of a record's text as normalized text; null where it has none.
    private func changeTime(of record: String) -> String? {
        table.entity.pull?.changedAt.map { EntityTable.normalizedTime("\(record) ->> '$.\"\($0)\"'") }
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
