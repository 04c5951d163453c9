import CacheStore
import EntitySchema
import Logging
internal import SQLiteStore

/// Copies the database now and then, forgets old copies, and looks through the database for damage once a day.
struct BackupKeeper {
    let store: CacheStore
    let folder: BackupFolder
    let settings: Configuration.Backup
    let now: @Sendable () -> Timestamp
    let clock: any Clock<Duration>
    let log: Logger

    /// From one look to the next; the first comes after the start has settled.
    private static let interval = Duration.seconds(300)
    private static let checkEvery = Duration.seconds(86_400)
    private static let checkSetting = "checked_at"

    /// Runs until the task is cancelled. Throws `.damaged` when the database is.
    func run() async throws {
        folder.removeUnfinished()
        while true {
            try await clock.sleep(for: min(Self.interval, settings.every ?? Self.interval))
            do {
                try await keep()
            } catch CacheError.damaged(let message) {
                throw CacheError.damaged(message)
            } catch let error where !(error is CancellationError) {
                log.warning("no backup was made; that is tried again", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Does what is due.
    func keep() async throws {
        if let every = settings.every, folder.newest.map({ isDue($0, every) }) ?? true {
            let path = try folder.path(for: .daily, at: now())
            try await store.backUp(to: path)
            log.info("made a backup", metadata: ["path": "\(path)"])
            // A copy is looked through before it counts.
            try await store.setSetting(Self.checkSetting, to: now().description)
        }
        let gone = try folder.prune(keep: settings.keep, age: .seconds(settings.keepDays * 86_400), at: now())
        if gone > 0 { log.info("deleted old backups", metadata: ["count": "\(gone)"]) }
        let checked = try store.setting(Self.checkSetting).flatMap { Timestamp(iso8601: $0) }
        if checked.map({ isDue($0, Self.checkEvery) }) ?? true {
            try await store.check()
            try await store.setSetting(Self.checkSetting, to: now().description)
        }
    }

    /// Also where it was done in the future, by a clock that was wrong.
    private func isDue(_ last: Timestamp, _ every: Duration) -> Bool { last + every <= now() || last > now() }
}
