/// Parses the kernel's list of a process's mappings (proc_pid_smaps(5)).
enum FileMappings {
    /// The read-only file mappings without private pages: the kernel can read all of their pages from the file again.
    static func untouched(in smaps: String) -> [Range<UInt>] {
        var ranges: [Range<UInt>] = []
        var candidate: Range<UInt>?
        // An array: the list has hundreds of kilobytes, and to walk over a text's view of them takes many times as long.
        for line in Array(smaps.utf8).split(separator: UInt8(ascii: "\n")) {
            if line.starts(with: anonymous) {
                if let candidate, words(line).dropFirst().first == [UInt8(ascii: "0")] { ranges.append(candidate) }
                candidate = nil
            } else if let first = line.first, !capitals.contains(first) {
                candidate = mapping(words(line))
            }
        }
        return ranges
    }

    /// Each mapping has about 25 field lines, which begin with a capital; only one of them matters.
    private static let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
    private static let anonymous = Array("Anonymous:".utf8)

    private static func words(_ line: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        line.split(separator: UInt8(ascii: " "))
    }

    /// Parses `7f10-7f20 r-xp 00000000 fe:00 42 /usr/lib/libc.so.6`; nil unless it is a private read-only file mapping.
    private static func mapping(_ words: [ArraySlice<UInt8>]) -> Range<UInt>? {
        guard words.count > 5, words[5].first == UInt8(ascii: "/"), words[1].last == UInt8(ascii: "p"),
            !words[1].contains(UInt8(ascii: "w"))
        else { return nil }
        let ends = words[0].split(separator: UInt8(ascii: "-")).compactMap {
            UInt(String(decoding: $0, as: UTF8.self), radix: 16)
        }
        return ends.count == 2 && ends[0] < ends[1] ? ends[0]..<ends[1] : nil
    }
}
