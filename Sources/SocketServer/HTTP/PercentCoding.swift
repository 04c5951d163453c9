/// Strict percent-decoding (RFC 3986, 2.1).
package enum PercentCoding {
    /// Nil when an escape is malformed or the bytes are not UTF-8.
    package static func decode(_ text: Substring, plusIsSpace: Bool = false) -> String? {
        var text = text
        let isPlain = text.withUTF8 { !$0.contains { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") } }
        guard !isPlain else { return String(text) }
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                let digits = rest.prefix(2)
                guard digits.count == 2, let high = digit(digits.first), let low = digit(digits.last) else {
                    return nil
                }
                bytes.append(high << 4 | low)
                rest = rest.dropFirst(2)
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(0x20)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// The parameters of a query such as `a=1&b=2`, in order; nil when one of them cannot be decoded.
    package static func parameters(_ query: String?) -> [(name: String, value: String)]? {
        var parameters: [(name: String, value: String)] = []
        for part in (query ?? "").utf8.split(separator: UInt8(ascii: "&")) {
            let pair = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decode(Substring(pair[0]), plusIsSpace: true),
                let value = decode(pair.count > 1 ? Substring(pair[1]) : "", plusIsSpace: true)
            else { return nil }
            parameters.append((name, value))
        }
        return parameters
    }

    private static func digit(_ byte: UInt8?) -> UInt8? {
        switch byte {
        case .some(let byte) where (0x30...0x39).contains(byte): byte - 0x30
        case .some(let byte) where (0x61...0x66).contains(byte | 0x20): (byte | 0x20) - 0x61 + 10
        default: nil
        }
    }
}
