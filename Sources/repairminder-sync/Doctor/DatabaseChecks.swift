import CacheStore
import EntitySchema
import Foundation
internal import SQLiteStore

/// The database in use: whether it is sound, how its queue stands, how old its backups are. It is only read.
struct DatabaseChecks {
    let configuration: Configuration
    /// Nil where there is none yet.
    let path: String?
    let now: Timestamp

    func findings() -> [Finding] {
        guard let path else { return [library(), .ok("database", "there is none yet"), backups(nil)] }
        do {
            let summary = try DatabaseSummary(ofDatabaseAt: path)
            return [library(), integrity(path)] + rescue(summary) + [queue(summary), backups(path)]
        } catch CacheError.incompatible(let message) {
            return [library(), .error("database", message, "install that version again")]
        } catch {
            return [library(), damaged("\(error)"), backups(path)]
        }
    }

    /// SQLite below 3.51.3 (but 3.50.7, 3.44.6) can damage a file that two connections write or check-point at once.
    private func library() -> Finding {
        guard let version = try? DatabaseSummary.libraryVersion() else {
            return .error("sqlite", "the library does not answer", "install libsqlite3-0 again")
        }
        let parts = version.split(separator: ".").compactMap { Int($0) } + [0, 0, 0]
        let number = parts[0] * 1_000_000 + parts[1] * 1000 + parts[2]
        let isMended =
            number >= 3_051_003 || (3_050_007..<3_051_000).contains(number) || (3_044_006..<3_045_000).contains(number)
        if isMended { return .ok("sqlite", version) }
        return .ok(
            "sqlite",
            "\(version), which has the WAL-reset fault; the daemon, whose one connection writes, does not meet it as long "
                + "as no other program writes to its database or check-points it")
    }

    private func integrity(_ path: String) -> Finding {
        do {
            let problems = try DatabaseCopy.problems(of: path)
            return problems.isEmpty ? .ok("database", "\(path) is sound") : damaged(problems.joined(separator: "; "))
        } catch {
            return damaged("\(error)")
        }
    }

    private func damaged(_ problem: String) -> Finding {
        .error(
            "database", "\(path ?? "") is damaged: \(problem)",
            "restart the daemon: it sets the file aside and rescues the queue; then check disk and memory")
    }

    private func rescue(_ summary: DatabaseSummary) -> [Finding] {
        guard let rescue = summary.rescue else { return [] }
        return [
            .warning(
                "rescue", "the database was damaged and replaced at \(rescue.at) (\(rescue.reason)): \(rescue.summary)",
                "check disk and memory; when nothing is missing, delete \(rescue.setAside) in state_dir")
        ]
    }

    private func queue(_ summary: DatabaseSummary) -> Finding {
        let failed = summary.queue["failed"] ?? 0
        let count = summary.queue.values.reduce(0, +)
        if failed > 0 {
            return .warning("queue", "\(failed) of \(count) changes have failed", "see repairminder-sync queue")
        }
        if summary.openConflicts > 0 {
            return .warning(
                "queue", "\(summary.openConflicts) conflicts wait for a choice",
                "see repairminder-sync conflicts --open")
        }
        if let oldest = summary.oldestChange, oldest + .seconds(86_400) < now {
            return .warning(
                "queue", "\(count) changes wait, the oldest since \(oldest)", "see repairminder-sync status")
        }
        return .ok("queue", "\(count) changes wait")
    }

    private func backups(_ path: String?) -> Finding {
        guard let every = configuration.backup.every else {
            return .warning("backups", "backup.every is off", "make backups by other means, such as Litestream")
        }
        guard let path else { return .ok("backups", "there is nothing to back up yet") }
        let folder = BackupFolder(stateDirectory: configuration.stateDirectory, database: path)
        guard let newest = folder.newest else {
            return .warning(
                "backups", "there is none yet", "let the daemon run for a few minutes, then look at its log")
        }
        guard newest + every + every >= now else {
            return .warning("backups", "the newest is from \(newest)", "look at the daemon's log, or start it")
        }
        return .ok("backups", "\(folder.backups.count), the newest from \(newest)")
    }
}
