/// What keys of records that are made here look like, if they are no UUIDs.
package enum KeyForm: Sendable, Equatable {
    /// The upstream makes the key; the one made here is never sent.
    case server
    /// `length` of these characters, for upstreams that take no other keys.
    case text(alphabet: [Character], length: Int)

    /// `[a-z0-9]{15}`: characters and ranges, and how many. Nil for anything else, or if two keys could be the same by
    /// chance: there must be 2^60 of them.
    package init?(pattern: String) {
        guard let match = pattern.wholeMatch(of: #/\[([A-Za-z0-9_\-]+)\]\{([0-9]{1,3})\}/#), let length = Int(match.2)
        else { return nil }
        guard length <= 100, let alphabet = Self.alphabet(match.1.utf8), alphabet.count >= 2 else { return nil }
        var count = 1.0
        for _ in 0..<length { count *= Double(alphabet.count) }
        guard count >= 0x1p60 else { return nil }
        self = .text(alphabet: alphabet.map { Character(Unicode.Scalar($0)) }, length: length)
    }

    private static func alphabet(_ text: Substring.UTF8View) -> [UInt8]? {
        var alphabet: Set<UInt8> = []
        var rest = Array(text)[...]
        while let first = rest.popFirst() {
            var last = first
            if rest.count >= 2, rest.first == UInt8(ascii: "-") {
                (last, rest) = (rest[rest.startIndex + 1], rest.dropFirst(2))
            }
            guard first <= last else { return nil }
            let range = (first...last).filter(Self.isLetterOrDigit)
            alphabet.formUnion(first == last ? [first] : range)
        }
        return alphabet.sorted()
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
    }

    /// A key of this form, made of a random text; the same for the same text.
    package func key(from random: String) -> String {
        guard case .text(let alphabet, let length) = self else { return random }
        // FNV-1a with 128 bits, and a shift that spreads the last bytes as well: it keeps what is random in the text.
        var state: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d
        func mix(_ byte: UInt8) {
            state = (state ^ UInt128(byte)) &* 0x0000_0000_0100_0000_0000_0000_0000_013b
            state ^= state >> 59
        }
        for byte in random.utf8 { mix(byte) }
        var key = ""
        for place in 0..<length {
            key.append(alphabet[Int((state >> 64) % UInt128(alphabet.count))])
            mix(UInt8(truncatingIfNeeded: place))
        }
        return key
    }

    /// Whether a caller may give a new record this key.
    package func accepts(_ key: String) -> Bool {
        guard case .text(let alphabet, let length) = self else { return false }
        return key.count == length && key.allSatisfy(alphabet.contains)
    }

    /// What is expected, for the message to a caller whose key is not accepted.
    package var expectation: String {
        switch self {
        case .server: "the upstream makes the key; leave it out"
        case .text(let alphabet, let length):
            "expected a key of \(length) of the characters \(String(alphabet)); leave it out to have one made"
        }
    }
}
