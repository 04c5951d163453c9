/// Decodes one escape at the beginning of some bytes: what it stands for, and how many bytes it has. Nil when there is none.
enum Escape {
    typealias Decoded = (bytes: [UInt8], length: Int)

    /// `%2F` (RFC 3986, 2.1).
    static func url(_ bytes: ArraySlice<UInt8>) -> Decoded? {
        number(bytes.dropFirst().prefix(2), radix: 16, digits: 2).map { ([UInt8($0.value)], 3) }
    }

    private static let entities: [(name: String, byte: UInt8)] = [
        ("amp;", UInt8(ascii: "&")), ("lt;", UInt8(ascii: "<")), ("gt;", UInt8(ascii: ">")),
        ("quot;", UInt8(ascii: "\"")), ("apos;", UInt8(ascii: "'")), ("nbsp;", UInt8(ascii: " ")),
    ]

    /// `&amp;`, `&#38;`, `&#x26;`; numbers also without the semicolon, which browsers do not need.
    static func html(_ bytes: ArraySlice<UInt8>) -> Decoded? {
        let rest = bytes.dropFirst()
        guard rest.first == UInt8(ascii: "#") else {
            let found = entities.first { rest.starts(with: $0.name.utf8) }
            return found.map { ([$0.byte], 1 + $0.name.utf8.count) }
        }
        let isHex = rest.dropFirst().first.map { $0 | 0x20 == UInt8(ascii: "x") } ?? false
        let prefix = isHex ? 3 : 2
        guard let (value, count) = number(bytes.dropFirst(prefix).prefix(7), radix: isHex ? 16 : 10, digits: 1),
            let scalar = Unicode.Scalar(value)
        else { return nil }
        let end = bytes.dropFirst(prefix + count).first == UInt8(ascii: ";") ? 1 : 0
        return (Array(String(scalar).utf8), prefix + count + end)
    }

    /// `\/`, `\n`, `\u002f` and pairs of surrogates (RFC 8259, 7).
    static func json(_ bytes: ArraySlice<UInt8>) -> Decoded? {
        guard let letter = bytes.dropFirst().first else { return nil }
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return ([letter], 2)
        case UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"), UInt8(ascii: "b"), UInt8(ascii: "f"):
            return ([UInt8(ascii: " ")], 2)
        case UInt8(ascii: "u"): return unicode(bytes)
        default: return nil
        }
    }

    private static func unicode(_ bytes: ArraySlice<UInt8>) -> Decoded? {
        guard let first = number(bytes.dropFirst(2).prefix(4), radix: 16, digits: 4)?.value else { return nil }
        if let scalar = Unicode.Scalar(first) { return (Array(String(scalar).utf8), 6) }
        let next = bytes.dropFirst(6)
        guard next.starts(with: "\\u".utf8),
            let second = number(next.dropFirst(2).prefix(4), radix: 16, digits: 4)?.value,
            (0xD800..<0xDC00).contains(first), (0xDC00..<0xE000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
        else { return nil }
        return (Array(String(scalar).utf8), 12)
    }

    /// The number at the beginning, if it has at least `least` digits.
    private static func number(
        _ bytes: ArraySlice<UInt8>, radix: UInt32, digits least: Int
    ) -> (value: UInt32, count: Int)? {
        var (value, count) = (UInt32(0), 0)
        read: for byte in bytes {
            let digit: UInt8
            switch byte {
            case 0x30...0x39: digit = byte - 0x30
            case 0x41...0x46: digit = byte - 0x41 + 10
            case 0x61...0x66: digit = byte - 0x61 + 10
            default: break read
            }
            guard digit < radix else { break }
            value = value * radix + UInt32(digit)
            count += 1
        }
        return count >= least ? (value, count) : nil
    }
}
