/// Bytes that were decoded from a text, each with the part of that text that it came from.
struct TracedText {
    private(set) var bytes: [UInt8] = []
    private var sources: [Range<Int>] = []

    private init() {}

    init(_ text: some Sequence<UInt8>) {
        for (index, byte) in text.enumerated() { append(byte, index..<(index + 1)) }
    }

    /// The part of the text, in bytes, that these bytes came from.
    func source(of range: Range<Int>) -> Range<Int> {
        sources[range.lowerBound].lowerBound..<sources[range.upperBound - 1].upperBound
    }

    private mutating func append(_ byte: UInt8, _ source: Range<Int>) {
        bytes.append(byte)
        sources.append(source)
    }

    /// With one layer of escapes decoded: those of URLs, HTML and JSON. Fewer bytes when there were any.
    func decoded() -> TracedText {
        map { rest in
            switch rest[rest.startIndex] {
            case UInt8(ascii: "%"): Escape.url(rest)
            case UInt8(ascii: "&"): Escape.html(rest)
            case UInt8(ascii: "\\"): Escape.json(rest)
            default: nil
            }
        }
    }

    /// The same for all cases if `ignoringCase`, and with one space for all white space in a row, or none.
    func folded(ignoringCase: Bool, keepingSpaces: Bool) -> TracedText {
        var isAfterSpace = false
        return map { rest in
            guard let (scalar, length) = Self.scalar(rest) else { return nil }
            defer { isAfterSpace = scalar.properties.isWhitespace }
            if scalar.properties.isWhitespace {
                return (keepingSpaces && !isAfterSpace ? [UInt8(ascii: " ")] : [], length)
            }
            let text = ignoringCase ? Self.withoutCase(scalar) : String(scalar)
            return (Array(text.utf8), length)
        }
    }

    /// From the capital, so that `ß` is like `SS`, and `ς` like `σ`.
    private static func withoutCase(_ scalar: Unicode.Scalar) -> String {
        if scalar.isASCII { return scalar.properties.lowercaseMapping }
        return scalar.properties.uppercaseMapping.unicodeScalars.map(\.properties.lowercaseMapping).joined()
    }

    /// Replaces what `read` finds at the beginning of the rest: what to put there, and for how many bytes. A byte for which
    /// it returns nil is kept.
    private func map(_ read: (ArraySlice<UInt8>) -> (bytes: [UInt8], length: Int)?) -> TracedText {
        var result = TracedText()
        var index = 0
        while index < bytes.count {
            if let (found, length) = read(bytes[index...]) {
                let source = source(of: index..<(index + length))
                for byte in found { result.append(byte, source) }
                index += length
            } else {
                result.append(bytes[index], sources[index])
                index += 1
            }
        }
        return result
    }

    /// The character at the beginning, and how many bytes it has; nil for a byte that begins none.
    private static func scalar(_ bytes: ArraySlice<UInt8>) -> (Unicode.Scalar, length: Int)? {
        let first = bytes[bytes.startIndex]
        if first < 0x80 { return (Unicode.Scalar(first), 1) }
        let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
        let text = bytes.prefix(length)
        guard first >= 0xC2, text.count == length, let valid = String(validating: text, as: UTF8.self),
            let scalar = valid.unicodeScalars.first, valid.unicodeScalars.count == 1
        else { return nil }
        return (scalar, length)
    }
}
