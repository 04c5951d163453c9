internal import Glibc

/// Escapes in JSON strings (RFC 8259, section 7), in both directions.
enum JSONEscapes {
    /// Decodes the inside of a validated string with at least one escape.
    static func decode(_ bytes: ArraySlice<UInt8>) -> String {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        bytes.withUnsafeBufferPointer { bytes in
            var rest = bytes[...]
            // As a whole up to the next escape: byte by byte, a text of a megabyte takes a tenth of a second.
            while let escape = backslash(in: rest) {
                decoded.append(contentsOf: UnsafeBufferPointer(rebasing: rest[..<escape]))
                rest = rest[(escape + 1)...]
                take(&rest, to: &decoded)
            }
            decoded.append(contentsOf: UnsafeBufferPointer(rebasing: rest))
        }
        return String(decoding: decoded, as: UTF8.self)
    }

    private static func backslash(in rest: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
        let part = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: rest))
        guard let start = part.baseAddress, let found = memchr(start, 0x5C, part.count) else { return nil }
        return rest.startIndex + (UnsafeRawPointer(found) - start)
    }

    /// Takes what follows a backslash.
    private static func take(_ rest: inout Slice<UnsafeBufferPointer<UInt8>>, to decoded: inout [UInt8]) {
        guard let escape = rest.popFirst() else { return decoded.append(UInt8(ascii: "\\")) }
        guard escape == UInt8(ascii: "u") else { return decoded.append(single(escape)) }
        let unit = takeUnit(&rest)
        if UTF16.isLeadSurrogate(unit), rest.starts(with: "\\u".utf8) {
            var after = rest.dropFirst(2)
            let trail = takeUnit(&after)
            if UTF16.isTrailSurrogate(trail) {
                rest = after
                return decoded.append(contentsOf: UTF16.decode(UTF16.EncodedScalar([unit, trail])).utf8)
            }
        }
        decoded.append(contentsOf: (Unicode.Scalar(unit) ?? "\u{FFFD}").utf8)
    }

    private static func takeUnit(_ rest: inout Slice<UnsafeBufferPointer<UInt8>>) -> UInt16 {
        defer { rest = rest.dropFirst(4) }
        return UInt16(String(decoding: rest.prefix(4), as: UTF8.self), radix: 16) ?? 0xFFFD
    }

    /// Whether the inside of a validated string has half of a surrogate pair without the other half.
    static func hasLoneSurrogate(_ bytes: ArraySlice<UInt8>) -> Bool {
        var awaitsTrail = false
        var rest = bytes
        while let byte = rest.popFirst() {
            var unit: UInt16 = 0
            if byte == UInt8(ascii: "\\"), rest.popFirst() == UInt8(ascii: "u") {
                unit = UInt16(String(decoding: rest.prefix(4), as: UTF8.self), radix: 16) ?? 0
                rest = rest.dropFirst(4)
            }
            guard UTF16.isTrailSurrogate(unit) == awaitsTrail else { return true }
            awaitsTrail = UTF16.isLeadSurrogate(unit)
        }
        return awaitsTrail
    }

    /// Writes `text` with quotes. Escapes only what must be escaped.
    static func encode(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 2)
        append(text, to: &bytes)
        return bytes
    }

    /// Like `encode`, but appends to `bytes`.
    static func append(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { append(utf8: $0, to: &bytes) }
    }

    static func append(utf8 text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        if isPlain(text) { bytes.append(contentsOf: text) } else { appendInside(text, to: &bytes) }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func appendInside(_ text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
        var rest = text[...]
        while let escape = rest.firstIndex(where: needsEscape) {
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: rest[..<escape]))
            appendEscaped(rest[escape], to: &bytes)
            rest = rest[(escape + 1)...]
        }
        bytes.append(contentsOf: UnsafeBufferPointer(rebasing: rest))
    }

    /// Whether nothing needs an escape, as in most texts; without a branch at each byte, the compiler checks many at once.
    static func isPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var escapes: UInt8 = 0
        for byte in text { escapes |= needsEscape(byte) ? 1 : 0 }
        return escapes == 0
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private static func appendEscaped(_ byte: UInt8, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0..<0x20:
            bytes += "u00".utf8
            for digit in [byte >> 4, byte & 15] { bytes.append(digit < 10 ? 0x30 + digit : 0x57 + digit) }
        default: bytes.append(byte)
        }
    }

    private static func single(_ escape: UInt8) -> UInt8 {
        switch escape {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: escape
        }
    }
}
