import SQLiteStore
import SocketServer
import Testing

@testable import LocalAPIServer

/// The field by the letter of RFC 9651, 3.3.3 and draft-ietf-httpapi-idempotency-key-header.
@Suite("The field Idempotency-Key")
struct IdempotencyKeyTests {
    private func key(_ values: String...) throws -> String? {
        var headers = Headers()
        for value in values { headers.append(name: "idempotency-key", value: value) }
        return try IdempotencyKey(Request(method: "POST", path: "/", headers: headers))?.text
    }

    @Test(
        "a quoted string is its text, without quotes and escapes",
        arguments: [
            (#""5f0c3a""#, "5f0c3a"),
            (#""8e03978e-40d5-43dd-bc93-6894a57f9324""#, "8e03978e-40d5-43dd-bc93-6894a57f9324"),
            (#"" ""#, " "), (#""a b""#, "a b"), (#""a\"b""#, #"a"b"#), (#""a\\b""#, #"a\b"#), (#""\\\"""#, #"\""#),
            (#""a,b;c=d""#, "a,b;c=d"), (#""()<>@:/[]?={}~!""#, "()<>@:/[]?={}~!"), (#""?1""#, "?1"),
        ])
    func quoted(_ value: String, _ text: String) throws {
        #expect(try key(value) == text)
    }

    @Test(
        "other bare items are the text as it was sent, because many clients quote nothing",
        arguments: ["5f0c3a", "42", "-1.5", "*tok/en:1", "?1", ":aGVsbG8=:", "@1659578233", "a=b", "(a)", "'a'", "{k}"])
    func bare(_ value: String) throws {
        #expect(try key(value) == value)
        #expect(try key("\"\(value)\"") == value)
    }

    @Test(
        "anything else is refused",
        arguments: [
            "", "\"\"", "\"", "\"a", "a\"", "\"a\"b", "\"a\"b\"", "\"a\" \"b\"", "\"a\\\"", "\"\\a\"", "\"\\\"",
            "\"a\\u0062\"",
            "\"a\tb\"", "\"\u{7F}\"", "\"é\"", "é", "a b", "a\tb", "a\"b", "a\\b", "(\"a\" \"b\")", "%\"a\"",
            // lists
            "a,b", "\"a\", \"b\"", "\"a\",", ",\"a\"",
            // parameters
            "\"a\";q=1", "\"a\"; q", "\"a\";", "a;q=1",
        ])
    func refused(_ value: String) throws {
        let problem = try #require(#expect(throws: Problem.self) { try key(value) })
        #expect(problem.status == 400)
        #expect(problem.detail.contains("expected one text of 1 to 255 visible ASCII characters"))
        #expect(problem.errors.map(\.field) == ["Idempotency-Key"])
    }

    @Test("a key may have 255 characters, escapes counted once, and not one more")
    func length() throws {
        let longest = String(repeating: "k", count: 255)
        #expect(try key(longest) == longest)
        #expect(try key("\"\(longest)\"") == longest)
        #expect(try key("\"\(String(repeating: "\\\\", count: 255))\"")?.count == 255)
        for value in ["\(longest)k", "\"\(longest)k\""] {
            let problem = try #require(#expect(throws: Problem.self) { try key(value) })
            #expect(problem.status == 400)
            #expect(problem.detail.contains("256 characters"))
        }
    }

    @Test("the field may be there once, also with the same key")
    func duplicates() throws {
        #expect(try key() == nil)
        for other in ["k", "\"k\"", "other", ""] {
            let problem = try #require(#expect(throws: Problem.self) { try key("k", other) })
            #expect(problem.status == 400)
            #expect(problem.detail.contains("the request has it 2 times"))
        }
    }

    @Test("a request with a malformed key does nothing")
    func nothingDone() async throws {
        try await ServedAPI.serving { api in
            let answer = try await api.call("PATCH", "/v1/orders/a", #"{"notes":"x"}"#, key: "a b")
            #expect(answer.status == 400 && answer.fields == ["Idempotency-Key"])
            #expect(try await api.queue().isEmpty)
        }
    }
}
