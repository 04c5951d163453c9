internal import Glibc

/// A small file with a secret in it, which nobody but its owner may read.
package struct PrivateFile {
    let path: String

    package init(path: String) {
        self.path = path
    }

    /// More than any token or key needs.
    private static let largest = 64 << 10

    /// Nil when there is no such file. Throws when it cannot be read, or group or others may read it.
    package func read() throws(TokenFileError) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw TokenFileError(message: "\(path) cannot be read (\(Self.reason)); check that it is yours")
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw TokenFileError(message: "\(path) is no file; name the right one")
        }
        guard !Self.isOpenToOthers(status, for: geteuid()) else {
            throw TokenFileError(message: "\(path) can be read by others; run chmod 600 \(path)")
        }
        var bytes = [UInt8](repeating: 0, count: Self.largest)
        var count = 0
        while count < bytes.count {
            let part = bytes.withUnsafeMutableBytes {
                Glibc.read(file, $0.baseAddress?.advanced(by: count), $0.count - count)
            }
            if part < 0 {
                throw TokenFileError(message: "\(path) cannot be read (\(Self.reason)); check the disk")
            }
            if part == 0 { return Array(bytes[..<count]) }
            count += part
        }
        throw TokenFileError(message: "\(path) is larger than any token or key; name the right file")
    }

    /// Whether anybody but `user` may read the file.
    ///
    /// A file of root's that we may read has an entry for us in its access control list, as systemd hands credentials over
    /// (systemd.exec(5)). The bits of the group are then the limit of that list (acl(5)), and the group is root's.
    static func isOpenToOthers(_ status: stat, for user: uid_t) -> Bool {
        let isHandedOver = user != 0 && status.st_uid == 0 && status.st_gid == 0
        return status.st_mode & (isHandedOver ? 0o007 : 0o077) != 0
    }

    /// Replaces the file in one step. When this returns, the bytes outlast a loss of power; when it throws, what was
    /// there before still is.
    package func write(_ bytes: [UInt8]) throws(TokenFileError) {
        let fresh = "\(path).new"
        unlink(fresh)
        let file = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw unwritable }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            guard count > 0 else { break }
            rest = rest.dropFirst(count)
        }
        let isWhole = rest.isEmpty && fsync(file) == 0
        let failure = unwritable
        guard close(file) == 0, isWhole else {
            unlink(fresh)
            throw failure
        }
        guard rename(fresh, path) == 0, syncFolder() else { throw unwritable }
    }

    /// The new name is on disk only when its folder is.
    private func syncFolder() -> Bool {
        let end = path.lastIndex(of: "/")
        let folder = open(end.map { String(path[...$0]) } ?? ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return false }
        defer { close(folder) }
        return fsync(folder) == 0
    }

    private var unwritable: TokenFileError {
        TokenFileError(message: "\(path) cannot be written (\(Self.reason)); check its folder and the free space")
    }

    private static var reason: String { String(cString: strerror(errno)) }
}

/// A file with a token or key that cannot be used; the message says why and what to do.
package struct TokenFileError: Error, Sendable, Equatable {
    package var message: String

    package init(message: String) {
        self.message = message
    }
}
