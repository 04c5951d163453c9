/// What every parser of RFC 8259 must accept.
extension JSONCase {
    static let accepted: [JSONCase] = structures + acceptedNumbers + acceptedStrings

    private static let structures: [JSONCase] = [
        JSONCase("an empty object", "{}"), JSONCase("an empty array", "[]"), JSONCase("true", "true"),
        JSONCase("false", "false"), JSONCase("null", "null"), JSONCase("a number alone", "42"),
        JSONCase("a string alone", #""a""#), JSONCase("an empty string alone", #""""#),
        JSONCase("an object", #"{"a":1,"b":"c"}"#), JSONCase("every kind", #"[null,true,false,1,"a",{},[]]"#),
        JSONCase("several nulls", "[1,null,null,null,2]"), JSONCase("an array with a string", #"["a"]"#),
        JSONCase("space everywhere", " [ 1 , { \"a\" : [ ] } ] "), JSONCase("a newline at the end", "[1]\n"),
        JSONCase("all kinds of space", "\t\r\n [\t\r\n 1\t\r\n ]\t\r\n "),
        JSONCase("newlines in an object", "{\n\"a\"\n:\n1\n}"), JSONCase("an empty name", #"{"":0}"#),
        JSONCase("a name with an escaped NUL", #"{"a\u0000b":1}"#),
        JSONCase("one name twice", #"{"a":1,"a":2}"#), JSONCase("one member twice", #"{"a":1,"a":1}"#),
        JSONCase(
            "a long name and value",
            "{\"\(String(repeating: "n", count: 5000))\":\"\(String(repeating: "v", count: 5000))\"}"),
        nested("a hundred arrays", "[", 100, "", "]"), nested("a hundred objects", #"{"a":"#, 100, "1", "}"),
    ]

    private static let acceptedNumbers: [JSONCase] = [
        "0", "-0", "1", "-1", "123", "10", "-10", "0.5", "-0.5", "1.25", "0.0", "-0.0", "0e1", "0E+1", "0e-1", "1e5",
        "1E5", "1e+5", "1E-5", "1.5e10", "-1.5E-10", "123456789.123456789", "0.00000000000000000001",
        "-0.000000000000000000000000000000000000000000000000001", "9007199254740993", "9223372036854775808", "1e01",
    ].map { JSONCase("the number \($0)", $0) }

    private static let acceptedStrings: [JSONCase] = [
        JSONCase("every short escape", #""\"\\\/\b\f\n\r\t""#), JSONCase("escapes in both cases", #""\u00e9\u00E9""#),
        JSONCase("an escaped NUL", #""\u0000""#), JSONCase("an escaped control character", #""\u0012""#),
        JSONCase("an escaped quote", #""\u0022""#), JSONCase("an escaped backslash", #""\u005C""#),
        JSONCase("an escaped backslash before a letter", #""\\a\\n""#), JSONCase("an escaped newline", #""\u000A""#),
        JSONCase("an escaped no-break space", #""\u00A0""#), JSONCase("an escaped line separator", #""\u2028""#),
        JSONCase("a surrogate pair", #""\uD834\uDD1E""#),
        JSONCase("two surrogate pairs", #""\ud83d\ude39\ud83d\udc8d""#),
        JSONCase("the last surrogate pair", #""\uDBFF\uDFFF""#), JSONCase("an escaped noncharacter", #""\uFFFF""#),
        JSONCase("an escaped noncharacter of another plane", #""\uD83F\uDFFE""#),
        JSONCase("comments in a string", #""a/*b*/c//d""#), JSONCase("a slash", #""/""#), JSONCase("DEL", "\"\u{7F}\""),
        JSONCase("a space", #"" ""#), JSONCase("two bytes of UTF-8", "\"\u{E9}\u{3C0}\""),
        JSONCase("three bytes of UTF-8", "\"\u{20AC}\""), JSONCase("four bytes of UTF-8", "\"\u{1D11E}\""),
        JSONCase("the smallest of each length", "\"\u{80}\u{800}\u{10000}\""),
        string("the largest of each length", [0xDF, 0xBF, 0xEF, 0xBF, 0xBF, 0xF4, 0x8F, 0xBF, 0xBF]),
        JSONCase("the neighbours of the surrogates", "\"\u{D7FF}\u{E000}\""),
        string(
            "noncharacters", [0xEF, 0xB7, 0x90, 0xEF, 0xBF, 0xBE, 0xF0, 0x9F, 0xBF, 0xBE, 0xF4, 0x8F, 0xBF, 0xBE]),
        JSONCase("a line and a paragraph separator", "\"\u{2028}\u{2029}\""),
        JSONCase("invisible characters", "\"\u{200B}\u{2064}\u{FEFF}\""), JSONCase("a name in UTF-8", "{\"\u{E9}\":1}"),
        JSONCase("a mark after its letter", "\"e\u{301}\""),
    ]
}
