import CacheStore
import Crypto
import EntitySchema
import Foundation
import Glibc
import JSONText
import SystemCalls

/// How databases are named, and which one is in use.
extension StateDirectory {
    /// The same directory, asking another for the origins of its files.
    func asking(_ originOf: @escaping @Sendable (_ path: String) -> CacheOrigin?) -> StateDirectory {
        var state = self
        state.originOf = originOf
        return state
    }

    /// Chooses the database and points `current.db` to it: the current target if it belongs to this schema and
    /// upstream, otherwise the one of these used last, otherwise a new one whose account is not known yet.
    func choose() throws -> String {
        let path = current ?? latest ?? path(for: nil)
        try use(path)
        return path
    }

    /// The existing database that `choose` would choose; changes nothing.
    var inUse: String? {
        func existing(_ path: String?) -> String? {
            path.flatMap { FileManager.default.fileExists(atPath: $0) ? $0 : nil }
        }
        // Each is looked for only if the one before it is missing: to read a database that another program has locked takes seconds.
        return existing(current) ?? existing(latest) ?? existing(path(for: nil))
    }

    /// The existing database that `current.db` names and that has this schema's name, of whichever upstream.
    var linked: String? { target.flatMap { FileManager.default.fileExists(atPath: $0) ? $0 : nil } }

    /// Where `current.db` leads.
    private var target: String? {
        guard let name = try? FileManager.default.destinationOfSymbolicLink(atPath: link),
            name.hasPrefix("\(origin.schema)-"), !name.contains("/")
        else { return nil }
        return "\(folder)/\(name)"
    }

    /// What `current.db` names, if it belongs to this schema and upstream.
    var current: String? {
        guard let target, isOurs(target) else { return nil }
        // A crash after the database got its account's name leaves the link to the name that it had.
        return FileManager.default.fileExists(atPath: target) || target != path(for: nil) ? target : nil
    }

    private var latest: String? {
        let used = named.filter { originOf($0).map(origin.includes) == true }.map { path in
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            return (path, attributes?[.modificationDate] as? Date ?? .distantPast)
        }
        return used.max { ($0.1, $0.0) < ($1.1, $1.0) }?.0
    }

    /// The databases that may be of this schema, by their names.
    var named: [String] { all.filter { $0.hasPrefix("\(folder)/\(origin.schema)-") } }

    /// The databases of any schema, and the link to the one in use.
    var all: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(".db") }.map { "\(folder)/\($0)" }
    }

    /// A file without an origin was written by an older version and counts as ours.
    private func isOurs(_ path: String) -> Bool { originOf(path).map(origin.includes) ?? true }

    /// `<schema>-<account>.db`; an account of nil is not known yet.
    ///
    /// An account that is no plain name is named by a hash. If the file belongs to another upstream, the name gets a hash of
    /// this upstream.
    func path(for account: String?) -> String {
        let name = name(for: account)
        return isOurs("\(name).db") ? "\(name).db" : "\(name)@\(upstreamHash).db"
    }

    /// Whether `path`, the database in use, is `path(for: account)`. Its origin is known, so it is not read again.
    func isNamed(_ path: String, after account: String) -> Bool {
        path == "\(name(for: account)).db" || path == self.path(for: account)
    }

    private func name(for account: String?) -> String {
        let start = "\(folder)/\(origin.schema)-"
        guard let account else { return "\(start)new" }
        if AccountName.isPlain(account) { return start + account }
        // As older versions named it.
        let older = start + Entity.percentEncoded(account)
        return FileManager.default.fileExists(atPath: "\(older).db") ? older : start + AccountName.hashed(account)
    }

    /// The names of a database whose account is not known yet.
    var unnamed: [String] {
        let start = name(for: nil)
        return ["\(start).db", "\(start)@\(upstreamHash).db"]
    }

    /// A stable hash of schema and upstream (FNV-1a).
    private var upstreamHash: String {
        let hash = "\(origin.schema) \(origin.upstream ?? "")".utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3
        }
        return String(hash, radix: 16)
    }

    /// Renames the closed database in use after its account and returns the new path. Never replaces another file: if
    /// the name is taken, the database keeps its old name.
    func name(_ old: String, after account: String) throws -> String {
        let new = path(for: account)
        // Without an upstream address it could be the file of another upstream. A write-ahead log that an open reader
        // kept from being checkpointed belongs to the file by name: a crash between two renames would separate them.
        guard origin.upstream != nil, new != old, !FileManager.default.fileExists(atPath: new), hasEmptyLog(old) else {
            return old
        }
        for suffix in ["-wal", "-shm", ".content", ""] where FileManager.default.fileExists(atPath: old + suffix) {
            guard rename(old + suffix, new + suffix) == 0, Files.syncFolder(of: new) else {
                throw StateError(message: "cannot rename \(old)\(suffix) (\(SystemError.last)); check state_dir")
            }
        }
        let backups = BackupFolder(stateDirectory: folder, database: old)
        backups.move(to: BackupFolder(stateDirectory: folder, database: new))
        try use(new)
        return new
    }

    private func hasEmptyLog(_ path: String) -> Bool {
        let size = try? FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int
        return size ?? 0 == 0
    }
}

/// An account's id in the name of a file. The id itself can be any text, and the database has it.
private enum AccountName {
    /// Whether it can stand in the name of a file as it is.
    static func isPlain(_ account: String) -> Bool {
        (1...64).contains(account.utf8.count) && !account.hasPrefix(".")
            && account.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || "._-".utf8.contains(byte)
            }
    }

    /// Half of its SHA-256, so that no other account has the same. The `~` distinguishes it from every plain one.
    static func hashed(_ account: String) -> String {
        "~" + String(hexadecimal: SHA256.hash(data: Array(account.utf8)).prefix(16))
    }
}
