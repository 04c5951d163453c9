import Foundation
import Glibc

/// A file that is replaced as a whole: a reader, and whoever comes after a crash, finds the old text or the new, never a
/// part of either. Only its owner may read it.
struct MirrorFile {
    let path: String

    private static let bufferSize = 1 << 16

    /// Calls `body` with what takes the text, piece by piece; nothing has changed where it throws.
    func write(_ body: (_ piece: @escaping (String) throws -> Void) throws -> Void) throws {
        let fresh = "\(path).new"
        let file = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure("made", fresh) }
        do {
            defer { close(file) }
            var buffer: [UInt8] = []
            func flush() throws {
                var rest = buffer[...]
                while !rest.isEmpty {
                    let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
                    guard count >= 0 else { throw failure("written", fresh) }
                    rest = rest.dropFirst(count)
                }
                buffer.removeAll(keepingCapacity: true)
            }
            try body { piece in
                buffer += piece.utf8
                if buffer.count >= Self.bufferSize { try flush() }
            }
            try flush()
            guard fsync(file) == 0 else { throw failure("written", fresh) }
        }
        guard rename(fresh, path) == 0 else { throw failure("replaced", path) }
        try syncFolder()
    }

    /// The new name is on disk, too.
    private func syncFolder() throws {
        let folder = open((path as NSString).deletingLastPathComponent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw failure("opened", path) }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw failure("written", path) }
    }

    private func failure(_ what: String, _ path: String) -> MirrorError {
        MirrorError(message: "\(path) cannot be \(what) (\(String(cString: strerror(errno)))); check mirror.directory")
    }
}

/// A mirror that cannot be written or read; the message says why and what to do.
struct MirrorError: Error, CustomStringConvertible {
    var message: String

    var description: String { message }
}
