package import EntitySchema
internal import Foundation
package import GRDB
internal import GRDBSQLite
internal import Glibc
internal import SystemCalls

/// A database with the files that belong to it, and how another database replaces it.
///
/// A replaced database is never deleted: a reason and a date are appended to the names of its files, the log's included. The new file
/// first waits beside the old one, under a name that says what is left to do. After a crash at any moment,
/// `finishReplacing` completes the replacement, so a start always finds one of the two.
package struct DatabaseFile: Sendable {
    /// Why a file was set aside.
    package enum Reason: String, Sendable {
        case damaged, replaced
    }

    package let path: String

    package init(_ path: String) { self.path = path }

    /// Deletes a temporary database with its log, if there is one.
    package func delete() { for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) } }

    /// The size of files together, in bytes; those that cannot be seen count as empty. At most a fourth of what an integer can
    /// hold, so that sums of it do not overflow: another program may have made sparse files of any size.
    package static func size(of files: [String]) -> Int {
        let most = Int.max / 4
        return files.reduce(0) { sum, file in
            let size = try? FileManager.default.attributesOfItem(atPath: file)[.size] as? Int
            return min(sum + min(size ?? 0, most), most)
        }
    }

    /// Moves the closed database at `fresh` here. Returns the new name of the old one; nil if there was none.
    @discardableResult
    package func replace(with fresh: String, _ reason: Reason, at now: Timestamp) throws -> String? {
        guard Self.size(of: [fresh + "-wal"]) == 0 else {
            throw CacheError.unwritable(
                "the log of \(fresh) could not be copied into it; free some space, then try again")
        }
        for suffix in ["-wal", "-shm"] { unlink(fresh + suffix) }
        try move(fresh, to: "\(path).next.\(reason.rawValue)-\(Self.stamp(now))")
        return try finishReplacing().last
    }

    /// Completes replacements that a crash interrupted; returns the new names of the old files. Call it before each
    /// opening: it also deletes what a crash left of a file that was just being made.
    @discardableResult
    package func finishReplacing() throws -> [String] {
        // One page has no table yet. Later there is no journal, and a connection that only reads could not undo what it says.
        if Self.size(of: [path + "-journal"]) > 0, Self.size(of: [path, path + "-wal"]) <= 4096 {
            for suffix in ["", "-journal"] { unlink(path + suffix) }
        }
        let url = URL(fileURLWithPath: path)
        let folder = url.deletingLastPathComponent().path
        let prefix = url.lastPathComponent + ".next."
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        var aside: [String] = []
        for name in names.sorted() where name.hasPrefix(prefix) {
            let old = "\(path).\(name.dropFirst(prefix.count))"
            // A program that has read the file since without its log, such as this start, has made an empty one.
            for suffix in ["-wal", "-shm"] where stat(of: old + suffix) != nil && Self.size(of: [path + "-wal"]) == 0 {
                unlink(path + suffix)
            }
            for suffix in ["-wal", "-shm", ""] where FileManager.default.fileExists(atPath: path + suffix) {
                try move(path + suffix, to: old + suffix)
                if suffix.isEmpty { aside.append(old) }
            }
            try move("\(folder)/\(name)", to: path)
        }
        return aside
    }

    /// When a damaged file was last set aside; nil if there is none. Does not count those of a clock that was ahead.
    package func lastDamage(until now: Timestamp) -> Timestamp? {
        let url = URL(fileURLWithPath: path)
        let prefix = "\(url.lastPathComponent).\(Reason.damaged.rawValue)-"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)) ?? []
        return names.filter { $0.hasPrefix(prefix) }.compactMap { Self.time($0.dropFirst(prefix.count)) }
            .filter { $0 <= now }.max()
    }

    /// Whether files that are set aside for damage have such a name.
    package static func isOfDamaged(_ name: String) -> Bool {
        guard !name.contains("/"), let mark = name.range(of: ".\(Reason.damaged.rawValue)-", options: .backwards) else {
            return false
        }
        let stamp = name[mark.upperBound...]
        return stamp.count == 20 && time(stamp) != nil
    }

    /// The time of a stamp; nil for text that does not begin with one.
    package static func time(_ stamp: some StringProtocol) -> Timestamp? {
        let text = Array(stamp.prefix(20))
        guard text.count == 20 else { return nil }
        func part(_ range: Range<Int>) -> String { String(text[range]) }
        return Timestamp(
            iso8601: "\(part(0..<4))-\(part(4..<6))-\(part(6..<11)):\(part(11..<13)):\(part(13..<20))")
    }

    /// `20261121T104200.000Z`.
    package static func stamp(_ time: Timestamp) -> String { time.description.filter { $0 != "-" && $0 != ":" } }

    private func move(_ old: String, to new: String) throws {
        guard !FileManager.default.fileExists(atPath: new) else {
            throw CacheError.unwritable("\(new) already exists; move it elsewhere")
        }
        guard rename(old, new) == 0, Files.syncFolder(of: new) else {
            throw CacheError.unwritable("\(old) cannot be renamed to \(new) (\(SystemError.last)); check state_dir")
        }
    }

    /// Throws when something else than a file is in place of the database or of what belongs to it. Opening a pipe would wait
    /// for good, also in a command that root runs on another user's directory. A missing file passes.
    package static func requireRegular(_ path: String) throws {
        for file in ["", "-journal", "-wal", "-shm"].map({ path + $0 }) {
            guard let status = stat(of: file), !status.isFile else { continue }
            throw CacheError.unwritable("\(file) is not a file; find out who put it there, then delete it")
        }
    }

    /// Opens a connection that does not change the file.
    package static func openReadOnly(_ path: String) throws -> DatabaseQueue {
        try requireRegular(path)
        var configuration = GRDB.Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { db in
            db.limitForeignFile()
            db.refuseViews()
        }
        return try DatabaseQueue(path: path, configuration: configuration)
    }
}

extension DatabaseFile {
    /// Which log is beside it: the same one for as long as any connection is open. Nil if there is none.
    package var logNumber: UInt64? { stat(of: path + "-wal").map { UInt64($0.st_ino) } }

    /// Throws once the file of an open database, or its log, is no longer where it was opened: SQLite goes on writing to a
    /// deleted file, which ends with the process. `log`: the `logNumber` of then.
    package func requireInPlace(_ db: Database, log: UInt64?) throws(CacheError) {
        var hasMoved: Int32 = 0
        sqlite3_file_control(db.sqliteConnection, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
        guard hasMoved == 0, log == nil || log == logNumber else {
            throw .unwritable(
                "the database or its log was deleted, moved or replaced while the daemon runs, so it takes no more "
                    + "writes; what is queued is still sent: restart the daemon once nothing is pending")
        }
    }
}
