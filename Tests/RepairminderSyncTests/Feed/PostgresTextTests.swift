import JSONText
import Testing

@testable import repairminder_sync

@Suite struct PostgresTextTests {
    private static func json(_ text: String) throws -> String {
        String(decoding: PostgresJSON.bytes(of: try JSONText(parsing: text)), as: UTF8.self)
    }

    @Test("a name is quoted, whatever is in it")
    func names() {
        #expect(PostgresText.name("orders") == "\"orders\"")
        #expect(PostgresText.name("a\"; DROP TABLE x; --") == "\"a\"\"; DROP TABLE x; --\"")
        #expect(PostgresText.name("\"\"") == "\"\"\"\"\"\"")
        #expect(PostgresText.name("a\u{0}b") == "\"a\u{FFFD}b\"")
    }

    @Test("a quote in a name is doubled also if a combining mark follows, with which it is one character")
    func combinedQuote() {
        let name = PostgresText.name("a\"\u{301}; DROP TABLE x; --")
        #expect(Array(name.utf8) == Array("\"a\"\"\u{301}; DROP TABLE x; --\"".utf8))
    }

    @Test("a name is cut between two characters")
    func cutNames() {
        #expect(PostgresText.start(of: "abc", bytes: 2) == "ab")
        #expect(PostgresText.start(of: "aé", bytes: 2) == "a")
        #expect(PostgresText.start(of: "é", bytes: 2) == "é")
    }

    @Test("an element of an array is a quoted text, and null is not the text NULL")
    func arrays() {
        var array = PostgresArray()
        for value in ["", "NULL", "a,b", "{\"x\"}", "\\"] { array.append(Array(value.utf8)) }
        array.append(nil)
        let text = String(decoding: array.parameter, as: UTF8.self)
        #expect(text == #"{"","NULL","a,b","{\"x\"}","\\",NULL}"#)
        #expect(PostgresArray.of([String]()) == Array("{}".utf8))
    }

    @Test("JSON that PostgreSQL can hold stays as it is")
    func plainJSON() throws {
        let text = #"{"a": [1.50, -0, 1e3, "x\"y\\", "\u00e9", "\ud83d\ude00", null], "b": {"c\\": true}}"#
        #expect(try Self.json(text) == text)
    }

    @Test("what PostgreSQL cannot hold is replaced, in names of members too")
    func replaced() throws {
        #expect(try Self.json(#"{"a\u0000b": "\u0000"}"#) == #"{"a\ufffdb": "\ufffd"}"#)
        #expect(
            try Self.json(#"["\ud800", "x\udc00", "\ud800\ud800", "\ud800\u0041"]"#)
                == #"["\ufffd", "x\ufffd", "\ufffd\ufffd", "\ufffd\u0041"]"#)
        #expect(try Self.json(#""\\u0000""#) == #""\\u0000""#)
    }

    @Test("a number beyond numeric becomes a text")
    func numbers() throws {
        let long = String(repeating: "9", count: 1001)
        #expect(
            try Self.json("[1e1000, 1e1001, -1E-1001, \(long), 1e99999999999999999999]")
                == "[1e1000, \"1e1001\", \"-1E-1001\", \"\(long)\", \"1e99999999999999999999\"]")
    }

    @Test("the least exponent that an integer can be becomes a text too")
    func leastExponent() throws {
        let number = "1e\(Int.min)"
        #expect(try Self.json("[\(number)]") == "[\"\(number)\"]")
        #expect(FeedType.numeric.parameter(try JSONText(parsing: "\"\(number)\"")) == nil)
    }
}
