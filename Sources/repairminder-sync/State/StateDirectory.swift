internal import CacheStore
internal import Crypto
internal import EntitySchema
internal import Foundation
internal import Glibc
internal import SQLiteStore

/// The daemon's directory: a database per upstream and account, the link `current.db` to the one in use, the local
/// API's token and a lock.
///
/// Created with mode 0700; only the daemon's user can read its files.
struct StateDirectory {
    private let folder: String
    private let origin: CacheOrigin
    private var originOf: @Sendable (_ path: String) -> CacheOrigin?
    private let ownerOf: @Sendable (_ path: String) -> CacheOwner?

    /// Creates the directory if needed; throws `StateError` on failure. `originOf` and `ownerOf` read what is stored in a
    /// database file.
    init(
        path: String, origin: CacheOrigin,
        originOf: @escaping @Sendable (_ path: String) -> CacheOrigin? = CacheOrigin.init(ofDatabaseAt:),
        ownerOf: @escaping @Sendable (_ path: String) -> CacheOwner? = CacheOwner.init(ofDatabaseAt:)
    ) throws {
        folder = path
        self.origin = origin
        self.originOf = originOf
        self.ownerOf = ownerOf
        try Self.make(path)
    }

    /// Creates the directory if it does not exist, for this user only. Throws `StateError` on failure, and if others can
    /// enter it.
    static func make(_ path: String) throws {
        guard access(path, F_OK) == 0 || errno != EACCES else {
            throw StateError(
                message: "state_dir \(path) belongs to another user, because \(StateOwner.name(of: geteuid())) may not "
                    + "enter it; run this as its owner, or choose another directory",
                isOwnedByAnother: true)
        }
        try create(path)
        try check(path)
        // Files created from here on, by SQLite or the daemon, are readable only by this user.
        umask(0o077)
    }

    /// The same for a directory inside of a state directory, which keeps others out whatever the mode of this one is.
    static func create(_ path: String) throws {
        let isNew = !FileManager.default.fileExists(atPath: path)
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            if isNew, !DatabaseFile.syncFolder(of: path) { throw StateError(message: StateError.reason) }
        } catch {
            // Asks once more: what Foundation throws has codes and domains, and not always the system's reason.
            _ = mkdir(path, 0o700)
            throw StateError(
                message:
                    "cannot create state_dir \(path) (\(Self.reason(of: error))); choose a directory that you can write to"
            )
        }
    }

    /// Throws `StateError` unless the directory belongs to this user and is closed to all others.
    private static func check(_ path: String) throws(StateError) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw StateError(
                message: "state_dir \(path) cannot be read (\(StateError.reason)); check its owner and permissions")
        }
        guard status.st_uid == geteuid() else {
            let owner = StateOwner.name(of: status.st_uid)
            throw StateError(
                message: "state_dir \(path) belongs to \(owner), who could replace its files at any time; run this as "
                    + "\(owner), or choose another directory",
                isOwnedByAnother: true)
        }
        guard status.st_mode & 0o077 == 0 else {
            throw StateError(
                message: "other users can read or change files in state_dir \(path) (mode "
                    + "\(String(status.st_mode & 0o7777, radix: 8))); run chmod go= \(path)",
                isOpenToOthers: true)
        }
    }

    // MARK: Databases

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
        try link(to: path)
        return path
    }

    /// The existing database that `choose` would choose; changes nothing.
    var inUse: String? {
        [current, latest, path(for: nil)].compactMap(\.self).first { FileManager.default.fileExists(atPath: $0) }
    }

    /// The existing database that `current.db` names and that has this schema's name, of whichever upstream.
    var linked: String? {
        guard let target = linkedName, FileManager.default.fileExists(atPath: "\(folder)/\(target)") else { return nil }
        return "\(folder)/\(target)"
    }

    private var linkedName: String? {
        guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: link),
            target.hasPrefix("\(origin.schema)-"), !target.contains("/")
        else { return nil }
        return target
    }

    private var current: String? {
        guard let target = linkedName, isOurs("\(folder)/\(target)") else { return nil }
        let path = "\(folder)/\(target)"
        // A crash after the database got its account's name leaves the link to the name that it had.
        return FileManager.default.fileExists(atPath: path) || path != self.path(for: nil) ? path : nil
    }

    private var latest: String? {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let ours = names.filter { name in
            name.hasPrefix("\(origin.schema)-") && name.hasSuffix(".db")
                && originOf("\(folder)/\(name)").map(origin.includes) == true
        }
        let used = ours.map { name in
            let attributes = try? FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
            return (name, attributes?[.modificationDate] as? Date ?? .distantPast)
        }
        return used.max { ($0.1, $0.0) < ($1.1, $1.0) }.map { "\(folder)/\($0.0)" }
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

    /// A stable hash of schema and upstream (FNV-1a).
    private var upstreamHash: String {
        let hash = "\(origin.schema) \(origin.upstream ?? "")".utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3
        }
        return String(hash, radix: 16)
    }

    /// Switches to the database at `path` in this directory.
    func use(_ path: String) throws { try link(to: path) }

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
            guard rename(old + suffix, new + suffix) == 0, DatabaseFile.syncFolder(of: new) else {
                throw StateError(message: "cannot rename \(old)\(suffix) (\(StateError.reason)); check state_dir")
            }
        }
        let backups = BackupFolder(stateDirectory: folder, database: old)
        backups.move(to: BackupFolder(stateDirectory: folder, database: new))
        try link(to: new)
        return new
    }

    private func hasEmptyLog(_ path: String) -> Bool {
        let size = try? FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int
        return size ?? 0 == 0
    }

    private var link: String { "\(folder)/current.db" }

    /// Replaces the link atomically: a reader sees the old link or the new one.
    private func link(to path: String) throws {
        let name = (path as NSString).lastPathComponent
        let fresh = "\(link).new"
        unlink(fresh)
        guard symlink(name, fresh) == 0, rename(fresh, link) == 0, DatabaseFile.syncFolder(of: link) else {
            throw StateError(message: "cannot write \(link) (\(StateError.reason)); check state_dir")
        }
    }

    // MARK: Token

    /// The local API's token; created at the first start in a file of mode 0600. Throws when others may read the file.
    func apiToken() throws -> String {
        let file = TokenFile(path: "\(folder)/api-token")
        if let token = try file.token(readableBy: geteuid()) { return token }
        var generator = SystemRandomNumberGenerator()
        let token = (0..<4).map { _ in String(generator.next() as UInt64, radix: 16) }.joined()
        try file.write(token)
        return token
    }

    // MARK: Lock

    struct Lock {
        fileprivate let descriptor: Int32

        func release() { Glibc.close(descriptor) }
    }

    /// Locks the directory against a second daemon until released or until this process ends.
    func lock() throws -> Lock {
        let path = "\(folder)/lock"
        let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StateError(
                message: errno == ELOOP
                    ? "\(path) is a link, which the daemon never makes; find out who made it, then delete it"
                    : "cannot open \(path) (\(StateError.reason)); check who owns state_dir")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            Glibc.close(descriptor)
            throw StateError(
                message:
                    "another repairminder-sync is using \(folder); stop it (a caller may have started it again), or choose "
                    + "another state_dir")
        }
        return Lock(descriptor: descriptor)
    }

    /// What the system said; Foundation's own text has codes and domains.
    private static func reason(of error: any Error) -> String {
        if let error = error as? StateError { return error.message }
        return StateError.reason
    }
}

