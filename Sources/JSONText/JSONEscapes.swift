/// Escapes in JSON strings (RFC 8259, section 7), in both directions.
enum JSONEscapes {
    /// Decodes the inside of a validated string with at least one escape.
    static func decode(_ bytes: ArraySlice<UInt8>) -> String {
        var units: [UInt16] = []
        var plain: [UInt8] = []
        var result = ""
        func flushPlain() {
            result += String(decoding: plain, as: UTF8.self)
            plain.removeAll(keepingCapacity: true)
        }
        func flushUnits() {
            result += String(decoding: units, as: UTF16.self)
            units.removeAll(keepingCapacity: true)
        }
        var rest = bytes
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let escape = rest.popFirst() else {
                flushUnits()
                plain.append(byte)
                continue
            }
            flushPlain()
            if escape == UInt8(ascii: "u") {
                units.append(UInt16(String(decoding: rest.prefix(4), as: UTF8.self), radix: 16) ?? 0xFFFD)
                rest = rest.dropFirst(4)
            } else {
                flushUnits()
                plain.append(single(escape))
            }
        }
        flushUnits()
        flushPlain()
        return result
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
        var rest = text[...]
        if !isPlain(text) {
            while let escape = rest.firstIndex(where: needsEscape) {
                bytes.append(contentsOf: UnsafeBufferPointer(rebasing: rest[..<escape]))
                appendEscaped(rest[escape], to: &bytes)
                rest = rest[(escape + 1)...]
            }
        }
        bytes.append(contentsOf: UnsafeBufferPointer(rebasing: rest))
        bytes.append(UInt8(ascii: "\""))
    }

    /// Whether nothing needs an escape, as in most texts; without a branch at each byte, the compiler checks many at once.
    private static func isPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var escapes: UInt8 = 0
        for byte in text { escapes |= needsEscape(byte) ? 1 : 0 }
        return escapes == 0
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private static func appendEscaped(_ byte: UInt8, to bytes: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
        case 0x0A: bytes += Array("\\n".utf8)
        case 0x0D: bytes += Array("\\r".utf8)
        case 0x09: bytes += Array("\\t".utf8)
        case 0..<0x20:
            let digits = String(byte, radix: 16)
            bytes += Array("\\u00\(digits.count == 1 ? "0" : "")\(digits)".utf8)
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
