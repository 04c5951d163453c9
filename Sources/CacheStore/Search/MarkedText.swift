/// A long text in which FTS5 has marked the words that a search found.
struct MarkedText {
    private let bytes: [UInt8]
    private static let (open, close) = (Array(FragmentMark.open.utf8), Array(FragmentMark.close.utf8))
    private static let ellipsis = Array("…".utf8)
    /// The bytes shown before the first mark, and from it on.
    private static let (before, after) = (40, 160)

    init(_ text: String) { bytes = Array(text.utf8) }

    /// How many words are marked.
    var count: Int { bytes.indices.count { isMark(at: $0) } }

    /// The part around the first mark; nil without one.
    var part: String? { bytes.indices.first(where: isMark).map { part(around: $0) } }

    var beginning: String { part(around: 0) }

    private func isMark(at index: Int) -> Bool {
        bytes[index] == Self.open[0] && bytes[index...].starts(with: Self.open)
    }

    private func part(around mark: Int) -> String {
        var start = max(0, mark - Self.before)
        // From the beginning of a word, if there is one.
        if start > 0 { start = bytes[start..<mark].firstIndex(of: UInt8(ascii: " ")).map { $0 + 1 } ?? mark }
        var end = min(bytes.count, mark + Self.after)
        while end < bytes.count, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        var part = bytes[start..<end]
        let marks = part.indices.count { part[$0...].starts(with: Self.open) }
        let ends = part.indices.count { part[$0...].starts(with: Self.close) }
        if marks > ends { part += Self.close }
        return String(
            decoding: (start > 0 ? Self.ellipsis : []) + part + (end < bytes.count ? Self.ellipsis : []), as: UTF8.self)
    }
}
