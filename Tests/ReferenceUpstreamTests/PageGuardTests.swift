import ReferenceUpstream
import SocketServer
import Testing
import Upstream

/// What the upstream refuses over sockets, where web pages and other users reach it.
@Suite("Calls of web pages and other users")
struct PageGuardTests {
    private func status(
        _ method: String, _ path: String, _ headers: [(String, String)], body: String? = nil,
        lookup: Caller.Lookup? = nil
    ) async throws -> Int {
        let harness = try Harness(TestSchema.repairminder(), ["orders": [#"{"id":"o1","total":129.90}"#]])
        let server = harness.upstream.server(at: .tcp(host: "127.0.0.1", port: 0), lookup: lookup)
        let address = try #require(try server.bind().first)
        let running = Task { try await server.run() }
        defer { running.cancel() }
        let request = HTTPRequest(
            method: method, url: "\(address)\(path)", headers: headers.map { HTTPHeader($0.0, $0.1) },
            body: body.map { Array($0.utf8) })
        let status = try await CurlTransport(userAgent: "test").send(request).status
        if status >= 400 { #expect(harness.upstream.records(of: "orders").count == 1 && harness.upstream.log.isEmpty) }
        return status
    }

    private let order = #"{"id":"o2","total":1}"#
    private let client = #"{"id":"c","email":"a@example.org"}"#

    @Test(
        "a web page may neither read nor write",
        arguments: [
            ("Origin", "https://evil.example"), ("Origin", "null"), ("Sec-Fetch-Site", "cross-site"),
            ("Sec-Fetch-Site", "same-site"), ("Host", "evil.example:7680"), ("Host", "127.0.0.1.evil.example"),
        ])
    func pages(name: String, value: String) async throws {
        #expect(try await status("GET", "/__admin/records/orders", [(name, value)]) == 403)
        #expect(try await status("POST", "/__admin/records/orders", [(name, value)], body: order) == 403)
    }

    @Test(
        "the type of a form or of text is refused where JSON is expected",
        arguments: ["text/plain", "multipart/form-data"])
    func types(type: String) async throws {
        #expect(try await status("POST", "/__admin/records/orders", [("Content-Type", type)], body: order) == 415)
    }

    @Test("curl and a typed address may", arguments: ["localhost:7680", "127.0.0.1", "[::1]:7680", "LOCALHOST"])
    func own(host: String) async throws {
        #expect(
            try await status("GET", "/__admin/records/orders", [("Host", host), ("Sec-Fetch-Site", "none")]) == 200)
        let headers = [("Host", host), ("Content-Type", "application/json")]
        #expect(try await status("POST", "/__admin/records/clients", headers, body: client) == 201)
    }

    @Test("where callers are told apart, a stranger may read and change nothing")
    func strangers() async throws {
        let headers = [("Content-Type", "application/json")]
        for (access, expected) in [(Caller.Access.stranger, 403), (.owner, 201)] {
            let lookup: Caller.Lookup = { _, _ in Caller(user: 1, access: access) }
            #expect(try await status("GET", "/__admin/records/orders", [], lookup: lookup) == 200)
            #expect(
                try await status("POST", "/__admin/records/clients", headers, body: client, lookup: lookup) == expected)
        }
    }
}
