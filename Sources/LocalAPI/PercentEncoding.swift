/// Percent-encodes everything but the unreserved characters (RFC 3986, 2.1), so no text can be mistaken for syntax.
enum PercentEncoding {
    /// One segment of a path (RFC 3986, 3.3). Encodes a lone `.` or `..` too, because clients would resolve it.
    static func segment(_ name: String) -> String {
        if name == "." || name == ".." { return String(repeating: "%2E", count: name.count) }
        return encode(name)
    }

    static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isUnreserved(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 0xF)]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: false
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}
