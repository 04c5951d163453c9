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
}
