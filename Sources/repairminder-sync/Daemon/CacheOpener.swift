import CacheStore
import EntitySchema
import Foundation
import Logging
internal import SQLiteStore
import Secrets

/// Opens the cache: finishes an interrupted replacement, backs up the file before a migration, and rescues the queue of
/// a damaged database.
struct CacheOpener {
    let setup: Setup
    /// Called repeatedly during long work; false cancels it and rolls it back.
    let goesOn: @Sendable () -> Bool
    let now: @Sendable () -> Timestamp
    let log: Logger

    private var makeID: @Sendable () -> String { { UUID().uuidString.lowercased() } }

    /// Opens the database in use. A database that learned its account since the last start is first renamed after it.
    /// Throws `.damaged`.
    func open(_ state: StateDirectory) async throws -> CacheStore {
        var path = try state.choose()
        try finish(path)
        try await backUpBeforeUpgrade(path)
        var store = try make(path)
        if let account = try store.setting("account"), path != state.path(for: account) {
            try store.close()
            path = try state.name(path, after: account)
            store = try make(path)
        }
        try await store.claim(for: setup.origin)
        log.info("opened the cache", metadata: ["path": "\(path)"])
        if let rescue = try store.rescueNote() {
            log.warning(
                "the database was damaged and has been replaced; inspect the damaged file, then delete it",
                metadata: ["at": "\(rescue.at)", "damaged": "\(rescue.setAside)", "outcome": "\(rescue.summary)"])
        }
        return store
    }

    private func make(_ path: String) throws -> CacheStore {
        try CacheStore(
            path: path, schema: setup.schema, sealer: sealer(), reminderDays: setup.configuration.reminderDays,
            readerCount: setup.configuration.listen.threads,
            goesOn: goesOn, makeID: makeID)
    }

    private func sealer() throws -> SecretSealer { try SecretKeyFile(setup.configuration).sealer() }

    private func finish(_ path: String) throws {
        for old in try DatabaseFile(path).finishReplacing() {
            log.warning(
                "finished an interrupted database replacement; the previous database is kept",
                metadata: ["path": "\(old)"])
        }
    }

    private func backUpBeforeUpgrade(_ path: String) async throws {
        guard DatabaseSummary.needsMigration(path) else { return }
        let backup = try folder(path).path(for: .upgrade, at: now())
        try DatabaseCopy.make(of: path, at: backup)
        log.notice("made a backup before migrating the database", metadata: ["path": "\(backup)"])
    }

    // MARK: Damage

    /// Moves the damaged database aside and replaces it with a new one that has its queue.
    ///
    /// Throws `CommandFailure` when the last rescue was a short while ago: then the file is not the cause.
    func rescue(_ state: StateDirectory, because reason: String) async throws {
        let path = try state.choose()
        log.critical("the database is damaged; moving it aside", metadata: ["path": "\(path)", "error": "\(reason)"])
        if let last = DatabaseFile(path).lastDamage, now() < last + Self.shortestInterval {
            throw CommandFailure(
                .badConfiguration,
                "\(path) was damaged again within ten minutes: check this machine's disk and memory, then start the "
                    + "daemon again")
        }
        let report = try await QueueRescue(
            path: path, schema: setup.schema, sealer: sealer(), backups: folder(path).backups, makeID: makeID
        ).run(reason: reason, at: now())
        log.critical(
            "the database was replaced; pulling all records again",
            metadata: ["outcome": "\(report.summary)", "damaged": "\(report.setAside)"])
    }

    private static let shortestInterval = Duration.seconds(600)

    private func folder(_ path: String) -> BackupFolder { BackupFolder(setup, database: path) }
}
