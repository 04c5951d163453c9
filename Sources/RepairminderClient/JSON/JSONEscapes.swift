/// The escapes in text of JSON.
enum JSONEscapes {
    /// An escape that JSON does not have, or bytes that are not UTF-8.
    struct Failure: Error {}

    private static let short: [UInt8: UInt8] = [
        UInt8(ascii: "\""): UInt8(ascii: "\""), UInt8(ascii: "\\"): UInt8(ascii: "\\"),
        UInt8(ascii: "/"): UInt8(ascii: "/"),
        UInt8(ascii: "b"): 0x08, UInt8(ascii: "f"): 0x0C, UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D,
        UInt8(ascii: "t"): 0x09,
    ]

    /// The text between the quotes; nil if half of a surrogate pair is missing, which no `String` can hold.
    static func text(of literal: ArraySlice<UInt8>) throws(Failure) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(literal.count)
        var rest = literal
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            guard let kind = rest.popFirst() else { throw Failure() }
            if kind == UInt8(ascii: "u") {
                guard let scalar = try scalar(&rest) else { return nil }
                bytes += Array(String(Character(scalar)).utf8)
            } else {
                guard let meant = short[kind] else { throw Failure() }
                bytes.append(meant)
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Failure() }
        return text
    }

    /// The character whose `\u` was read; nil if it is half of a pair.
    private static func scalar(_ rest: inout ArraySlice<UInt8>) throws(Failure) -> Unicode.Scalar? {
        let first = try unit(&rest)
        guard UTF16.isLeadSurrogate(first) else { return Unicode.Scalar(first) }
        guard rest.starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]) else { return nil }
        rest.removeFirst(2)
        let second = try unit(&rest)
        guard UTF16.isTrailSurrogate(second) else { return nil }
        return Unicode.Scalar(0x10000 + (UInt32(first) - 0xD800) * 0x400 + (UInt32(second) - 0xDC00))
    }

    private static func unit(_ rest: inout ArraySlice<UInt8>) throws(Failure) -> UInt16 {
        let digits = rest.prefix(4)
        guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw Failure() }
        rest.removeFirst(4)
        return unit
    }

    /// Text as JSON, with its quotes.
    static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0x0A: bytes += Array(#"\n"#.utf8)
            case 0x0D: bytes += Array(#"\r"#.utf8)
            case 0x09: bytes += Array(#"\t"#.utf8)
            case ..<0x20:
                bytes += Array((byte < 0x10 ? #"\u000"# : #"\u00"#).utf8)
                bytes += Array(String(byte, radix: 16).utf8)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
