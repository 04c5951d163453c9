import CacheStore
import EntitySchema
import Foundation
internal import SQLiteStore

/// The backups that the daemon keeps of one database: `<state_dir>/backups/<database>/<date>-<why>.db`.
struct BackupFolder {
    /// Why a backup was made.
    enum Reason: String {
        case daily
        /// Before a newer version changes the tables.
        case upgrade
    }

    private let folder: String

    init(stateDirectory: String, database: String) {
        let name = (database as NSString).lastPathComponent
        folder = "\(stateDirectory)/backups/\(name.hasSuffix(".db") ? String(name.dropLast(3)) : name)"
    }

    /// Gives the backups to a database that has been renamed to `new`, unless that has some of its own.
    func move(to new: BackupFolder) {
        guard FileManager.default.fileExists(atPath: folder), !FileManager.default.fileExists(atPath: new.folder) else {
            return
        }
        try? FileManager.default.moveItem(atPath: folder, toPath: new.folder)
    }

    /// Their paths, newest first.
    var backups: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(".db") }.sorted(by: >).map { "\(folder)/\($0)" }
    }

    /// When the newest was made; nil when there is none.
    var newest: Timestamp? { backups.first.flatMap(Self.time) }

    /// Where the next one goes; the folder is made.
    func path(for reason: Reason, at now: Timestamp) throws -> String {
        try StateDirectory.make(folder)
        return "\(folder)/\(DatabaseFile.stamp(now))-\(reason.rawValue).db"
    }

    /// Deletes what a crash left of a copy, which is as large as the database; for one who makes none meanwhile.
    func removeUnfinished() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names where name.contains(".db.part") {
            try? FileManager.default.removeItem(atPath: "\(folder)/\(name)")
        }
    }

    /// Deletes all but the newest `keep`, and what is older than `age`; the newest always stays. Returns how many went.
    func prune(keep: Int, age: Duration, at now: Timestamp) throws -> Int {
        let old = backups.enumerated().filter { index, path in
            index > 0 && (index >= keep || Self.time(path).map { $0 + age < now } ?? false)
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
