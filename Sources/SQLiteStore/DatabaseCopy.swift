internal import Foundation
package import GRDB
internal import Glibc

/// A whole copy of a database, of one moment, while others may write to it; checked before it gets its name.
///
/// One file of mode 0600, without a log. It names no epoch, so that whoever puts it in the place of another database
/// begins a new one.
package enum DatabaseCopy {
    /// Throws `.unwritable` when there is a file at `target` or it cannot be written, `.damaged` when the copy does not
    /// pass the check; then nothing is left of it.
    package static func make(of source: String, at target: String) throws {
        // In one step: a copy in several begins anew whenever another connection writes.
        try make(of: source, at: target) { copy in try DatabaseFile.openReadOnly(source).backup(to: copy) }
    }

    /// The same of a database that `copyPages` copies.
    package static func make(of source: String, at target: String, copyPages: (DatabaseQueue) throws -> Void) throws {
        guard !FileManager.default.fileExists(atPath: target) else {
            throw CacheError.unwritable("\(target) is there already; name another file")
        }
        try requireSpace(for: source, at: target)
        let part = target + ".part"
        func remove() { for suffix in ["", "-wal", "-shm", "-journal"] { unlink(part + suffix) } }
        remove()
        defer { remove() }
        do {
            try makeEmpty(part)
            try fill(part, from: source, copyPages)
            try sync(part)
        } catch {
            throw GroupCommit.classified(error)
        }
        guard rename(part, target) == 0, DatabaseFile.syncFolder(of: target) else { throw unwritable(target) }
    }

    /// What `PRAGMA integrity_check` finds wrong with the file; nothing when it is sound. The file is only read.
    package static func problems(of path: String) throws -> [String] {
        do {
            return try DatabaseFile.openReadOnly(path).read(problems)
        } catch {
            throw GroupCommit.classified(error)
        }
    }

    package static func problems(_ db: Database) throws -> [String] {
        try String.fetchAll(db, sql: "PRAGMA integrity_check(10)").filter { $0 != "ok" }
    }

    // MARK: Steps

    private static func fill(
        _ part: String, from source: String, _ copyPages: (DatabaseQueue) throws -> Void
    ) throws {
        let copy = try DatabaseQueue(path: part)
        do {
            try copyPages(copy)
            try copy.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA journal_mode = DELETE")
                let problems = try problems(db)
                guard problems.isEmpty else {
                    throw CacheError.damaged("\(source) is damaged: \(problems.joined(separator: "; "))")
                }
                if try db.tableExists("sync_setting") {
                    try db.execute(sql: "DELETE FROM sync_setting WHERE name IN ('epoch', 'epoch_inode')")
                }
            }
            try copy.close()
        } catch {
            try? copy.close()
            throw error
        }
    }

    /// SQLite would make it for everybody to read.
    private static func makeEmpty(_ path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw unwritable(path) }
        close(file)
    }

    private static func sync(_ path: String) throws {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw unwritable(path) }
        defer { close(file) }
        guard fsync(file) == 0 else { throw unwritable(path) }
    }

    /// A copy must not take the last of the disk from the daemon.
    private static func requireSpace(for source: String, at target: String) throws {
        let size = ["", "-wal"].reduce(0) { sum, suffix in
            sum + ((try? FileManager.default.attributesOfItem(atPath: source + suffix)[.size] as? Int) ?? 0)
        }
        let folder = URL(fileURLWithPath: target).deletingLastPathComponent().path
        guard let free = DiskSpace(of: folder)?.free else { throw unwritable(target) }
        guard free > size + DiskSpace.reserve else {
            throw CacheError.unwritable(
                "\(folder) has \(free >> 20) MiB free, too little for a copy of \(size >> 20) MiB; make room there")
        }
    }

    private static func unwritable(_ path: String) -> CacheError {
        .unwritable("\(path) cannot be written (\(String(cString: strerror(errno)))); check its folder")
    }
}

/// How much room a file system has.
package struct DiskSpace: Sendable {
    /// What should always be left for queue and log, in bytes.
    package static let reserve = 64 << 20

    /// For us, in bytes.
    package let free: Int

    /// Nil for a folder that is not there.
    package init?(of folder: String) {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return nil }
        free = Int(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
    }
}
