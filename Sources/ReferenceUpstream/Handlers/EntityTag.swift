internal import JSONText

/// A record's entity tag (RFC 9110, 8.8.3): the same for the same bytes.
struct EntityTag: Equatable {
    let text: String

    init(of record: JSONText) {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in record.bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        text = "\"\(String(hexadecimal: hash, digits: 16))\""
    }

    /// Whether an If-Match field has this tag. Compares strongly, so a weak tag never matches (RFC 9110, 13.1.1).
    func isStronglyIn(_ field: String) -> Bool { Self.tags(field).contains { $0 == "*" || $0 == text } }

    /// Whether an If-None-Match field has this tag. Compares weakly (RFC 9110, 13.1.2).
    func isWeaklyIn(_ field: String) -> Bool {
        Self.tags(field).contains { $0 == "*" || $0 == text || $0 == "W/\(text)" }
    }

    private static func tags(_ field: String) -> [String] {
        field.split(separator: ",").map { tag in
            String(tag.drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
        }
    }
}
