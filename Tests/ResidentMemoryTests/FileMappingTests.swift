import Testing

@testable import ResidentMemory

@Suite("Memory that is given back")
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

    @Test("what is mapped of a file and nobody has written to can go")
    func untouched() {
        let text = smaps(Self.library, anonymous: 0) + smaps(Self.library.replacing("7f", with: "7e"), anonymous: 0)
        #expect(
            FileMappings.untouched(in: text)
                == [0x7f00_0000_1000..<0x7f00_0000_3000, 0x7e00_0000_1000..<0x7e00_0000_3000])
    }

    @Test(
        "what is the process's own, or not to be read again from a file, stays",
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

    @Test("a process goes on as before")
    func goesOn() {
        let before = (0..<1000).map { "\($0)" }
        ResidentMemory.giveBack()
        #expect(before.count == 1000 && before.last == "999")
    }
}
