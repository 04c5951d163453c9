internal import JSONText

/// Puts `…` in the place of secrets in a text, however an upstream may have written them.
///
/// Only for errors: it goes through the text several times for each secret. The upstream decides how long the secrets of
/// its records are, and how many: of a long one only the beginning is looked for, and a text about too many is not shown.
struct SecretScrubber {
    /// As many layers of escapes are looked through.
    private static let layers = 3
    /// In Unicode scalars. An error is shorter, so it holds no more than the beginning of a longer secret, and a mark where
    /// it was cut.
    private static let longest = 4096
    private static let most = 4000
    /// Of all together; a hundred times as much memory is needed for each of them in turn.
    private static let mostBytes = 256 << 10
    static let unsearched =
        "what the upstream answered is not shown, because the record has more secrets than can be looked for in it"

    /// Nil if there are too many.
    private let secrets: Set<String>?

    init(_ secrets: [String]) {
        var distinct: Set<String> = []
        var bytes = 0
        for secret in secrets.lazy.map({ String($0.start(scalars: Self.longest)) }) where !distinct.contains(secret) {
            distinct.insert(secret)
            bytes += secret.utf8.count
            if distinct.count > Self.most || bytes > Self.mostBytes {
                self.secrets = nil
                return
            }
        }
        self.secrets = distinct
    }

    /// The same text when it has none of the secrets.
    func scrubbed(_ text: String) -> String {
        guard let secrets else { return Self.unsearched }
        guard !secrets.isEmpty else { return text }
        let haystacks = Self.haystacks(text)
        let found = secrets.flatMap { secret in
            let forms = SecretForm.all(of: secret)
            return haystacks.flatMap { haystack in
                haystack.text.places(of: forms.filter { $0.isExact == haystack.isExact })
            }
        }
        return Self.text(text, without: found)
    }

    /// The text under each layer of its escapes, for forms that are exact and for those that are not.
    private static func haystacks(_ text: String) -> [(text: Haystack, isExact: Bool)] {
        var found: [(text: Haystack, isExact: Bool)] = []
        var layer = TracedText(text.utf8)
        for _ in 0...layers {
            for isExact in [true, false] {
                found.append((Haystack(layer.folded(ignoringCase: !isExact, keepingSpaces: isExact)), isExact))
            }
            let next = layer.decoded()
            if next.bytes.count == layer.bytes.count { break }
            layer = next
        }
        return found
    }

    private static func text(_ text: String, without found: [Range<Int>]) -> String {
        guard !found.isEmpty else { return text }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var end = 0
        for range in found.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            guard range.lowerBound >= end else {
                end = max(end, range.upperBound)
                continue
            }
            result += bytes[end..<range.lowerBound] + Haystack.mark
            end = range.upperBound
        }
        return String(decoding: result + bytes[end...], as: UTF8.self)
    }
}

/// A text in which forms of secrets are looked up.
private struct Haystack {
    static let mark = Array("…".utf8)
    /// With which texts are cut off.
    private static let cuts = [mark, Array("...".utf8)]

    private let text: TracedText
    private var bytes: [UInt8] { text.bytes }
    /// Where each byte stands.
    private var positions: [[Int]]

    init(_ text: TracedText) {
        self.text = text
        positions = [[Int]](repeating: [], count: 256)
        for (index, byte) in text.bytes.enumerated() { positions[Int(byte)].append(index) }
    }

    /// The parts of the original that hold one of these, whole or cut off.
    func places(of forms: [SecretForm]) -> [Range<Int>] {
        let cuts = Self.cuts.flatMap { cut in
            positions[Int(cut[0])].filter { holds(cut[...], at: $0) }.map { $0..<($0 + cut.count) }
        }
        return forms.flatMap { form in
            let whole = positions[Int(form.bytes[0])].filter { isWhole(form, at: $0) }
                .map { text.source(of: $0..<($0 + form.bytes.count)) }
            return whole + cuts.compactMap { beginning(of: form, before: $0) }
        }
    }

    private func holds(_ part: ArraySlice<UInt8>, at start: Int) -> Bool {
        start >= 0 && start + part.count <= bytes.count && bytes[start..<(start + part.count)] == part
    }

    private func isWhole(_ form: SecretForm, at start: Int) -> Bool {
        guard holds(form.bytes[...], at: start) else { return false }
        guard form.isExact else { return true }
        let end = start + form.bytes.count
        let goesOnBefore = start > 0 && Self.isOneWord(bytes[start - 1], bytes[start])
        let goesOnAfter = end < bytes.count && Self.isOneWord(bytes[end - 1], bytes[end])
        return !goesOnBefore && !goesOnAfter
    }

    /// Whether both are letters, or both are digits.
    private static func isOneWord(_ one: UInt8, _ other: UInt8) -> Bool {
        func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
        func isLetter(_ byte: UInt8) -> Bool { byte >= 0x80 && byte != mark[0] || (0x61...0x7A).contains(byte | 0x20) }
        return isDigit(one) && isDigit(other) || isLetter(one) && isLetter(other)
    }

    /// What a text that was cut at `cut` still has of a secret, with the mark; nil if that is too little to reveal
    /// anything.
    private func beginning(of form: SecretForm, before cut: Range<Int>) -> Range<Int>? {
        let longest = min(form.bytes.count - 1, cut.lowerBound)
        guard longest >= form.leastRevealing else { return nil }
        let count = (form.leastRevealing...longest).reversed().first {
            holds(form.bytes[..<$0], at: cut.lowerBound - $0)
        }
        return count.map { text.source(of: (cut.lowerBound - $0)..<cut.upperBound) }
    }
}
