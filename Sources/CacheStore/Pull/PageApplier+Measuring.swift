internal import EntitySchema
internal import GRDB
internal import JSONText

/// What a page reports to its pull: how late its records are, which were known, and their change times.
extension PageApplier {
    private static let latest = Duration.seconds(86_400)

    /// Milliseconds from a record's change time to the watermark; 0 when it is not late.
    ///
    /// A record is late when its change time is before the watermark and it is new or has a later change time than the
    /// cached one. A record that is more than a day late does not count: no overlap could be wide enough, and the daily
    /// full pull brings it.
    func lateness(_ record: IncomingPage.Record, _ known: JSONText?, _ watermark: Timestamp?) -> Int64 {
        guard let watermark, table.entity.pull?.changedAt != nil,
            let changed = record.changed.flatMap(table.entity.instant),
            changed < watermark, changed >= watermark - Self.latest,
            known.flatMap(table.entity.changeTime).map({ $0 < changed }) ?? true
        else { return 0 }
        return watermark.since(changed).milliseconds
    }

    /// The change time of the cached version, if that is later than the one that came: a server that is behind shows an older
    /// one.
    func laterTime(of known: JSONText?, than record: IncomingPage.Record) -> Timestamp? {
        guard let cached = known.flatMap(entity.changeTime), let shown = record.changed.flatMap(entity.instant),
            shown.isSurely(before: cached)
        else { return nil }
        return cached
    }

    /// Whether a local deletion was acknowledged after this position of the log.
    func hasDeleted(since position: Int64) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT EXISTS (SELECT 1 FROM sync_settling WHERE entity = ? AND kind = 'deleted' AND position > ?)
                    """),
            arguments: [table.entity.name, position]) ?? false
    }
}

extension PageOutcome {
    mutating func add(_ written: PageApplier.Written, _ times: ChangeTimes) {
        self.written = written.keys.count
        latestChange = times.latest
        (endingChange, rises) = (times.ending, times.rises)
        lateness = written.lateness
        overwritten = written.overwritten?.description
        known = written.known
        knownUpTo = written.greatestPK
    }

    /// Leaves out what the pull of `page` does not ask for.
    mutating func reduce(to page: PulledPage) {
        // SQLite reuses the greatest `_pk` when its row is deleted; it is then another record's.
        knownUpTo = page.knownUpTo.map { min($0, knownUpTo) } ?? 0
        if page.knownUpTo == nil { known = [] }
        if !page.wantsEnding { endingChange = nil }
    }
}
