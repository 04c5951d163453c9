import Testing

@testable import ResidentMemory

@Suite("Released memory")
struct FileMappingTests {
    private func smaps(_ mapping: String, anonymous: Int) -> String {
        """
        \(mapping)
        Size:               1024 kB
        Rss:                 512 kB
        Anonymous:        \(anonymous) kB
        VmFlags: rd ex mr mw me

        """
    }

    private static let library = "7f0000001000-7f0000003000 r-xp 00001000 fe:00 42         /usr/lib/libc.so.6"

    @Test("unmodified file mappings can be released")
    func untouched() {
        let text = smaps(Self.library, anonymous: 0) + smaps(Self.library.replacing("7f", with: "7e"), anonymous: 0)
        #expect(
            FileMappings.untouched(in: text)
                == [0x7f00_0000_1000..<0x7f00_0000_3000, 0x7e00_0000_1000..<0x7e00_0000_3000])
    }

    @Test(
        "private pages and pages not backed by a file are kept",
        arguments: [
            ("7f0000001000-7f0000003000 r--p 00001000 fe:00 42 /usr/lib/libc.so.6", 4),
            ("7f0000001000-7f0000003000 rw-p 00001000 fe:00 42 /usr/lib/libc.so.6", 0),
            ("7f0000001000-7f0000003000 rw-s 00001000 fe:00 42 /var/lib/cache.db-shm", 0),
            ("7f0000001000-7f0000003000 r--s 00001000 fe:00 42 /var/lib/cache.db-shm", 0),
            ("7f0000001000-7f0000003000 r--p 00000000 00:00 0 ", 0),
            ("7f0000001000-7f0000003000 r-xp 00000000 00:00 0 [vdso]", 0), ("no mapping at all /x y z", 0),
        ])
    func stays(_ mapping: String, _ anonymous: Int) {
        #expect(FileMappings.untouched(in: smaps(mapping, anonymous: anonymous)).isEmpty)
    }

    @Test("the process keeps working")
    func keepsWorking() {
        let before = (0..<1000).map { "\($0)" }
        ResidentMemory.release()
        #expect(before.count == 1000 && before.last == "999")
    }
}
