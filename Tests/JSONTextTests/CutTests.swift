import JSONText
import Testing

@Suite("Texts cut to a length")
struct CutTests {
    @Test("a text that fits is kept, also one of just as many bytes", arguments: ["", "abc", "abcdefgh", "éééé"])
    func kept(_ text: String) {
        #expect(text.cut(toBytes: 8) == text)
    }

    @Test(
        "a longer text is cut between scalars, and ends with an ellipsis",
        arguments: [
            ("abcdefghi", "abcde…"), ("ééééé", "éé…"), ("abc😀efgh", "abc…"),
            ("e\u{301}e\u{301}e\u{301}e", "e\u{301}e…"),
        ])
    func cut(_ text: String, _ expected: String) {
        #expect(text.cut(toBytes: 8) == expected)
        #expect(expected.utf8.count <= 8)
    }

    @Test(
        "a text can be cut to a number of scalars as well",
        arguments: [("", ""), ("éééé", "éééé"), ("ééééé", "ééé…"), ("e\u{301}e\u{301}e", "e\u{301}e…")])
    func scalars(_ text: String, _ expected: String) {
        #expect(text.cut(toScalars: 4) == expected)
        #expect(expected.unicodeScalars.count <= 4)
    }
}
