import Testing

@testable import CacheStore

@Suite("Where a record has a field, in SQL")
struct JSONSourceTests {
    @Test("a quote in a name ends no text, also if a combining mark follows, with which it is one character")
    func quotes() {
        #expect(JSONSource("a'b").value(by: "->>", in: "r") == #"r ->> '$."a''b"'"#)
        let combined = JSONSource("a'\u{301}b").value(by: "->>", in: "r")
        #expect(Array(combined.utf8) == Array("r ->> '$.\"a''\u{301}b\"'".utf8))
    }
}
