import CacheStore
import EntitySchema
import Foundation
import Logging
internal import SQLiteStore
import Secrets

/// Opens the cache in use, come what may: ends what a crash cut off, copies the file before its tables are changed, and
/// rescues the queue of one that is damaged.
struct CacheOpener {
    let setup: Setup
    /// Asked again and again while that takes long; false undoes what was begun.
    let goesOn: @Sendable () -> Bool
    let now: @Sendable () -> Timestamp
    let log: Logger

    private var makeID: @Sendable () -> String { { UUID().uuidString.lowercased() } }

    /// A cache that has learnt its account since the last start is first given that account's name. Throws `.damaged`.
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
                "the database was damaged and is a new one; look at the old one, then delete that",
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
            log.warning("ended what a crash had cut off; the former database is kept", metadata: ["path": "\(old)"])
        }
    }

    private func backUpBeforeUpgrade(_ path: String) async throws {
        guard DatabaseSummary.needsMigration(path) else { return }
        let backup = try folder(path).path(for: .upgrade, at: now())
        try DatabaseCopy.make(of: path, at: backup)
        log.notice("made a backup before the database is upgraded", metadata: ["path": "\(backup)"])
    }

    // MARK: Damage

    /// Sets the damaged database aside and puts a new one with its queue in its place.
    ///
    /// Throws `CommandFailure` where that was done a short while ago: then it is not the file that is broken.
    func rescue(_ state: StateDirectory, because reason: String) async throws {
        let path = try state.choose()
        log.critical("the database is damaged; it is set aside", metadata: ["path": "\(path)", "error": "\(reason)"])
        if let last = DatabaseFile(path).lastDamage, now() < last + Self.shortest {
            throw CommandFailure(
                .badConfiguration,
                "\(path) is damaged once more within ten minutes: check the disk and the memory of this machine, then "
                    + "start again")
        }
        let report = try await QueueRescue(
            path: path, schema: setup.schema, sealer: sealer(), backups: folder(path).backups, makeID: makeID
        ).run(reason: reason, at: now())
        log.critical(
            "the database was replaced; records are pulled anew",
            metadata: ["outcome": "\(report.summary)", "damaged": "\(report.setAside)"])
    }

    private static let shortest = Duration.seconds(600)

    private func folder(_ path: String) -> BackupFolder { BackupFolder(setup, database: path) }
}
