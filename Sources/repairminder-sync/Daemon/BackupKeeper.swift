import CacheStore
import EntitySchema
import Logging
import SQLiteStore

/// Backs up the database on schedule, deletes old backups, and checks the database for damage once a day.
struct BackupKeeper {
    let store: CacheStore
    let folder: BackupFolder
    let settings: Configuration.Backup
    let now: @Sendable () -> Timestamp
    let clock: any Clock<Duration>
    let log: Logger

    /// The time between checks for due work; the first check comes one interval after the start.
    private static let interval = Duration.seconds(300)
    private static let checkEvery = Duration.seconds(86_400)
    private static let checkSetting = "checked_at"

    /// Runs until the task is cancelled. Throws `.damaged` when the database is.
    func run() async throws {
        folder.removeUnfinished()
        while true {
            try await clock.sleep(for: min(Self.interval, settings.every ?? Self.interval))
            do {
                try await runDueTasks()
            } catch CacheError.damaged(let message) {
                throw CacheError.damaged(message)
            } catch let error where !(error is CancellationError) {
                log.warning("backup failed; will retry", metadata: ["error": "\(error)"])
            }
        }
    }

    func runDueTasks() async throws {
        // First, because a new backup may need the room of old ones. The backup is made even if this fails.
        try? prune()
        do {
            try await backUpIfDue()
        } catch let error as CacheError {
            // The database is checked even if the disk has no room for a copy.
            if case .unwritable = error { try await checkIfDue() }
            throw error
        }
        try await checkIfDue()
        try prune()
    }

    private func backUpIfDue() async throws {
        guard let every = settings.every, folder.newest(at: now()).map({ isDue($0, every) }) ?? true else { return }
        let path = try folder.path(for: .daily, at: now())
        try await store.backUp(to: path)
        log.info("made a backup", metadata: ["path": "\(path)"])
        // Every copy is verified, so the database was just checked.
        try await store.setSetting(Self.checkSetting, to: now().description)
    }

    private func prune() throws {
        let gone = try folder.prune(keep: settings.keep, age: .seconds(settings.keepDays * 86_400), at: now())
        if gone > 0 { log.info("deleted old backups", metadata: ["count": "\(gone)"]) }
    }

    private func checkIfDue() async throws {
        let checked = try store.setting(Self.checkSetting).flatMap { Timestamp(iso8601: $0) }
        guard checked.map({ isDue($0, Self.checkEvery) }) ?? true else { return }
        try await store.check()
        try await store.setSetting(Self.checkSetting, to: now().description)
    }

    /// Also due when the last run is in the future because the clock was wrong.
    private func isDue(_ last: Timestamp, _ every: Duration) -> Bool { last + every <= now() || last > now() }
}
