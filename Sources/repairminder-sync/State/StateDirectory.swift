import CacheStore
import EntitySchema
import Foundation
import Glibc
import SystemCalls

/// The daemon's directory: a database per upstream and account, the link `current.db` to the one in use, the local
/// API's token and a lock.
///
/// Created with mode 0700; only the daemon's user can read its files.
struct StateDirectory {
    let folder: String
    let origin: CacheOrigin
    var originOf: @Sendable (_ path: String) -> CacheOrigin?
    let ownerOf: @Sendable (_ path: String) -> CacheOwner?

    /// Creates the directory if needed; throws `StateError` on failure. `originOf` and `ownerOf` read what is stored in a
    /// database file.
    init(
        path: String, origin: CacheOrigin,
        originOf: @escaping @Sendable (_ path: String) -> CacheOrigin? = { CacheOrigin(ofDatabaseAt: $0) },
        ownerOf: @escaping @Sendable (_ path: String) -> CacheOwner? = CacheOwner.init(ofDatabaseAt:)
    ) throws {
        folder = path
        self.origin = origin
        self.originOf = originOf
        self.ownerOf = ownerOf
        try Self.make(path)
    }

    init(_ setup: Setup) throws { try self.init(path: setup.configuration.stateDirectory, origin: setup.origin) }

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

    /// Creates a directory inside the state directory, which keeps others out of it. Throws `StateError` on failure.
    static func create(_ path: String) throws {
        let isNew = !FileManager.default.fileExists(atPath: path)
        let made: Void? = try? FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        // Asks once more: what Foundation throws has codes and domains, and not always the system's reason.
        guard made != nil || mkdir(path, 0o700) == 0, !isNew || Files.syncFolder(of: path) else {
            throw StateError(
                message:
                    "cannot create state_dir \(path) (\(SystemError.last)); choose a directory that you can write to")
        }
    }

    /// Throws `StateError` unless the directory belongs to this user and is closed to all others.
    private static func check(_ path: String) throws(StateError) {
        guard let status = stat(of: path), status.isFolder else {
            throw StateError(
                message: "state_dir \(path) cannot be read (\(SystemError.last)); check its owner and permissions")
        }
        guard status.st_uid == geteuid() else {
            let owner = StateOwner.name(of: status.st_uid)
            throw StateError(
                message: "state_dir \(path) belongs to \(owner), who could replace its files at any time; run this as "
                    + "\(owner), or choose another directory",
                isOwnedByAnother: true)
        }
        guard status.st_mode & 0o077 == 0 else {
            let advice =
                isOfDaemon(path) ? "run chmod go= \(path)" : "it has other files: choose a directory of its own"
            throw StateError(
                message: "other users can read or change files in state_dir \(path) (mode "
                    + "\(String(status.st_mode & 0o7777, radix: 8))); \(advice)",
                isOpenToOthers: true)
        }
    }

    /// Whether a directory has what only a daemon keeps, or nothing.
    ///
    /// Messages propose a command for no other: one that closes the directory, or changes its owner, would do harm to /home or
    /// /tmp, which state_dir can name by mistake.
    static func isOfDaemon(_ folder: String) -> Bool {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.isEmpty
            || names.contains { ["api-token", "current.db", "secret.key", "tokens.json"].contains($0) }
    }

    // MARK: current.db

    /// Leads to the database in use.
    var link: String { "\(folder)/current.db" }

    /// Switches to the database at `path` in this directory. A reader sees the old link or the new one.
    func use(_ path: String) throws {
        let name = (path as NSString).lastPathComponent
        let fresh = "\(link).new"
        unlink(fresh)
        guard symlink(name, fresh) == 0, rename(fresh, link) == 0, Files.syncFolder(of: link) else {
            throw StateError(message: "cannot write \(link) (\(SystemError.last)); check state_dir")
        }
    }

    // MARK: Token

    /// The local API's token; created at the first start in a file of mode 0600. Throws when others may read the file, or
    /// guess what it has.
    func apiToken() throws -> String {
        let file = TokenFile(path: "\(folder)/api-token")
        if let token = try file.token(readableBy: geteuid()) {
            guard token.unicodeScalars.count >= TokenFile.shortest else {
                throw StateError(
                    message: "the token in \(file.path) can be guessed; write one of at least \(TokenFile.shortest) "
                        + "characters, or delete the file and restart the daemon for a new one",
                    isOpenToOthers: true)
            }
            return token
        }
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
                    : "cannot open \(path) (\(SystemError.last)); check who owns state_dir, and that its disk takes writes"
            )
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
            guard let status = stat(ofLink: "\(folder)/\(name)"), status.isFile else { continue }
            let changed = Timestamp(milliseconds: Int64(status.st_mtim.tv_sec) * 1000)
            if changed + Self.longestCommand < now { unlink("\(folder)/\(name)") }
        }
    }

    /// Such a copy, or a file that SQLite keeps beside it; never the database of a schema that is called `copy`.
    private static func isCopy(_ name: String) -> Bool {
        // What `restore` and `import-mirror` make beside the database.
        if name.contains(/\.db\.restore(\.part)?(-\w+)?$/) { return true }
        guard name.hasPrefix(copyName) else { return false }
        let rest = name.dropFirst(copyName.count)
        return UUID(uuidString: String(rest.prefix(36))) != nil && rest.dropFirst(36).hasPrefix(".tmp")
            && !name.hasSuffix(".db")
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
}
