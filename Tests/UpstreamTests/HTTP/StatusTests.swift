import EntitySchema
import Foundation
import JSONText
import TestSupport
import Testing

@testable import Upstream

/// The error for each status.
@Suite("What a status means")
struct StatusTests {
    // Sat, 21 Nov 2026 10:42:00 GMT
    private static let now = Timestamp.sample

    private func failure(
        _ status: Int, retryAfter: String? = nil, body: String = #"{"error":{"text":"the shop says no"}}"#,
        token: (any Credentials)? = nil, location: String? = nil, schema more: String = ", error_message: error.text"
    ) async throws -> UpstreamError {
        let schema = try EntitySchema(
            yaml: """
                schema: s
                upstream: { base_url: "https://shop.example"\(more) }
                entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders } } }
                """, file: "s.yaml")
        let fields = [("retry-after", retryAfter), ("Location", location)]
        let headers = fields.compactMap { name, value in value.map { HTTPHeader(name, $0) } }
        let transport = ScriptedTransport { _ in HTTPResponse.json(status, body, headers) }
        let upstream = HTTPUpstream(plan: schema.upstream, transport: transport, token: token, now: { Self.now })
        let error = await #expect(throws: UpstreamError.self) {
            try await upstream.push(
                PushRequest(method: "PATCH", path: "/orders/1?x=1", body: .object(["a": 1])), idempotencyKey: "k")
        }
        return try #require(error)
    }

    private struct FixedToken: Credentials {
        let text: String

        func current() async throws(UpstreamError) -> String? { text }
        func renew(refused: String?) async throws(UpstreamError) -> Bool { false }
    }

    @Test("a path with a long value is shown in short, and without its query")
    func longPath() {
        #expect("/orders/1?x=1".shownPath == "/orders/1")
        #expect("/orders/\(String(repeating: "a", count: 60_000))?x".shownPath.utf8.count < 400)
    }

    @Test("an error that repeats the token is quoted without it", arguments: [401, 403, 409, 422, 500])
    func tokenQuoted(_ status: Int) async throws {
        let body = #"{"error":{"text":"Bearer s3cret-t0ken is not good"}}"#
        let failure = try await failure(status, body: body, token: FixedToken(text: "s3cret-t0ken"))
        #expect(failure.message == "\(words) \(status): Bearer … is not good")
    }

    @Test("a long error text is cut and marked")
    func longWords() async throws {
        let text = String(repeating: "no ", count: 1000)
        let failure = try await failure(422, body: #"{"error":{"text":"\#(text)"}}"#)
        #expect(failure.message == "\(words) 422: \(text.prefix(499))…")
    }

    private let words = "PATCH /orders/1 answered"

    @Test("an unknown outcome is unclear", arguments: [408, 425, 500, 501, 502, 503, 504, 599, 600, 999])
    func unclear(_ status: Int) async throws {
        #expect(try await failure(status) == .unclear(status: status, "\(words) \(status): the shop says no"))
    }

    @Test("423 means that only the target of the request is locked")
    func locked() async throws {
        #expect(try await failure(423) == .locked(status: 423, "\(words) 423: the shop says no"))
        let rule = ", error_message: error.text, answers: [{ status: 423, means: unclear }]"
        let unclear = try await failure(423, schema: rule)
        #expect(unclear == .unclear(status: 423, "\(words) 423: the shop says no"))
    }

    @Test("a rejected token is unauthorized, and without any token the message says what to do")
    func unauthorized() async throws {
        let advice = "no token is configured: set upstream.token_file"
        #expect(try await failure(401) == .unauthorized("\(words) 401: the shop says no; \(advice)"))
    }

    @Test("where the token is a file's, the message of a rejected one names the file")
    func unauthorizedFile() async throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let path = folder.path("token")
        let isMade = FileManager.default.createFile(
            atPath: path, contents: Data("abc".utf8), attributes: [.posixPermissions: 0o600])
        try #require(isMade)
        let failure = try await failure(401, token: FileToken(path: path, for: .bearer))
        let remedy = "the token was read from \(path): replace it if it is no longer valid"
        #expect(failure == .unauthorized("\(words) 401: the shop says no; \(remedy)"))
    }

    @Test("a modified record is changed, and so is one whose version must be named", arguments: [409, 412, 428])
    func changed(_ status: Int) async throws {
        #expect(try await failure(status) == .changed(status: status, "\(words) \(status): the shop says no"))
    }

    @Test("a missing record is gone", arguments: [404, 410])
    func gone(_ status: Int) async throws {
        #expect(try await failure(status) == .gone(status: status, "\(words) \(status): the shop says no"))
    }

    @Test(
        "an error that someone must correct is refused", arguments: [400, 405, 406, 413, 415, 418, 422, 451])
    func refused(_ status: Int) async throws {
        #expect(try await failure(status) == .refused(status: status, "\(words) \(status): the shop says no"))
    }

    @Test("a status about the account or a gateway bars changes", arguments: [402, 403, 407, 421, 511])
    func barred(_ status: Int) async throws {
        #expect(try await failure(status) == .barred(status: status, "\(words) \(status): the shop says no"))
    }

    @Test("a code that the schema names concerns the account, whatever the status", arguments: [400, 404, 409, 422])
    func accountError(_ status: Int) async throws {
        let schema = ", error_message: text, account_errors: [PENDING]"
        for body in [#"{"code":"PENDING","text":"no"}"#, #"{"error":{"code":"PENDING"},"code":400,"text":"no"}"#] {
            let failure = try await failure(status, body: body, schema: schema)
            #expect(failure == .barred(status: status, "\(words) \(status): no"))
        }
        guard case .barred = try await failure(status, body: #"{"why":"PENDING"}"#, schema: schema) else { return }
        Issue.record("another member is no code")
    }

    @Test("a web page where JSON belongs bars", arguments: [400, 403, 405, 409, 418, 422, 451])
    func webPage(_ status: Int) async throws {
        let failure = try await failure(status, body: "<html><title>Maintenance</title>")
        #expect(
            failure
                == .barred(
                    status: status,
                    "\(words) \(status) with a web page where JSON belongs (no content type): "
                        + "<html><title>Maintenance</title>", isPage: true))
    }

    @Test(
        "a web page changes nothing for a status that says what to do",
        arguments: [401, 404, 408, 410, 412, 413, 429, 500, 503])
    func webPageOfStatus(_ status: Int) async throws {
        if case .barred = try await failure(status, body: "<html>") { Issue.record("\(status) must not bar") }
    }

    @Test("304 says nothing about a request that asked for no comparison")
    func notModified() async throws {
        #expect(try await failure(304, body: "") == .unclear(status: 304, "\(words) 304"))
    }

    @Test("a redirect bars, and the message says what to do", arguments: [300, 301, 302, 303, 307, 308])
    func redirect(_ status: Int) async throws {
        // Most web servers write a page around the address.
        for body in ["", "<html><h1>Moved</h1>"] {
            let failure = try await failure(status, body: body, location: "https://sso.example/login?state=token")
            #expect(
                failure
                    == .barred(
                        status: status,
                        "\(words) \(status) to https://sso.example/login; redirects are not followed: correct "
                            + "upstream.base_url, the path in the schema, or the token", isPage: !body.isEmpty))
        }
    }

    @Test("300 with JSON and without an address is about the request: several records fit it")
    func severalRecords() async throws {
        #expect(try await failure(300) == .refused(status: 300, "\(words) 300: the shop says no"))
    }

    @Test(
        "429 waits for its Retry-After, at most an hour; without a valid one, half a minute",
        arguments: [
            ("7", 7), ("0", 0), ("99999999999999999999", 3600), ("Sat, 21 Nov 2026 10:43:00 GMT", 60),
            ("Sat, 21 Nov 2026 10:41:00 GMT", 0), ("Fri, 01 Jan 2100 00:00:00 GMT", 3600), ("soon", 30), ("-5", 30),
            ("", 30), (nil, 30),
        ])
    func throttled(_ text: String?, _ seconds: Int) async throws {
        let expected = UpstreamError.throttled(.seconds(seconds), "\(words) 429: the shop says no")
        #expect(try await failure(429, retryAfter: text) == expected)
    }

    @Test("503 is throttled with Retry-After, and unclear without it")
    func unavailable() async throws {
        #expect(
            try await failure(503, retryAfter: "12") == .throttled(.seconds(12), "\(words) 503: the shop says no"))
        #expect(
            try await failure(503, retryAfter: "soon") == .unclear(status: 503, "\(words) 503: the shop says no"))
    }

    @Test(
        "a change answered 503 with Retry-After and no JSON may be applied: a cache answers so when its backend breaks off",
        arguments: ["<html><title>503 Backend fetch failed</title>", "", "no healthy upstream"])
    func unavailableBehindCache(_ body: String) async throws {
        guard case .barred(503, let message, _) = try await failure(503, retryAfter: "5", body: body) else {
            Issue.record("nothing says that the change was not applied")
            return
        }
        #expect(message.hasPrefix("\(words) 503") && message.contains("gateway"))
        let rule = ", answers: [{ status: 503, means: throttled }]"
        let ruled = try await failure(503, retryAfter: "5", body: body, schema: rule)
        #expect(ruled.wordless == .throttled(.seconds(5), ""), "the schema says what a 503 means")
        let counted = try await failure(429, retryAfter: "5", body: body)
        #expect(counted.wordless == .throttled(.seconds(5), ""), "who counts requests has not let this one through")
    }

    @Test("a list answered 503 with Retry-After waits that long, whatever the body")
    func unavailableList() async throws {
        let schema = try EntitySchema(
            yaml: """
                schema: s
                upstream: { base_url: "https://shop.example" }
                entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders } } }
                """, file: "s.yaml")
        let transport = ScriptedTransport { _ in .json(503, "<html>", [HTTPHeader("Retry-After", "5")]) }
        let upstream = HTTPUpstream(plan: schema.upstream, transport: transport, now: { Self.now })
        let list = PageRequest(path: "/orders", list: try #require(schema["orders"]?.pull).list)
        let error = await #expect(throws: UpstreamError.self) { try await upstream.page(list) }
        #expect(error?.wordless == .throttled(.seconds(5), ""))
    }

    @Test(
        "an error response without a text is reported without one", arguments: ["", "[]", #"{"error":null}"#])
    func wordless(_ body: String) async throws {
        #expect(try await failure(422, body: body) == .refused(status: 422, "\(words) 422"))
    }

    @Test("an endless error text is cut")
    func long() async throws {
        let text = String(repeating: "x", count: 10_000)
        #expect(try await failure(422, body: #"{"error":{"text":"\#(text)"}}"#).message.count < 600)
    }
}
