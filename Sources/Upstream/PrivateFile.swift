internal import Glibc
internal import SystemCalls

/// A small file with a secret, which only its owner may read.
package struct PrivateFile {
    let path: String
    private let linkAdvice: String?

    /// `linkAdvice` is for a file in the state directory: what to do about a link in its place, which is then refused.
    ///
    /// A compromised daemon can put a link there at any time, and a person who does what a message says may be root. So no
    /// message proposes a command that follows it.
    package init(path: String, linkAdvice: String? = nil) {
        self.path = path
        self.linkAdvice = linkAdvice
    }

    /// More than any token or key needs. `read` refuses a file of that length, and `write` writes none.
    private static let largest = 64 << 10

    /// Nil when there is no such file. Throws when it cannot be read, is a link that is refused or leads to no file, or
    /// group or others may read it.
    package func read() throws(TokenFileError) -> [UInt8]? {
        // A FIFO in the file's place must not make the reader wait for a writer.
        let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | (linkAdvice == nil ? 0 : O_NOFOLLOW))
        guard file >= 0 else {
            if errno == ELOOP, let linkAdvice { throw TokenFileError(message: "\(path) is a link; \(linkAdvice)") }
            guard errno == ENOENT else {
                throw TokenFileError(
                    message: "\(path) cannot be read (\(SystemError.last)); check its owner and permissions")
            }
            guard isLink else { return nil }
            throw TokenFileError(
                message: "\(path) is a link to a file that does not exist; restore that file, or correct the link")
        }
        defer { close(file) }
        return try contents(of: file)
    }

    /// What `read` returns, of a file that the caller has opened by this path.
    package func contents(of file: Int32) throws(TokenFileError) -> [UInt8] {
        guard let status = stat(of: file), status.isFile else {
            throw TokenFileError(message: "\(path) is not a regular file; correct the path")
        }
        guard !Self.isOpenToOthers(status, for: geteuid()) else {
            throw TokenFileError(message: "\(path) can be read by others; \(closing)")
        }
        var bytes = [UInt8](repeating: 0, count: Self.largest)
        var count = 0
        while count < bytes.count {
            let part = bytes.withUnsafeMutableBytes {
                Glibc.read(file, $0.baseAddress?.advanced(by: count), $0.count - count)
            }
            if part < 0 {
                throw TokenFileError(message: "\(path) cannot be read (\(SystemError.last)); check the disk")
            }
            if part == 0 { return Array(bytes[..<count]) }
            count += part
        }
        throw TokenFileError(message: "\(path) is larger than any token or key; correct the path")
    }

    /// The file as text; nil when there is no such file. Throws as `read` does, and when it is not UTF-8.
    package func text() throws(TokenFileError) -> String? {
        try read().map(text)
    }

    /// Throws for bytes that are not UTF-8.
    package func text(_ bytes: [UInt8]) throws(TokenFileError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw TokenFileError(message: "\(path) is not UTF-8 text; write it again as UTF-8")
        }
        return text
    }

    /// How to close a file that others can read. `chmod -R` follows no links in the folder, unless a program puts one in
    /// a file's place at that moment.
    private var closing: String {
        if linkAdvice != nil {
            let folder = path[...(path.lastIndex(of: "/") ?? path.startIndex)]
            return "stop the daemon, then run chmod -R go= \(folder)"
        }
        return isLink ? "correct the mode of the file that this link leads to" : "run chmod 600 \(path)"
    }

    private var isLink: Bool { stat(ofLink: path)?.isLink == true }

    /// Whether anyone but `user` may read the file.
    ///
    /// A file that root owns and we may read has an entry for us in its access control list: systemd passes credentials
    /// that way (systemd.exec(5)). The group bits are then the mask of that list (acl(5)), and the group is root's.
    static func isOpenToOthers(_ status: stat, for user: uid_t) -> Bool {
        let isPassedBySystemd = user != 0 && status.st_uid == 0 && status.st_gid == 0
        return status.st_mode & (isPassedBySystemd ? 0o007 : 0o077) != 0
    }

    /// Replaces the file in one step. When this returns, the bytes survive a power loss; when it throws, the old file
    /// is still there.
    package func write(_ bytes: [UInt8]) throws(TokenFileError) {
        guard bytes.count < Self.largest else {
            throw TokenFileError(message: "\(path) was not replaced: its new content is larger than any token or key")
        }
        try replace(with: bytes)
    }

    /// The same for a file of any length, which is not for `read`.
    package func replace(with bytes: [UInt8]) throws(TokenFileError) {
        // The daemon may store a token while `login` does.
        let folder = Files.openFolder(of: path)
        defer { if folder >= 0 { close(folder) } }
        flock(folder, LOCK_EX)
        do throws(SystemError) {
            try Files.replace(path, with: bytes)
        } catch {
            throw TokenFileError(
                message: "\(path) cannot be written (\(error)); check its folder and the free disk space",
                isDiskFull: error.isDiskFull)
        }
    }

    /// Which file is there: another one after each `write`.
    package struct Identity: Equatable, Sendable {
        var device: UInt64
        var number: UInt64
        var seconds: Int
        var nanoseconds: Int
    }

    /// Nil when there is no file.
    var identity: Identity? {
        guard let status = stat(of: path) else { return nil }
        return Identity(
            device: UInt64(status.st_dev), number: UInt64(status.st_ino), seconds: status.st_mtim.tv_sec,
            nanoseconds: status.st_mtim.tv_nsec)
    }

    /// Removes the file, and what an interrupted `write` left. When this returns, it stays removed after a power loss.
    /// False if there was no file.
    package func remove() throws(TokenFileError) -> Bool {
        unlink("\(path).new")
        guard unlink(path) == 0 else {
            if errno == ENOENT { return false }
            throw TokenFileError(message: "\(path) cannot be removed (\(SystemError.last)); check its folder's owner")
        }
        guard Files.syncFolder(of: path) else {
            throw TokenFileError(message: "the removal of \(path) may be lost (\(SystemError.last)); check the disk")
        }
        return true
    }
}

/// A token or key file that cannot be used; the message says why and what to do.
package struct TokenFileError: Error, Sendable, Equatable {
    package var message: String
    /// Retrying can succeed once space is freed.
    package var isDiskFull: Bool

    package init(message: String, isDiskFull: Bool = false) {
        self.message = message
        self.isDiskFull = isDiskFull
    }
}
