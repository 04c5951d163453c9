import CacheStore
import EntitySchema
import Foundation
import SQLiteStore

/// The automatic backups of one database: `<state_dir>/backups/<database>/<date>-<reason>.db`.
struct BackupFolder {
    /// The reason for a backup.
    enum Reason: String {
        case daily
        /// Made before a newer version migrates the database.
        case upgrade
    }

    let path: String

    init(stateDirectory: String, database: String) {
        let name = (database as NSString).lastPathComponent
        path = "\(stateDirectory)/backups/\(name.hasSuffix(".db") ? String(name.dropLast(3)) : name)"
    }

    /// Moves the backups after their database was renamed, unless `new` already has backups.
    func move(to new: BackupFolder) {
        guard FileManager.default.fileExists(atPath: path), !FileManager.default.fileExists(atPath: new.path) else {
            return
        }
        try? FileManager.default.moveItem(atPath: path, toPath: new.path)
    }

    /// The paths of the backups, newest first. One with a time after `now` was made while the clock was ahead, so it is
    /// older than those made since.
    func backups(at now: Timestamp) -> [String] {
        let all = backups
        let ahead = all.prefix { Self.time($0).map { $0 > now } ?? false }
        return Array(all.dropFirst(ahead.count)) + ahead
    }

    /// The paths of the backups, the latest time first.
    var backups: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.filter { $0.hasSuffix(".db") }.sorted(by: >).map { "\(path)/\($0)" }
    }

    /// The time of the newest backup; nil when there is none, or only such as were made while the clock was ahead.
    func newest(at now: Timestamp) -> Timestamp? { backups.lazy.compactMap(Self.time).first { $0 <= now } }

    /// The path for the next backup; creates the directory.
    func path(for reason: Reason, at now: Timestamp) throws -> String {
        try StateDirectory.create(path)
        return "\(path)/\(DatabaseFile.stamp(now))-\(reason.rawValue).db"
    }

    /// Deletes unfinished copies left by a crash, which are as large as the database. Call it while no backup is
    /// running.
    func removeUnfinished() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        for name in names where name.contains(".db.part") {
            try? FileManager.default.removeItem(atPath: "\(path)/\(name)")
        }
    }

    /// Deletes all but the newest `keep` backups, and those older than `age`; always keeps the newest. The newest from before
    /// an upgrade is also kept up to `age`: the version before reads no later one. Returns the number of deleted backups.
    func prune(keep: Int, age: Duration, at now: Timestamp) throws -> Int {
        let all = backups(at: now)
        let upgrade = all.first { $0.hasSuffix("-\(Reason.upgrade.rawValue).db") }
        let old = all.enumerated().filter { index, path in
            index > 0 && (index >= keep && path != upgrade || Self.time(path).map { $0 + age < now } ?? false)
        }
        for (_, path) in old { try FileManager.default.removeItem(atPath: path) }
        return old.count
    }

    private static func time(_ path: String) -> Timestamp? { DatabaseFile.time((path as NSString).lastPathComponent) }
}

extension BackupFolder {
    init(_ setup: Setup, database: String) {
        self.init(stateDirectory: setup.configuration.stateDirectory, database: database)
    }
}
