/// The line in front of a chunk: `chunk-size [ chunk-ext ]` (RFC 9112, 7.1).
///
/// Extensions are checked and ignored. Servers that read them differently disagree about where a request ends.
struct ChunkLine {
    let size: Int
    /// The length of the extensions.
    let extensionBytes: Int

    /// Parses the line without its CRLF.
    init(_ line: ArraySlice<UInt8>) throws(Refusal) {
        let digits = line.prefix { Grammar.hexDigit($0) != nil }
        // Fifteen digits fit an integer.
        guard !digits.isEmpty, digits.count <= 15 else { throw Self.malformedSize }
        var rest = line[digits.endIndex...]
        extensionBytes = rest.count
        while !rest.isEmpty { try Self.skipExtension(&rest) }
        size = digits.reduce(0) { $0 << 4 | (Grammar.hexDigit($1) ?? 0) }
    }

    /// Skips `BWS ";" BWS name [ BWS "=" BWS value ]`.
    private static func skipExtension(_ rest: inout ArraySlice<UInt8>) throws(Refusal) {
        skipSpace(&rest)
        guard rest.popFirst() == UInt8(ascii: ";") else { throw malformedSize }
        skipSpace(&rest)
        try skipToken(&rest)
        var value = rest
        skipSpace(&value)
        guard value.popFirst() == UInt8(ascii: "=") else { return }
        skipSpace(&value)
        if value.first == UInt8(ascii: "\"") { try skipQuoted(&value) } else { try skipToken(&value) }
        rest = value
    }

    private static func skipSpace(_ rest: inout ArraySlice<UInt8>) {
        rest = rest.drop { $0 == Grammar.space || $0 == Grammar.tab }
    }

    private static func skipToken(_ rest: inout ArraySlice<UInt8>) throws(Refusal) {
        let token = rest.prefix(while: Grammar.isTokenByte)
        guard !token.isEmpty else { throw malformedExtension }
        rest = rest[token.endIndex...]
    }

    /// `quoted-string` (RFC 9110, 5.6.4).
    private static func skipQuoted(_ rest: inout ArraySlice<UInt8>) throws(Refusal) {
        rest.removeFirst()
        while let byte = rest.popFirst(), Grammar.isValueByte(byte) {
            if byte == UInt8(ascii: "\"") { return }
            guard byte == UInt8(ascii: "\\") else { continue }
            guard let escaped = rest.popFirst(), Grammar.isValueByte(escaped) else { break }
        }
        throw malformedExtension
    }

    private static let malformedSize = Refusal.badRequest("A chunk size is not a hexadecimal number.")
    private static let malformedExtension = Refusal.badRequest("A chunk extension is not a name or a name and a value.")
}
