import JSONText
import Synchronization
import Testing

@testable import LocalAPI

@Suite struct LocalAPIClientTests {
    @Test("the names in a path are encoded, so none can leave its segment")
    func pathsAreEncoded() {
        #expect(LocalAPIPaths.record(of: "orders", id: "a/b?c#d é") == "/v1/orders/a%2Fb%3Fc%23d%20%C3%A9")
        #expect(LocalAPIPaths.record(of: "orders", id: "..") == "/v1/orders/%2E%2E")
        #expect(LocalAPIPaths.record(of: "orders", id: "a.b-c_d~e") == "/v1/orders/a.b-c_d~e")
        #expect(LocalAPIPaths.retryPending("7") == "/v1/pending/7/retry")
    }

    @Test("query values are encoded, a plus and an ampersand too")
    func queryIsEncoded() async throws {
        let daemon = ScriptedDaemon(status: 200, body: "{}")
        _ = try await daemon.client().get("/v1/search", query: [("q", "a+b&c=d e"), ("total.gte", "100")])
        #expect(daemon.requests.map(\.target) == ["/v1/search?q=a%2Bb%26c%3Dd%20e&total.gte=100"])
    }

    @Test("a write is sent as JSON even without a body, a read is not")
    func contentType() async throws {
        let daemon = ScriptedDaemon(status: 204, body: "")
        let client = daemon.client()
        _ = try await client.delete("/v1/orders/1")
        _ = try await client.get("/v1/orders/1")
        let types = daemon.requests.map { $0.headers.first { $0.name == "Content-Type" }?.value }
        #expect(types == ["application/json", nil])
    }

    @Test("the token goes with every request when there is one")
    func token() async throws {
        let daemon = ScriptedDaemon(status: 200, body: "{}")
        _ = try await daemon.client(token: "abc").get("/v1/status")
        _ = try await daemon.client().get("/v1/status")
        let fields = daemon.requests.map { $0.headers.first { $0.name == "Authorization" }?.value }
        #expect(fields == ["Bearer abc", nil])
    }

    @Test("an answer keeps its numbers byte for byte")
    func numbersStay() async throws {
        let answer = try await ScriptedDaemon(status: 200, body: #"{"total":129.90}"#).client().get("/v1/orders/1")
        #expect(answer.body?.text == #"{"total":129.90}"#)
    }

    @Test("an answer without a body is accepted")
    func emptyAnswer() async throws {
        let answer = try await ScriptedDaemon(status: 204, body: "").client().delete("/v1/orders/1")
        #expect(answer == LocalAPIClient.Answer(status: 204, body: nil))
    }

    @Test("a problem document is thrown with its fields")
    func problemDocument() async throws {
        let body = """
            {"type":"about:blank","title":"Unprocessable content","status":422,"detail":"total: not a number",
            "errors":[{"field":"total","message":"not a number"}]}
            """
        let expected = LocalAPIProblem(
            status: 422, title: "Unprocessable content", detail: "total: not a number",
            errors: [.init(field: "total", message: "not a number")], document: try JSONText(parsing: body))
        await #expect(throws: LocalAPIError.problem(expected)) {
            try await ScriptedDaemon(status: 422, body: body).client().patch(
                "/v1/orders/1", body: .object(["total": "x"]))
        }
    }

    @Test(
        "a failure without a problem document, and an answer that is not JSON, are unexpected", arguments: [502, 200])
    func unexpected(status: Int) async throws {
        let error = await #expect(throws: LocalAPIError.self) {
            try await ScriptedDaemon(status: status, body: "<html>").client().get("/v1/status")
        }
        guard case .unexpected = error else { throw Unexpected(error: error) }
    }

    @Test(
        "an answer of more values than the daemon gives is refused, because each takes much more memory than its text")
    func manyValues() async throws {
        let most = LocalAPIClient.mostValues
        func body(values: Int) -> String { "[" + String(repeating: "0,", count: values - 2) + "0]" }
        let answer = try await ScriptedDaemon(status: 200, body: body(values: most)).client().get("/v1/hooks")
        #expect(answer.body?.kind == .array)
        let error = await #expect(throws: LocalAPIError.self) {
            try await ScriptedDaemon(status: 200, body: body(values: most + 1)).client().get("/v1/hooks")
        }
        guard case .unexpected = error else { throw Unexpected(error: error) }
    }

    @Test("errors of the transport reach the caller")
    func unreachable() async throws {
        let client = LocalAPIClient { (_) throws(LocalAPIError) in throw .unreachable("nothing listens") }
        await #expect(throws: LocalAPIError.unreachable("nothing listens")) { try await client.get("/v1/status") }
    }
}

private struct Unexpected: Error {
    let error: LocalAPIError?
}

/// Answers every request alike and keeps what it was asked.
private final class ScriptedDaemon: Sendable {
    private let response: LocalAPIResponse
    private let seen = Mutex<[LocalAPIRequest]>([])

    init(status: Int, body: String) {
        response = LocalAPIResponse(status: status, body: Array(body.utf8))
    }

    var requests: [LocalAPIRequest] { seen.withLock { $0 } }

    func client(token: String? = nil) -> LocalAPIClient {
        LocalAPIClient(token: token) { (request) throws(LocalAPIError) in
            self.seen.withLock { $0.append(request) }
            return self.response
        }
    }
}