// MARK: Copies

extension StateDirectory {
    /// How the names of copies begin that a command works on, and deletes again unless it is interrupted.
    static let copyName = "copy-"
    private static let longestCommand = Duration.seconds(86_400)

    /// Deletes those of commands that cannot run any more. Each can be as large as the database.
    func removeOldCopies(at now: Timestamp) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names where Self.isCopy(name) {
            var status = stat()
            guard lstat("\(folder)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
            let changed = Timestamp(milliseconds: Int64(status.st_mtim.tv_sec) * 1000)
            if changed + Self.longestCommand < now { unlink("\(folder)/\(name)") }
        }
    }

    /// Such a copy, or a file that SQLite keeps beside it; never the database of a schema that is called `copy`.
    private static func isCopy(_ name: String) -> Bool {
        guard name.hasPrefix(copyName) else { return false }
        let rest = name.dropFirst(copyName.count)
        return UUID(uuidString: String(rest.prefix(36))) != nil && rest.dropFirst(36).hasPrefix(".tmp")
            && !name.hasSuffix(".db")
    }
}

// MARK: Accounts

extension StateDirectory {
    /// Switches to the database of another account; the one in use must be closed.
    ///
    /// The one in use is named after its own account first, if it is not yet: by that name it is found again. One that
    /// kept its first name is found by what is stored in it.
    func use(account: String) throws {
        if let left = current, let owner = ownerOf(left)?.account { _ = try name(left, after: owner) }
        let named = path(for: account)
        let others = databases(of: account, besides: named)
        let exists = FileManager.default.fileExists(atPath: named)
        let found = hasQueue(named) ? nil : others.first(where: hasQueue)
        try link(to: found ?? (exists ? named : others.first ?? named))
    }

    /// Switches from `path`, closed or only read, to another database of its account, if changes wait in that one and
    /// none in this one. Returns the path of the database in use.
    func adopt(insteadOf path: String) throws -> String {
        guard unnamed.contains(where: { FileManager.default.fileExists(atPath: $0) }),
            let owner = ownerOf(path), let account = owner.account, !owner.hasQueue,
            let found = left(by: account, besides: path).first
        else { return path }
        try link(to: found)
        return found
    }

    /// Other databases of an account where changes wait.
    func left(by account: String, besides path: String) -> [String] {
        databases(of: account, besides: path).filter(hasQueue)
    }

    /// Those that the daemon may have made for an account, by their names, and that belong to it, by what is stored in
    /// them. A copy with a name of its own is none: what is queued there may have been sent.
    private func databases(of account: String, besides path: String) -> [String] {
        // While the address is not known, they may be of another upstream.
        guard origin.upstream != nil else { return [] }
        return (unnamed + [self.path(for: account)]).filter { other in
            other != path && originOf(other).map(origin.includes) == true && ownerOf(other)?.account == account
        }
    }

    /// The names of a database whose account is not known yet.
    private var unnamed: [String] {
        let start = name(for: nil)
        return ["\(start).db", "\(start)@\(upstreamHash).db"]
    }

    private func hasQueue(_ path: String) -> Bool { ownerOf(path)?.hasQueue == true }
}

extension StateDirectory {
    init(_ setup: Setup) throws {
        try self.init(path: setup.configuration.stateDirectory, origin: setup.origin)
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
        "~" + Hexadecimal.text(of: SHA256.hash(data: Array(account.utf8)).prefix(16))
    }
}

/// A state directory that cannot be used; the message says why and what to do.
struct StateError: Error, CustomStringConvertible {
    var message: String
    /// The directory belongs to another user, and only that user or root may change it.
    var isOwnedByAnother = false
    /// Other users can read or change what only the daemon may.
    var isOpenToOthers = false

    var description: String { message }

    /// What the system says of the last call that failed.
    static var reason: String { String(cString: strerror(errno)) }
}
