/// What a parser of RFC 8259 must not accept.
extension JSONCase {
    static let refused: [JSONCase] = refusedStructures + refusedNumbers + refusedStrings + refusedEncodings

    private static let refusedStructures: [JSONCase] = [
        "", " ", "[", "]", "{", "}", "[1", "[1,", "[1,]", "[1,,2]", "[,1]", "[,]", "[1,,]", "[1 2]", "[1 true]",
        "[1:2]",
        "[1;2]", "[[1][2]]", "[1],", "[1]]", "[][]", "[]x", "[1}", "[*]", "[-]", "[a", "[tru]", "[fals", "[nul",
        "[\n1\n",
        "[{", "[\"a", "[{}", "[\u{B}]", "[\u{C}]", "[1]\u{C}", "[']", "['a']", "[<null>]", "<.>", "*", "[True]", "TRUE",
        "nan", "truefalse", "nulll", "[\u{2060}]", "\u{2060}[]", "a\u{E5}", "\u{E9}", "[\0]", "\0[]", "[]\0", "[] #",
        "[]//",
        "[]/**/", "/**/[]", "{\"a\":/**/1}", "{\"a\":1}/*", "{\"a\":1}/", "#{}", "1 2", "1,2", "{}{}", "{}}",
        "{\"a\":1}x",
        "{\"a\"}", "{\"a\",1}", "{\"a\" 1}", "{\"a\":}", "{\"a\"::1}", "{\"a\":1,}", "{\"a\":1,,}",
        "{\"a\":1,,\"b\":2}",
        "{,\"a\":1}", "{:1}", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":\"b", "{\"a\":1]", "{]", "{[]}", "{[:1}",
        "{1:1}",
        "{null:1}", "{a:1}", "{'a':1}", "{\"a\":1 \"b\":2}", "{\"a\":1;}", "{\"a\":tru}", "{\"a\"=1}", "{,",
        "{\"a\":1 x}",
    ].map { JSONCase("the structure \($0)", $0) }

    private static let refusedNumbers: [JSONCase] = [
        "-", "+", "+1", "++1", "--1", "- 1", "-a", "00", "01", "-01", "-00", "012", "1.", "-1.", "1.e1", "1.e+1", ".5",
        "-.5", ".e1", "0.1.2", "1..2", "1e", "1E", "1e+", "1E-", "1ee2", "1eE2", "1e1.5", "0e", "0e+", "0.3e", "0.3e+",
        "1_000", "1 000", "1,000", "1+2", "0x1", "0x42", "0b1", "1a", "1.5a", "1e5a", "-1x", "\u{FF11}", "\u{661}",
        "1\u{FF11}",
        "NaN", "-NaN", "+NaN", "Inf", "-Inf", "+Inf", "Infinity", "-Infinity", "1/2", "1%", "$1", "1\0",
    ].map { JSONCase("the number \($0)", "[\($0)]") }

    private static let refusedStrings: [JSONCase] =
        [
            "\"", "\"a", "a", "'a'", "a\"", "\"\\\"", "\"\\", "\"\\\\\\\"", "\"a\"b", "\"a\"\"b\"", "\\u0020\"a\"",
            "\\n",
            "\"\\a\"", "\"\\x00\"", "\"\\0\"", "\"\\'\"", "\"\\ \"", "\"\\\u{E9}\"", "\"\\\u{1F600}\"", "\"\\\t\"",
            "\"\\\0\"",
            "\"\\u\"", "\"\\u0\"", "\"\\u00\"", "\"\\u00A\"", "\"\\u00G0\"", "\"\\u 041\"", "\"\\u+041\"",
            "\"\\u0x41\"",
            "\"\\U0041\"", "\"\\u\u{FF11}000\"", "\"\\uD800\\\"", "\"\\uD800\\u\"", "\"\\uD800\\u1\"",
            "\"\\uD800\\u1x\"",
            "\"\\uD834\\uDd\"", "\"\\uD800\\x\"",
        ].map { JSONCase("the string \($0)", $0) }
        + (UInt8(0)..<0x20).map { string("the bare control character \($0)", [0x61, $0, 0x62]) }

    private static let refusedEncodings: [JSONCase] = [
        JSONCase("a byte that is no UTF-8", [0xFF]), JSONCase("Latin-1 in an array", [0x5B, 0xE9, 0x5D]),
        JSONCase("a broken byte after a number", [0x5B, 0x31, 0xE5, 0x5D]),
        JSONCase("a broken byte in an exponent", [0x5B, 0x31, 0x65, 0x31, 0xE5, 0x5D]),
        JSONCase("a broken byte in an escape", [0x22, 0x5C, 0x75, 0xE5, 0x22]),
        JSONCase("a broken byte after a backslash", [0x22, 0x5C, 0xE5, 0x22]),
        JSONCase("a byte order mark alone", byteOrderMark),
        JSONCase("half a byte order mark", [0xEF, 0xBB, 0x7B, 0x7D]),
        JSONCase("a byte order mark inside", [0x5B] + byteOrderMark + [0x5D]),
        nested("a hundred thousand open arrays", "[", 100_000, "", ""),
        nested("fifty thousand open objects", #"{"":["#, 50_000, "", ""),
    ]
}
