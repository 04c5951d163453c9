internal import Glibc
internal import SystemCalls

/// A content's file, open for reading. While it is open its bytes do not change, even if the content is removed.
package final class ContentFile: Sendable {
    package let descriptor: Int32
    package let size: Int

    /// Nil when there is no such file, or a link in its place, or it is being overwritten.
    init?(path: String) throws(ContentError) {
        let descriptor = Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ELOOP { return nil }
            throw .failing("read", path)
        }
        // Erasing takes the exclusive lock, and an erased file has no name any more.
        guard flock(descriptor, LOCK_SH | LOCK_NB) == 0, let status = stat(of: descriptor), status.st_nlink > 0 else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
        size = status.st_size
    }

    deinit { close(descriptor) }

    /// Up to `count` bytes from `offset`; fewer at the end.
    package func read(at offset: Int, count: Int) throws(ContentError) -> [UInt8] {
        var failed = false
        let bytes = [UInt8](unsafeUninitializedCapacity: max(0, min(count, size - offset))) { buffer, filled in
            while filled < buffer.count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
                let count = pread(descriptor, rest.baseAddress, rest.count, off_t(offset + filled))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return failed = true }
                filled += count
            }
        }
        guard !failed else { throw .failed("a content's file ended early or could not be read") }
        return bytes
    }
}
