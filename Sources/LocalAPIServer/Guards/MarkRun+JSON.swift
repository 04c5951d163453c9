internal import SocketServer

extension MarkRun {
    /// Whether no run of combining marks in JSON is too long, escaped ones included. Text that is no JSON may pass.
    static func areShort(inJSON bytes: [UInt8]) -> Bool {
        guard bytes.contains(where: { $0 >= 0x80 || $0 == UInt8(ascii: "\\") }) else { return true }
        var run = MarkRun()
        var rest = bytes[...]
        while let byte = rest.first {
            let scalar: Unicode.Scalar
            if byte >= 0x80 {
                scalar = character(&rest)
            } else {
                rest.removeFirst()
                scalar = byte == UInt8(ascii: "\\") ? escaped(&rest) : Unicode.Scalar(byte)
            }
            guard run.isShort(with: scalar) else { return false }
        }
        return true
    }

    /// Takes one of more than one byte.
    private static func character(_ rest: inout ArraySlice<UInt8>) -> Unicode.Scalar {
        let lead = rest.removeFirst()
        var value = UInt32(lead & (lead < 0xE0 ? 0x1F : lead < 0xF0 ? 0x0F : 0x07))
        while let next = rest.first, next & 0xC0 == 0x80 {
            value = value << 6 | UInt32(next & 0x3F)
            rest.removeFirst()
        }
        return Unicode.Scalar(value) ?? " "
    }

    /// Takes what follows a backslash.
    private static func escaped(_ rest: inout ArraySlice<UInt8>) -> Unicode.Scalar {
        guard rest.popFirst() == UInt8(ascii: "u"), let high = digits(&rest) else { return " " }
        guard UTF16.isLeadSurrogate(high), rest.starts(with: "\\u".utf8) else { return Unicode.Scalar(high) ?? " " }
        var after = rest.dropFirst(2)
        guard let low = digits(&after), UTF16.isTrailSurrogate(low) else { return " " }
        rest = after
        return UTF16.decode(UTF16.EncodedScalar([high, low]))
    }

    private static func digits(_ rest: inout ArraySlice<UInt8>) -> UInt16? {
        let text = String(decoding: rest.prefix(4), as: UTF8.self)
        rest = rest.dropFirst(4)
        return UInt16(text, radix: 16)
    }
}
