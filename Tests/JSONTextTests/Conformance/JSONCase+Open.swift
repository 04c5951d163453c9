/// What RFC 8259 leaves to the parser, and what this one does.
extension JSONCase {
    /// Numbers of any size are text, and so are escapes of lone surrogates: both are kept, and nothing is lost.
    static let kept: [JSONCase] =
        [
            "1e400", "-1e400", "0.4e00669999999999999999999999999999", "-1e-400", "123e-10000000",
            "1234567890123456789012345678901234567890", "-1234567890123456789012345678901234567890",
            "1e9999999999999999999",
        ].map { JSONCase("the number \($0)", $0) }
        + [
            #"\uD800"#, #"\uDC00"#, #"\uDADA"#, #"\uDd1e\uD834"#, #"\uD800\uD800"#, #"\uD800a"#, #"\uD888\u1234"#,
            #"\uD800\n"#, #"\uD800\uD800\n"#,
        ].map { JSONCase("the string \($0)", "\"\($0)\"") }
        + [
            JSONCase("a lone surrogate in a name", #"{"\uDFAA":0}"#), nested("512 arrays", "[", 512, "", "]"),
        ]

    /// Only UTF-8 is JSON between programs (RFC 8259, 8.1), without a byte order mark, and at most 512 levels deep.
    static let left: [JSONCase] = [
        JSONCase("a byte order mark", byteOrderMark + [0x7B, 0x7D]),
        JSONCase("UTF-16, little-endian, with a mark", [0xFF, 0xFE, 0x5B, 0, 0x5D, 0]),
        JSONCase("UTF-16, little-endian", [0x5B, 0, 0x5D, 0]), JSONCase("UTF-16, big-endian", [0, 0x5B, 0, 0x5D]),
        JSONCase("UTF-32", [0, 0, 0, 0x5B, 0, 0, 0, 0x5D]),
        string("Latin-1", [0xE9]), string("a lone continuation byte", [0x81]), string("a lone first byte", [0xC3]),
        string("UTF-8 cut short", [0xE0, 0xFF]), string("UTF-8 cut short at the end", [0xF0, 0x9F, 0x98]),
        string("two bytes for a slash", [0xC0, 0xAF]), string("two bytes for a NUL", [0xC0, 0x80]),
        string("three bytes for a slash", [0xE0, 0x80, 0xAF]),
        string("four bytes for a slash", [0xF0, 0x80, 0x80, 0xAF]),
        string("six bytes for a slash", [0xFC, 0x83, 0xBF, 0xBF, 0xBF, 0xBF]),
        string("six bytes for a NUL", [0xFC, 0x80, 0x80, 0x80, 0x80, 0x80]),
        string("a surrogate in UTF-8", [0xED, 0xA0, 0x80]),
        string("a pair of surrogates in UTF-8", [0xED, 0xA0, 0xB4, 0xED, 0xB4, 0x9E]),
        string("a code point beyond the last", [0xF4, 0x90, 0x80, 0x80]),
        string("a first byte beyond all", [0xF5, 0x80, 0x80, 0x80]),
        string("bytes that are never UTF-8", [0xFE, 0xFF]), nested("ten thousand arrays", "[", 10_000, "", "]"),
        nested("ten thousand objects", #"{"a":"#, 10_000, "1", "}"),
    ]
}
