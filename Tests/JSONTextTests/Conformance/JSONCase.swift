import Testing

/// One input for a JSON parser, and whether RFC 8259 lets it through.
struct JSONCase: Sendable, CustomTestStringConvertible {
    let name: String
    let input: [UInt8]

    var testDescription: String { name }

    init(_ name: String, _ text: String) {
        self.init(name, Array(text.utf8))
    }

    init(_ name: String, _ bytes: [UInt8]) {
        self.name = name
        input = bytes
    }

    /// A string literal with these bytes between its quotes.
    static func string(_ name: String, _ inner: [UInt8]) -> JSONCase { JSONCase(name, [0x22] + inner + [0x22]) }

    static func nested(_ name: String, _ open: String, _ count: Int, _ inner: String, _ close: String) -> JSONCase {
        JSONCase(name, String(repeating: open, count: count) + inner + String(repeating: close, count: count))
    }

    static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
}
