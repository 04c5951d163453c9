import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import Upstream

/// Headers that the schema adds to every request.
@Suite("Headers of a schema")
struct SchemaHeaderTests {
    private func schema(_ headers: String) throws -> EntitySchema {
        try EntitySchema(
            yaml: """
                schema: s
                upstream: { base_url: "https://shop.example", account: { path: /me, id: id }, headers: \(headers) }
                entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders } } }
                """, file: "s.yaml")
    }

    @Test("each is sent once, also in place of the program's own User-Agent")
    func sent() async throws {
        let plan = try schema("{ User-Agent: shop (Mobile), X-Tenant: north }").upstream
        let transport = ScriptedTransport { _ in
            HTTPResponse(
                status: 200, headers: [HTTPHeader("Content-Type", "application/json")], body: Array(#"{"id":"a"}"#.utf8)
            )
        }
        let upstream = HTTPUpstream(plan: plan, transport: transport)
        #expect(try await upstream.account()?.id == "a")
        let headers = try #require(transport.requests.first).headers
        #expect(headers.filter { $0.name == "User-Agent" }.map(\.value) == ["shop (Mobile)"])
        #expect(headers.filter { $0.name == "X-Tenant" }.map(\.value) == ["north"])
    }

    @Test("Accept takes the place of the one for JSON, but not of that of a download")
    func accept() async throws {
        let plan = try schema("{ accept: application/vnd.api+json }").upstream
        let transport = ScriptedTransport { _ in HTTPResponse.json(200, #"{"id":"a"}"#) }
        let upstream = HTTPUpstream(plan: plan, transport: transport)
        _ = try await upstream.account()
        _ = try await upstream.download("https://shop.example/a.png", limit: 9, into: BodySink { _ in true })
        let accepted = transport.requests.map { request in
            request.headers.filter { $0.name.lowercased() == "accept" }.map(\.value)
        }
        #expect(accepted == [["application/vnd.api+json"], ["*/*"]])
    }

    @Test(
        "a change asks for JSON, or for what the schema accepts",
        arguments: [
            ("{ X-Tenant: north }", "application/json"),
            ("{ accept: application/vnd.api+json }", "application/vnd.api+json"),
        ])
    func changes(headers: String, expected: String) async throws {
        let plan = try schema(headers).upstream
        let transport = ScriptedTransport { _ in HTTPResponse.json(200, #"{"id":"a"}"#) }
        let upstream = HTTPUpstream(plan: plan, transport: transport)
        let change = PushRequest(entity: "orders", method: "PATCH", path: "/orders/a", body: .object(["notes": "n"]))
        _ = try await upstream.push(change, idempotencyKey: "1")
        let sent = try #require(transport.requests.first).headers.filter { $0.name.lowercased() == "accept" }
        #expect(sent.map(\.value) == [expected])
        let shown = change.shown(plan, idempotencyKey: "1")["headers"]?.members ?? []
        #expect(shown.filter { $0.key.lowercased() == "accept" }.map(\.value.plain) == [expected])
    }

    @Test("a header for the keys of creations goes with creations alone")
    func keysOfCreations() async throws {
        let plan = try EntitySchema(
            yaml: """
                schema: s
                upstream: { base_url: "https://shop.example", idempotency_header: { header: X-Once, for: create } }
                entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders } } }
                """, file: "s.yaml"
        ).upstream
        let transport = ScriptedTransport { _ in HTTPResponse.json(200, #"{"id":"a"}"#) }
        let upstream = HTTPUpstream(plan: plan, transport: transport)
        for operation in Operation.allCases {
            let change = PushRequest(
                entity: "orders", method: "POST", path: "/orders", body: .object(["notes": "n"]), operation: operation)
            _ = try await upstream.push(change, idempotencyKey: operation.rawValue)
        }
        #expect(transport.requests.map { $0.header("X-Once") } == ["create", nil, nil])
    }

    @Test(
        "those that the daemon sets itself, and those that would break a request, are refused",
        arguments: [
            "{ Authorization: x }", "{ content-type: x }", "{ host: x }", #"{ "X-A: b": c }"#, #"{ X-A: "a\r\nB: c" }"#,
        ])
    func refused(headers: String) {
        #expect(throws: SchemaError.self) { try schema(headers) }
    }
}
