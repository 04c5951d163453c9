/// Reads what the kernel says of a process's mappings (proc_pid_smaps(5)).
enum FileMappings {
    /// The mappings of files that nobody may write to and of which this process has no pages of its own: all of them can be
    /// read from the file again.
    static func untouched(in smaps: String) -> [Range<UInt>] {
        var ranges: [Range<UInt>] = []
        var candidate: Range<UInt>?
        for line in smaps.split(separator: "\n") {
            let words = line.split(separator: " ", omittingEmptySubsequences: true)
            guard let name = words.first else { continue }
            if name == "Anonymous:" {
                if let candidate, words.count > 1, words[1] == "0" { ranges.append(candidate) }
                candidate = nil
            } else if !name.hasSuffix(":") {
                candidate = mapping(words)
            }
        }
        return ranges
    }

    /// `7f10-7f20 r-xp 00000000 fe:00 42 /usr/lib/libc.so.6`; nil for one that is not a file's, is written to or is shared.
    private static func mapping(_ words: [Substring]) -> Range<UInt>? {
        guard words.count > 5, words[5].hasPrefix("/"), words[1].hasSuffix("p"), !words[1].contains("w") else {
            return nil
        }
        let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        return ends.count == 2 && ends[0] < ends[1] ? ends[0]..<ends[1] : nil
    }
}
