internal import Foundation
package import GRDB
internal import Glibc
internal import SystemCalls

/// A complete, consistent copy of a database that others may be writing to; verified, then renamed into place.
///
/// One file of mode 0600, without a log. It has no epoch, so a database that is replaced by a copy starts a new one.
package enum DatabaseCopy {
    /// How a copy is checked.
    package enum Check: String, Sendable {
        /// Every page, row and index entry.
        case full = "integrity_check"
        /// Every page and row: a fraction of the time, for indexes that will be built again.
        case withoutIndexes = "quick_check"
    }

    /// Throws `.unwritable` when `target` exists or cannot be written, and `.damaged` when the copy fails the check.
    /// Leaves nothing behind when it throws.
    package static func make(of source: String, at target: String, check: Check = .full) throws {
        // In one step: a copy in several steps starts over whenever another connection writes.
        try make(of: source, at: target, check: check) { copy in
            try DatabaseFile.openReadOnly(source).backup(to: copy)
        }
    }

    /// The same, with `copyPages` doing the copying.
    package static func make(
        of source: String, at target: String, check: Check = .full, copyPages: (DatabaseQueue) throws -> Void
    ) throws {
        guard !FileManager.default.fileExists(atPath: target) else {
            throw CacheError.unwritable("\(target) already exists; name another file")
        }
        try requireSpace(for: source, at: target)
        let part = target + ".part"
        func remove() { for suffix in ["", "-wal", "-shm", "-journal"] { unlink(part + suffix) } }
        remove()
        defer { remove() }
        do {
            try makeEmpty(part)
            try fill(part, from: source, check, copyPages)
            try sync(part)
        } catch {
            throw CacheError.classified(error)
        }
        guard rename(part, target) == 0, Files.syncFolder(of: target) else { throw unwritable(target) }
    }

    /// The problems that `PRAGMA integrity_check` finds in the file; empty when it is sound. Only reads the file.
    package static func problems(of path: String) throws -> [String] {
        do {
            return try DatabaseFile.openReadOnly(path).read(problems)
        } catch {
            throw CacheError.classified(error)
        }
    }

    package static func problems(_ db: Database) throws -> [String] { try problems(db, .full) }

    private static func problems(_ db: Database, _ check: Check) throws -> [String] {
        try String.fetchAll(db, sql: "PRAGMA \(check.rawValue)(10)").filter { $0 != "ok" }
    }

    // MARK: Steps

    private static func fill(
        _ part: String, from source: String, _ check: Check, _ copyPages: (DatabaseQueue) throws -> Void
    ) throws {
        var configuration = GRDB.Configuration()
        configuration.prepareDatabase { db in
            db.limitForeignFile()
            db.refuseViews()
            db.refuseTriggers()
        }
        let copy = try DatabaseQueue(path: part, configuration: configuration)
        do {
            try copyPages(copy)
            try copy.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA journal_mode = DELETE")
                let problems = try problems(db, check)
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

    /// SQLite would create the file readable for everyone.
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

    /// A copy must not use up the space that the daemon needs.
    private static func requireSpace(for source: String, at target: String) throws {
        let size = DatabaseFile.size(of: [source, source + "-wal"])
        let folder = URL(fileURLWithPath: target).deletingLastPathComponent().path
        guard let free = DiskSpace(of: folder)?.free else { throw unwritable(target) }
        let needed = size + DiskSpace.reserve
        guard free > needed else {
            throw CacheError.unwritable(
                "\(folder) has \(free >> 20) MiB free, and a copy needs \((needed >> 20) + 1) MiB; free some space there"
            )
        }
    }

    private static func unwritable(_ path: String) -> CacheError {
        .unwritable("\(path) cannot be written (\(SystemError.last)); check its folder")
    }
}
