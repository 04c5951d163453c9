internal import Glibc

/// What several modules do with files.
package enum Files {
    /// Replaces a file in one step. When this returns, the bytes are on disk; when it throws, the old file is still there.
    ///
    /// Not for two at once: they would take each other's new file.
    package static func replace(_ path: String, with bytes: [UInt8], mode: UInt32 = 0o600) throws(SystemError) {
        let fresh = "\(path).new"
        // Left by a crash. The new file must be ours alone: another one, or a link, could lead anywhere.
        unlink(fresh)
        let file = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard file >= 0 else { throw .last }
        // `open` leaves out what the umask of this process does.
        let isWhole = fchmod(file, mode) == 0 && write(bytes, to: file) && fsync(file) == 0
        let failure = SystemError.last
        guard close(file) == 0, isWhole else {
            unlink(fresh)
            throw failure
        }
        guard rename(fresh, path) == 0, syncFolder(of: path) else { throw .last }
    }

    /// Writes all of it; false if that failed, and `SystemError.last` says why.
    package static func write(_ bytes: [UInt8], to file: Int32) -> Bool {
        bytes.withUnsafeBytes { write($0, to: file) }
    }

    package static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Glibc.write(file, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            guard count > 0 || errno == EINTR else { return false }
            rest = rest.dropFirst(max(count, 0))
        }
        return true
    }

    /// The path without links; nil if it leads nowhere.
    package static func realPath(of path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    /// Makes a new name of a file, or its removal, durable: it is on disk only once the file's folder is. False if that failed,
    /// and `SystemError.last` says why.
    package static func syncFolder(of path: String) -> Bool {
        let folder = openFolder(of: path)
        guard folder >= 0 else { return false }
        defer { close(folder) }
        return fsync(folder) == 0
    }

    /// The folder of a file; negative if it cannot be opened, and `SystemError.last` says why.
    package static func openFolder(of path: String) -> Int32 {
        let copy = strdup(path)
        defer { free(copy) }
        return open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }
}
