import CacheStore
import EntitySchema
import Foundation
import Logging
import SQLiteStore
import Secrets

/// Opens the cache: finishes an interrupted replacement, backs up the file before a migration, and rescues the queue of
/// a damaged database.
struct CacheOpener {
    let setup: Setup
    let watch: OpeningWatch
    let now: @Sendable () -> Timestamp
    let log: Logger

    /// Opens the database in use, or one with changes of the same account that an earlier start left behind. A database
    /// that learned its account since the last start is first renamed after it. Throws `.damaged`.
    func open(_ state: StateDirectory) async throws -> CacheStore {
        state.removeOldCopies(at: now())
        // Every question about the file until it is open goes to one connection.
        let previews = DatabasePreviews()
        var path = try state.asking(previews.origin).choose()
        if try finish(path) { _ = previews.take(path) }
        path = try adopt(insteadOf: path, state)
        if previews.isOfNewerVersion(path) { throw newer(path) }
        if previews.needsMigration(path) { try backUp(path) }
        var store = try make(path, previews.take(path))
        if let account = try store.account(), !state.isNamed(path, after: account) {
            try store.close()
            path = try state.name(path, after: account)
            store = try make(path)
        }
        try await store.claim(for: setup.origin)
        // Before callers can write: a new hook gets everything from now on.
        try await store.startHooks()
        log.info("opened the cache", metadata: ["path": "\(path)"])
        if let rescue = try store.rescueNote() {
            log.warning(
                "the database was damaged and has been replaced; inspect the damaged file, then delete it",
                metadata: ["at": "\(rescue.at)", "damaged": "\(rescue.setAside)", "outcome": "\(rescue.summary)"])
        }
        return store
    }

    private func adopt(insteadOf path: String, _ state: StateDirectory) throws -> String {
        let adopted = try state.adopt(insteadOf: path)
        guard adopted != path else { return path }
        log.notice(
            "switched to another database of this account, where changes wait",
            metadata: ["path": "\(adopted)", "instead_of": "\(path)"])
        _ = try finish(adopted)
        return adopted
    }

    /// Says how to go on: with that version, or with the newest backup that this one can read.
    private func newer(_ path: String) -> CommandFailure {
        let backup = folder(path).backups(at: now()).first { (try? DatabaseSummary(ofDatabaseAt: $0)) != nil }
        let isPlain = backup?.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "/-_.@".contains($0)) } ?? false
        let way =
            backup.map { isPlain ? setup.configuration.restoreCommand($0) : "restore \($0)" }
            ?? "there is no backup in \(folder(path).path) that this version can read, so restore one of your own"
        return CommandFailure(
            .badConfiguration,
            "\(path) was written by a newer version of repairminder-sync; install that version again, or go back, with unsent "
                + "changes kept: \(way) (see Downgrade in docs/guides/operating.md)")
    }

    private func make(_ path: String, _ preview: sending DatabasePreview? = nil) throws -> CacheStore {
        let configuration = setup.configuration
        let settings = CacheSettings(
            reminderDays: configuration.reminderDays, hooks: configuration.hooks(for: setup.schema).map(\.rule),
            readerCount: configuration.listen.threads)
        return try CacheStore(
            path: path, schema: setup.schema, sealer: sealer(), settings: settings, preview: preview, watch: watch,
            makeID: RandomID.make)
    }

    private func sealer() throws -> SecretSealer { try SecretKeyFile(setup.configuration).sealer() }

    /// Whether the file at `path` is another one now.
    private func finish(_ path: String) throws -> Bool {
        let replaced = try DatabaseFile(path).finishReplacing()
        for old in replaced {
            log.warning(
                "finished an interrupted database replacement; the previous database is kept",
                metadata: ["path": "\(old)"])
        }
        return !replaced.isEmpty
    }

    private func backUp(_ path: String) throws {
        let backup = try folder(path).path(for: .upgrade, at: now())
        try DatabaseCopy.make(of: path, at: backup, check: .withoutIndexes)
        log.notice("made a backup before migrating the database", metadata: ["path": "\(backup)"])
    }

    // MARK: Damage

    /// Moves the damaged database aside and replaces it with a new one that has its queue.
    ///
    /// Throws `CommandFailure` when the last rescue was a short while ago: then the file is not the cause.
    func rescue(_ state: StateDirectory, because reason: String) async throws {
        let path = try state.choose()
        log.critical("the database is damaged; moving it aside", metadata: ["path": "\(path)", "error": "\(reason)"])
        if let last = DatabaseFile(path).lastDamage(until: now()), now() < last + Self.shortestInterval {
            throw CommandFailure(
                .badConfiguration,
                "\(path) was damaged again within ten minutes: check this machine's disk and memory, then start the "
                    + "daemon again")
        }
        let report = try await QueueRescue(
            path: path, schema: setup.schema, sealer: sealer(), backups: folder(path).backups(at: now()),
            makeID: RandomID.make
        ).run(reason: reason, at: now())
        log.critical(
            "the database was replaced; pulling all records again",
            metadata: ["outcome": "\(report.summary)", "damaged": "\(report.setAside)"])
    }

    private static let shortestInterval = Duration.seconds(600)

    private func folder(_ path: String) -> BackupFolder { BackupFolder(setup, database: path) }
}
