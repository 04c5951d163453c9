internal import GRDB

/// The history of minutes; in the caller's transaction.
struct ActivityTable {
    let db: Database

    /// Adds to the minute if it is there already: a service that took over began in the middle of it.
    func add(_ minute: ActivityMinute) throws {
        let work = minute.work
        let counts = RequestResult.allCases.map { work.requests[$0] ?? 0 }
        let numbers = [minute.pending, minute.failed, minute.isStart ? 1 : 0, work.syncs]
        let lengths = [work.syncTime, work.unreachable].map { Int($0 / .milliseconds(1)) }
        try db.cachedStatement(sql: Self.addition).execute(
            arguments: [minute.number] + StatementArguments(numbers + lengths + counts))
    }

    /// Forgets the minutes outside of `kept`; those after it come from a clock that was wrong.
    func prune(keeping kept: ClosedRange<Int64>) throws {
        try db.cachedStatement(sql: "DELETE FROM sync_activity WHERE minute < ? OR minute > ?")
            .execute(arguments: [kept.lowerBound, kept.upperBound])
    }

    /// Oldest first.
    func minutes() throws -> [ActivityMinute] {
        let rows = try Row.fetchCursor(db.cachedStatement(sql: "SELECT * FROM sync_activity ORDER BY minute"))
        var minutes: [ActivityMinute] = []
        while let row = try rows.next() {
            var work = ActivityWork(
                syncs: row[4], syncTime: .milliseconds(row[5] as Int), unreachable: .milliseconds(row[6] as Int))
            for (index, result) in RequestResult.allCases.enumerated() {
                let count: Int = row[7 + index]
                if count > 0 { work.requests[result] = count }
            }
            minutes.append(
                ActivityMinute(number: row[0], pending: row[1], failed: row[2], isStart: row[3], work: work))
        }
        return minutes
    }

    private static let addition = """
        INSERT INTO sync_activity VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
          pending = excluded.pending, failed = excluded.failed, syncs = syncs + excluded.syncs,
          sync_ms = sync_ms + excluded.sync_ms, unreachable_ms = unreachable_ms + excluded.unreachable_ms,
          requests_2xx = requests_2xx + excluded.requests_2xx, requests_3xx = requests_3xx + excluded.requests_3xx,
          requests_4xx = requests_4xx + excluded.requests_4xx, requests_5xx = requests_5xx + excluded.requests_5xx,
          requests_unreachable = requests_unreachable + excluded.requests_unreachable
        """
}
