internal import CLinux
internal import Glibc

/// What this process holds in memory and could do without.
package enum ResidentMemory {
    /// Called before the first thread is started. A heap for every thread would keep what each once needed.
    package static func limitHeaps() { _ = clinux_mallopt(Int32(CLINUX_ARENA_MAX), 2) }

    /// Gives the kernel back what is free on the heap, and what is mapped of programs and libraries: what is needed of them
    /// again, the kernel maps again from its cache. Most of it only starting needed.
    package static func giveBack() {
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
