/// Paths of the API, with names that may have any character.
enum PathText {
    /// `/v1/` and the segments, each percent-encoded.
    static func path(_ segments: String...) -> String { "/v1/" + segments.map(segment).joined(separator: "/") }

    /// Encodes a lone `.` or `..` too, because it would lead to another place.
    private static func segment(_ name: String) -> String {
        if name == "." || name == ".." { return String(repeating: "%2E", count: name.count) }
        return encode(name)
    }

    /// Encodes everything but the unreserved characters (RFC 3986, 2.1).
    static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 0xF)]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}
