import Glibc

/// The character classes of RFC 9110 and RFC 3986 that the server accepts and sends.
enum Grammar {
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let space = UInt8(ascii: " ")
    static let tab = UInt8(ascii: "\t")

    /// `tchar` (RFC 9110, 5.6.2).
    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// `token` (RFC 9110, 5.6.2): never empty.
    static func isToken(_ bytes: some Collection<UInt8>) -> Bool { !bytes.isEmpty && bytes.allSatisfy(isTokenByte) }

    /// The same for bytes in memory. Nearly all names are of letters, digits and hyphens; without a branch at each byte, the
    /// compiler checks many of them at once.
    static func isToken(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var others: UInt8 = 0
        for byte in bytes {
            let isLetter: UInt8 = (byte | 0x20) &- 0x61 < 26 ? 1 : 0
            let isDigit: UInt8 = byte &- 0x30 < 10 ? 1 : 0
            let isHyphen: UInt8 = byte == UInt8(ascii: "-") ? 1 : 0
            others |= 1 ^ (isLetter | isDigit | isHyphen)
        }
        return !bytes.isEmpty && (others == 0 || bytes.allSatisfy(isTokenByte))
    }

    /// Whether all bytes are allowed in a field value, checked in the same way.
    static func isValue(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var wrong: UInt8 = 0
        for byte in bytes {
            wrong |= (byte < 0x20 ? 1 : 0) & (byte == tab ? 0 : 1) | (byte == 0x7F ? 1 : 0)
        }
        return wrong == 0
    }

    /// Checked in the same way.
    static func isASCII(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool { bytes.reduce(0, |) < 0x80 }

    /// Whether bytes are those of a text.
    static func same(_ bytes: Slice<UnsafeBufferPointer<UInt8>>, _ text: StaticString) -> Bool {
        let bytes = UnsafeBufferPointer(rebasing: bytes)
        guard bytes.count == text.utf8CodeUnitCount, let start = bytes.baseAddress else { return false }
        return memcmp(start, text.utf8Start, bytes.count) == 0
    }

    /// A byte allowed in a field value (RFC 9110, 5.5): no control character except the tab.
    static func isValueByte(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7F || byte == tab }

    /// A byte allowed in a path or query (RFC 3986, 3.3 and 3.4), except `%`; the caller handles `?`.
    static func isTargetByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "@")...UInt8(ascii: "Z"),
            UInt8(ascii: "&")...UInt8(ascii: ";"):
            true
        case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "="), UInt8(ascii: "_"), UInt8(ascii: "~"),
            UInt8(ascii: "?"):
            true
        default: false
        }
    }

    static func hexDigit(_ byte: UInt8) -> Int? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(byte - UInt8(ascii: "a")) + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): Int(byte - UInt8(ascii: "A")) + 10
        default: nil
        }
    }

    /// `uri-host [ ":" port ]` (RFC 9110, 7.2), never empty: a name or address by its characters, a port of digits.
    static func isHost(_ value: consuming String) -> Bool { value.withUTF8 { isHost($0) } }

    private static func isHost(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let name: Slice<UnsafeBufferPointer<UInt8>>
        let rest: Slice<UnsafeBufferPointer<UInt8>>
        if bytes.first == UInt8(ascii: "[") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return false }
            name = bytes[bytes.index(after: bytes.startIndex)..<end]
            rest = bytes[bytes.index(after: end)...]
            guard name.allSatisfy({ hexDigit($0) != nil || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") })
            else { return false }
        } else {
            let end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
            name = bytes[..<end]
            rest = bytes[end...]
            guard name.allSatisfy(isHostByte) else { return false }
        }
        guard let colon = rest.first else { return !name.isEmpty }
        return !name.isEmpty && colon == UInt8(ascii: ":") && rest.dropFirst().allSatisfy(isDigit)
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "#"), UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "|"): false
        default: isTokenByte(byte)
        }
    }

    static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    static func lowercase(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
    }
}
