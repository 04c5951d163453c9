/// Reads what the kernel says of a process's mappings (proc_pid_smaps(5)).
enum FileMappings {
    /// The mappings of files that nobody may write to and of which this process has no pages of its own: all of them can be
    /// read from the file again.
    static func untouched(in smaps: String) -> [Range<UInt>] {
        var ranges: [Range<UInt>] = []
        var candidate: Range<UInt>?
        for line in smaps.utf8.split(separator: UInt8(ascii: "\n")) {
            if line.starts(with: anonymous) {
                if let candidate, words(line).dropFirst().first == "0" { ranges.append(candidate) }
                candidate = nil
            } else if let first = line.first, !capitals.contains(first) {
                candidate = mapping(words(line))
            }
        }
        return ranges
    }

    /// Some 25 lines of a mapping hold a field each, whose name begins with a capital; all but one need no second look.
    private static let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
    private static let anonymous = Array("Anonymous:".utf8)

    private static func words(_ line: Substring.UTF8View) -> [Substring] { Substring(line).split(separator: " ") }

    /// `7f10-7f20 r-xp 00000000 fe:00 42 /usr/lib/libc.so.6`; nil for one that is not a file's, is written to or is shared.
    private static func mapping(_ words: [Substring]) -> Range<UInt>? {
        guard words.count > 5, words[5].hasPrefix("/"), words[1].hasSuffix("p"), !words[1].contains("w") else {
            return nil
        }
        let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        return ends.count == 2 && ends[0] < ends[1] ? ends[0]..<ends[1] : nil
    }
}
