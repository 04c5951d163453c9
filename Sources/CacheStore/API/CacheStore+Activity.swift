package import EntitySchema
internal import GRDB
internal import SQLiteStore

/// The history of the daemon's work, for charts: the minutes of the last week, across restarts and updates.
extension CacheStore {
    private static let keptHours = 168
    private static let shownMinutes = 360

    /// Adds a minute to the history and forgets what is too old.
    package func note(_ minute: ActivityMinute, at now: Timestamp) async throws {
        let hours = Int64(Self.keptHours + 1)
        let kept = now.minute - hours * 60...max(now.minute, minute.number)
        try await writer.write { db in
            let table = ActivityTable(db: db)
            try table.add(minute)
            try table.prune(keeping: kept)
        }
    }

    /// The last six hours by the minute and the last week by the hour, up to the last minute that is over.
    package func activity(at now: Timestamp) throws -> (minutes: ActivitySteps, hours: ActivitySteps) {
        let history = try read { db in try ActivityTable(db: db).minutes() }
        let last = now.minute - 1
        return (
            ActivitySteps(history, length: 1, count: Self.shownMinutes, through: last),
            ActivitySteps(history, length: 60, count: Self.keptHours, through: last)
        )
    }
}
