import CacheStore
import EntitySchema
import Foundation
import SQLiteStore

/// Checks the database in use: integrity, consistency, queue, backups. Only reads.
struct DatabaseChecks {
    let configuration: Configuration
    /// Nil when there is no database yet.
    let path: String?
    let now: Timestamp
    /// Nil if only what needs no schema is checked.
    var schema: EntitySchema?
    /// For comparing everything that the database keeps twice; nil when that is not asked for.
    var deepSchema: EntitySchema?

    func findings() -> [Finding] {
        guard let path else { return [library(), .ok("database", "not created yet"), backups(nil)] }
        do {
            let summary = try DatabaseSummary(ofDatabaseAt: path)
            return [library(), integrity(path)] + consistency(path) + rescue(summary) + [queue(summary)]
                + strangers(summary) + [backups(path)]
        } catch CacheError.incompatible(let message) {
            return [library(), .error("database", message, "start the daemon: its message says how to go back")]
        } catch {
            return [library(), unreadable(error), backups(path)]
        }
    }

    /// What needs no connection to a database that the running daemon has open.
    func withoutOpening() -> [Finding] { [library(), backups(path)] }

    /// SQLite before 3.51.3 (except 3.50.7 and 3.44.6) can damage a file that two connections write or checkpoint at
    /// once.
    private func library() -> Finding {
        guard let version = try? DatabaseSummary.libraryVersion() else {
            return .error("sqlite", "cannot query the library's version", "reinstall libsqlite3-0")
        }
        let parts = version.split(separator: ".").compactMap { Int($0) } + [0, 0, 0]
        let number = parts[0] * 1_000_000 + parts[1] * 1000 + parts[2]
        let isFixed =
            number >= 3_051_003 || (3_050_007..<3_051_000).contains(number) || (3_044_006..<3_045_000).contains(number)
        if isFixed { return .ok("sqlite", version) }
        return .ok(
            "sqlite",
            "\(version), which has the WAL-reset bug; the daemon writes with one connection and is not affected as long "
                + "as no other program writes to or checkpoints its database")
    }

    private func integrity(_ path: String) -> Finding {
        do {
            let problems = try DatabaseCopy.problems(of: path)
            return problems.isEmpty
                ? .ok("database", "\(path) passes the integrity check") : damaged(problems.joined(separator: "; "))
        } catch {
            return unreadable(error)
        }
    }

    /// Nothing but damage has the daemon replace the file.
    private func unreadable(_ error: any Error) -> Finding {
        switch error {
        case CacheError.failed(let message):
            .error("database", "\(path ?? "") cannot be read: \(message)", "see docs/guides/troubleshooting.md")
        case CacheError.unwritable(let message):
            .error(
                "database", "\(path ?? "") cannot be opened: \(message)",
                "check the disk, its free space, and that its file system is not read-only")
        default: damaged("\(error)")
        }
    }

    private static let mostInconsistencies = 20

    private func consistency(_ path: String) -> [Finding] {
        guard let schema = deepSchema else { return [] }
        let check = "consistency"
        do {
            let found = try CacheStore.inconsistencies(
                ofDatabaseAt: path, schema, configuration.reminderDays, atMost: Self.mostInconsistencies)
            guard !found.isEmpty else {
                return [.ok(check, "records, queue, counters, search index and reminders agree")]
            }
            return [
                .error(
                    check, found.map(\.description).joined(separator: "; "),
                    "report this as a bug, then rebuild the cache, see docs/guides/troubleshooting.md")
            ]
        } catch CacheError.failed(let message) {
            return [.warning(check, "not checked: \(message)", "start the daemon, then run this again")]
        } catch {
            return [.warning(check, "not checked: \(error)", "run this again when the integrity check passes")]
        }
    }

    private func damaged(_ problem: String) -> Finding {
        .error(
            "database", "\(path ?? "") is damaged: \(problem)",
            "restart the daemon: it moves the file aside and rescues the queue; then check disk and memory")
    }

    private func rescue(_ summary: DatabaseSummary) -> [Finding] {
        guard let rescue = summary.rescue else { return [] }
        return [
            .warning(
                "rescue", "the database was damaged and replaced at \(rescue.at) (\(rescue.reason)): \(rescue.summary)",
                "check disk and memory; if nothing is missing, delete \(rescue.setAside) in state_dir")
        ]
    }

    /// Changes that wait for an entity that the schema no longer has.
    private func strangers(_ summary: DatabaseSummary) -> [Finding] {
        guard let schema else { return [] }
        return summary.queuedEntities.filter { schema[$0] == nil }.map { name in
            let list = configuration.command("queue --entity \(ShellWord.quoted(name))")
            return Finding.warning(
                "queue", "changes of \(name) are not sent: the schema no longer has this entity",
                "bring it back, or discard them: see \(list)")
        }
    }

    private func queue(_ summary: DatabaseSummary) -> Finding {
        let failed = summary.queue["failed"] ?? 0
        let changes = summary.queue.values.reduce(0, +).counted("change", "changes")
        if failed > 0 {
            return .warning("queue", "\(failed) of \(changes) failed", "see \(configuration.command("queue"))")
        }
        if summary.openConflicts > 0 {
            return .warning(
                "queue", "\(summary.openConflicts.counted("conflict waits", "conflicts wait")) for a decision",
                "see \(configuration.command("conflicts --open"))")
        }
        if let oldest = summary.oldestChange, oldest + .seconds(86_400) < now {
            return .warning(
                "queue", "\(changes) pending, the oldest since \(oldest)", "see \(configuration.command("status"))")
        }
        return .ok("queue", "\(changes) pending")
    }

    private func backups(_ path: String?) -> Finding {
        guard let every = configuration.backup.every else {
            return .warning("backups", "backup.every is off", "make backups another way, such as with Litestream")
        }
        guard let path else { return .ok("backups", "nothing to back up yet") }
        let folder = BackupFolder(stateDirectory: configuration.stateDirectory, database: path)
        guard let newest = folder.newest(at: now) else {
            return .warning(
                "backups", "none yet", "let the daemon run for a few minutes, then check its log")
        }
        guard newest + every + every >= now else {
            return .warning("backups", "the newest is from \(newest)", "check the daemon's log, or start it")
        }
        return .ok("backups", "\(folder.backups.count), the newest from \(newest)")
    }
}
