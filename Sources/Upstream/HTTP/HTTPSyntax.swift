/// The few rules of RFC 9110 that a request must meet before a byte of it is sent, and names without regard to case.
enum HTTPSyntax {
    /// Whether the text is a `token` (RFC 9110, 5.6.2): what a method or a field name may be.
    static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(isTokenByte)
    }

    /// Whether the text may stand as a field value: no CR, LF or NUL (RFC 9110, 5.5), which would begin another field or
    /// cut this one short.
    static func isFieldValue(_ text: String) -> Bool {
        !text.utf8.contains { $0 == 0x0D || $0 == 0x0A || $0 == 0 }
    }

    /// Whether two names are the same but for the case of ASCII letters; allocates nothing.
    static func isSameName(_ one: String, _ other: String) -> Bool {
        one.utf8.count == other.utf8.count && one.utf8.elementsEqual(other.utf8) { lowercase($0) == lowercase($1) }
    }

    static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default:
            "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 {
        byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
    }
}

extension HTTPRequest {
    /// Why this request must not be sent, or nil; names no value, as values hold credentials.
    var refusal: String? {
        if !HTTPSyntax.isToken(method) { return "its method is not a token" }
        if !HTTPSyntax.isSameName(String(url.prefix(7)), "http://"),
            !HTTPSyntax.isSameName(String(url.prefix(8)), "https://")
        {
            return "its URL does not begin with http:// or https://"
        }
        if url.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) {
            return "its URL holds a space or a control character"
        }
        for header in headers {
            if !HTTPSyntax.isToken(header.name) { return "the name of one of its headers is not a token" }
            if !HTTPSyntax.isFieldValue(header.value) { return "its header \(header.name) holds a line break or a NUL" }
        }
        return nil
    }

    /// Host and port as the URL writes them, for messages: without user, password, path or query.
    var host: String {
        let afterScheme = url.utf8.firstIndex(of: UInt8(ascii: ":")).map { url.utf8[$0...].dropFirst(3) }
        let authority = (afterScheme ?? url.utf8[...]).prefix { !"/?#\\".utf8.contains($0) }
        let host = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[$0...].dropFirst() } ?? authority
        return String(decoding: host, as: UTF8.self)
    }

    /// Whether the method changes nothing at the upstream (RFC 9110, 9.2.1), so that sending it twice does no harm.
    var isSafe: Bool { ["GET", "HEAD", "OPTIONS", "TRACE"].contains(method) }

    func hasHeader(_ name: String) -> Bool { headers.contains { HTTPSyntax.isSameName($0.name, name) } }
}
