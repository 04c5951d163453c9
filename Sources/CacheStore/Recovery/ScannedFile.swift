internal import Glibc
internal import SystemCalls

/// A database file or its log, read piece by piece, because it can be larger than the memory.
///
/// It is not mapped into memory: a page that the disk cannot read would then end the process.
final class ScannedFile {
    /// As pread(2).
    typealias Read = (_ file: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int, _ offset: off_t) -> Int

    /// In bytes, when the file was opened.
    let size: Int
    private let descriptor: Int32
    private let read: Read

    /// Nil if the file cannot be opened, or is none.
    init?(path: String, read: @escaping Read = { pread($0, $1, $2, $3) }) {
        let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        guard let status = stat(of: file), status.isFile else {
            close(file)
            return nil
        }
        descriptor = file
        self.read = read
        size = status.st_size
    }

    deinit { close(descriptor) }

    /// The first place at or after `offset` that is in no hole; nil if there is none.
    func data(from offset: Int) -> Int? { offset < size ? FileHoles.data(in: descriptor, from: offset) : nil }

    /// See `FileHoles`.
    var isHollow: Bool { FileHoles.isHollow(descriptor, size: size) }

    /// Nil unless all of them can be read.
    func bytes(at offset: Int, count: Int) -> [UInt8]? {
        guard offset >= 0, offset + count <= size else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        return read(descriptor, &bytes, count, off_t(offset)) == count ? bytes : nil
    }
}
