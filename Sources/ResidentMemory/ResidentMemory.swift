internal import CLinux
internal import Glibc

/// Reduces this process's resident memory.
package enum ResidentMemory {
    /// Call it before the first thread starts. With a heap per thread, each heap would keep its peak size. And once a
    /// block of several megabytes has been freed, glibc takes blocks of that size from the heaps, which then keep them,
    /// unless their size is fixed (mallopt(3), `M_MMAP_THRESHOLD`).
    package static func limitHeaps() {
        _ = clinux_mallopt(Int32(CLINUX_ARENA_MAX), 2)
        _ = clinux_mallopt(Int32(CLINUX_MMAP_THRESHOLD), 1 << 20)
    }

    /// Returns free heap memory and the mapped pages of programs and libraries to the kernel. Most of them were needed
    /// only during the start; the kernel maps pages again from its cache on demand.
    package static func release() {
        _ = clinux_malloc_trim(0)
        guard let text = Self.mappings() else { return }
        for range in FileMappings.untouched(in: text) {
            madvise(UnsafeMutableRawPointer(bitPattern: range.lowerBound), range.count, MADV_DONTNEED)
        }
    }

    private static func mappings() -> String? {
        let file = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 32 << 10)
        while true {
            let count = read(file, &piece, piece.count)
            guard count > 0 else { return count == 0 ? String(decoding: bytes, as: UTF8.self) : nil }
            bytes += piece[..<count]
        }
    }
}
