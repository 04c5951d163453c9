package import EntitySchema
internal import Foundation
internal import GRDB
internal import Glibc
internal import SQLiteStore
internal import SystemCalls

/// A database that no daemon uses, and the changes to it that only a person decides.
package struct ClosedDatabase {
    let path: String

    package init(path: String) { self.path = path }

    /// Makes it a cache of the same upstream at another address.
    ///
    /// Throws `.incompatible` if it is of another schema, or already of this upstream.
    package func moveUpstream(to origin: CacheOrigin) throws {
        guard let upstream = origin.upstream else { return }
        try change { settings in
            guard try settings["schema"] ?? origin.schema == origin.schema else {
                throw CacheError.incompatible("\(path) is not a cache of the schema \(origin.schema)")
            }
            guard try settings["upstream"] != upstream else {
                throw CacheError.incompatible(
                    "\(path) already belongs to the upstream \(upstream); for the database of the former address, start and "
                        + "stop the daemon with that address once, then set the new one and repeat this")
            }
            try settings.set("schema", to: origin.schema)
            try settings.set("upstream", to: upstream)
        }
    }

    /// Forgets which key its secrets were sealed with, so that the next start takes another one.
    package func forgetKey() throws { try change { settings in try settings.remove("secrets_key") } }

    /// Renames it, so that the next start begins with an empty one. Returns the new path.
    ///
    /// Throws `.unwritable` while another program has it open.
    package func setAside(at now: Timestamp) throws -> String {
        try closeLog()
        let new = "\(path).aside-\(DatabaseFile.stamp(now))"
        guard !FileManager.default.fileExists(atPath: new) else {
            throw CacheError.unwritable("\(new) already exists; try again")
        }
        guard rename(path, new) == 0, Files.syncFolder(of: new) else {
            throw CacheError.unwritable("\(path) cannot be renamed to \(new) (\(SystemError.last)); check state_dir")
        }
        return new
    }

    /// The last connection writes the log into the file, and deletes it.
    private func closeLog() throws {
        do {
            let queue = try open()
            defer { try? queue.close() }
            _ = try queue.read { db in try db.tableExists("sync_setting") }
        } catch {
            throw CacheError.classified(error)
        }
        guard !FileManager.default.fileExists(atPath: "\(path)-wal") else {
            throw CacheError.unwritable("another program has \(path) open; end it, and try again")
        }
    }

    private func change(_ body: (SettingTable) throws -> Void) throws {
        do {
            let queue = try open()
            defer { try? queue.close() }
            try queue.write { db in
                try Self.requireKnown(db, path)
                try body(SettingTable(db: db))
            }
        } catch {
            throw CacheError.classified(error)
        }
    }

    /// Throws `.incompatible` unless this version can read the file.
    private static func requireKnown(_ db: Database, _ path: String) throws {
        guard try db.tableExists("sync_setting") else { throw CacheError.incompatible("\(path) is not a cache") }
        try Migrations.requireKnown(Migrations.applied(db), path: path)
    }

    private func open() throws -> DatabaseQueue {
        try DatabaseFile.requireRegular(path)
        var configuration = GRDB.Configuration()
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { db in
            db.limitForeignFile()
            db.refuseViews()
            db.refuseTriggers()
        }
        return try DatabaseQueue(path: path, configuration: configuration)
    }
}
