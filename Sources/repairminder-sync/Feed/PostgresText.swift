import JSONText

/// Values in the form in which PostgreSQL takes them as text.
enum PostgresText {
    /// U+FFFD, in place of what PostgreSQL cannot hold.
    static let replacement: Unicode.Scalar = "\u{FFFD}"

    /// A name as an identifier.
    static func name(_ name: String) -> String {
        // By scalars: as a `Character`, a quote with a combining mark after it is no quote, but PostgreSQL ends the name there.
        let quoted = clean(name).unicodeScalars.map { $0 == "\"" ? "\"\"" : String($0) }
        return "\"\(quoted.joined())\""
    }

    /// Without U+0000, which no text in PostgreSQL can have.
    static func clean(_ text: String) -> String {
        guard text.utf8.contains(0) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value == 0 ? replacement : $0 }))
    }

    static func bytes(_ text: String) -> [UInt8] { Array(clean(text).utf8) }

    /// The most bytes of a name; PostgreSQL cuts longer ones silently.
    static let longestName = 63

    /// The beginning of a name, at most `most` bytes of it.
    static func start(of name: String, bytes most: Int) -> String {
        var start = ""
        var count = 0
        for scalar in clean(name).unicodeScalars {
            count += UTF8.width(scalar)
            guard count <= most else { break }
            start.unicodeScalars.append(scalar)
        }
        return start
    }
}

/// An array as text: `{"a","b",NULL}`.
struct PostgresArray {
    private(set) var bytes = [UInt8(ascii: "{")]

    mutating func append(_ value: [UInt8]?) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        guard let value else {
            bytes += Array("NULL".utf8)
            return
        }
        bytes.append(UInt8(ascii: "\""))
        for byte in value {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
            bytes.append(byte)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// The whole, with its end.
    var parameter: [UInt8] { bytes + [UInt8(ascii: "}")] }

    static func of(_ texts: some Sequence<String>) -> [UInt8] {
        var array = PostgresArray()
        for text in texts { array.append(PostgresText.bytes(text)) }
        return array.parameter
    }
}

extension UTF8 {
    fileprivate static func width(_ scalar: Unicode.Scalar) -> Int { UTF8.encode(scalar)?.count ?? 3 }
}
