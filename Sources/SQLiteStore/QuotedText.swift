/// Quotes text for SQL and FTS5 that cannot be bound.
extension String {
    /// The text with `quote` around it, and doubled inside it.
    ///
    /// Works byte by byte: to Swift, a quote followed by a combining mark is another character; to SQLite, it ends the
    /// text.
    package func quoted(by quote: Unicode.Scalar) -> String {
        let quote = UInt8(ascii: quote)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count + 2)
        bytes.append(quote)
        for byte in utf8 {
            if byte == quote { bytes.append(quote) }
            bytes.append(byte)
        }
        bytes.append(quote)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The bytes of one statement of SQL, or of a part of one, with spaces in place of what is in quotes or parentheses, and
    /// of these themselves. Nil if they are not balanced, or if there is a comment or a semicolon.
    package var outermost: [UInt8]? {
        let space = UInt8(ascii: " ")
        var bytes = Array(utf8)
        var depth = 0
        var end: UInt8?
        var previous = space
        for index in bytes.indices {
            let byte = bytes[index]
            if depth > 0 || end != nil { bytes[index] = space }
            if let closing = end {
                if byte == closing { end = nil }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"): end = byte
            case UInt8(ascii: "["): end = UInt8(ascii: "]")
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"): depth -= 1
            case UInt8(ascii: ";"): return nil
            case UInt8(ascii: "-") where previous == byte: return nil
            case UInt8(ascii: "*") where previous == UInt8(ascii: "/"): return nil
            default:
                previous = byte
                continue
            }
            guard depth >= 0 else { return nil }
            bytes[index] = space
            previous = space
        }
        return depth == 0 && end == nil ? bytes : nil
    }
}
