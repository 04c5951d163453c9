import Foundation
import Glibc
import SystemCalls

/// A file that is replaced atomically: even after a crash it has the old text or the new. Readable only by its owner.
struct MirrorFile {
    let path: String

    private static let bufferSize = 1 << 16
    /// What is read is held about three times.
    private static let room = max(sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE)) / 4, 1 << 26)

    /// Calls `body` with a function that appends text. The file is unchanged when this throws.
    func write(_ body: (_ piece: @escaping (String) throws -> Void) throws -> Void) throws {
        let fresh = "\(path).new"
        // Left by a crash. The new file must be ours alone: another one, or a link, could lead anywhere.
        unlink(fresh)
        let file = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure("create", fresh) }
        do {
            defer { close(file) }
            var buffer: [UInt8] = []
            func flush() throws {
                guard Files.write(buffer, to: file) else { throw failure("write", fresh) }
                buffer.removeAll(keepingCapacity: true)
            }
            try body { piece in
                buffer += piece.utf8
                if buffer.count >= Self.bufferSize { try flush() }
            }
            try flush()
            guard fsync(file) == 0 else { throw failure("write", fresh) }
        }
        guard rename(fresh, path) == 0 else { throw failure("replace", path) }
        guard Files.syncFolder(of: path) else { throw failure("write", path) }
    }

    /// The whole file. Throws for what is no file, such as a pipe, whose reader would wait for a writer, and for one of holes,
    /// which takes no disk and all memory.
    func contents() throws -> Data {
        let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { throw MirrorError(message: SystemError.last.description) }
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        guard let status = stat(of: file), status.isFile else {
            throw MirrorError(message: "it is not a file")
        }
        guard status.st_size <= Self.room else {
            throw MirrorError(message: "it has \(status.st_size) bytes, more than a fourth of this machine's memory")
        }
        return try handle.readToEnd() ?? Data()
    }

    private func failure(_ action: String, _ path: String) -> MirrorError {
        MirrorError(message: "cannot \(action) \(path) (\(SystemError.last)); check mirror.directory")
    }
}

/// Why a mirror cannot be written or read, and what to do.
struct MirrorError: Error, CustomStringConvertible {
    var message: String

    var description: String { message }
}
