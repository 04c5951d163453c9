import EntitySchema
import JSONText
import ReferenceUpstream
import SocketServer
import Synchronization
import TestSupport
import Testing
import Upstream

/// The upstream on a real socket, called by the project's client: both sides read the schema the same way.
@Suite("Over sockets")
struct SocketTests {
    private func serve(
        _ harness: Harness, _ body: @Sendable (HTTPUpstream, EntitySchema) async throws -> Void
    ) async throws {
        let schema = try TestSchema.repairminder()
        let upstream = harness.upstream
        let server = SocketServer(listeners: [.tcp(host: "127.0.0.1", port: 0)]) { await upstream.respond(to: $0) }
        let address = try #require(try server.bind().first)
        let client = HTTPUpstream(
            plan: schema.upstream, baseURL: "\(address)", transport: try CurlTransport(userAgent: "test"),
            now: { Timestamp(milliseconds: 0) })
        try await withThrowingTaskGroup { group in
            group.addTask { try await server.run() }
            try await body(client, schema)
            group.cancelAll()
        }
    }

    private static func orders(_ schema: EntitySchema) throws -> PageRequest {
        let plan = try #require(schema["orders"]?.pull)
        return PageRequest(path: plan.path, list: plan.list)
    }

    private func shop(_ rules: Faults.Rule...) throws -> Harness {
        try Harness(TestSchema.repairminder(), ["orders": [#"{"id":"o1","total":129.90}"#]]) {
            $0.faults = Faults(rules)
        }
    }

    @Test("the client reads account, pages and records, and its changes arrive")
    func whole() async throws {
        let harness = try shop()
        try await serve(harness) { client, schema in
            let orders = try #require(schema["orders"])
            try await client.probe()
            #expect(try await client.account()?.id == "company-1")
            let page = try await client.page(try Self.orders(schema))
            #expect(page.records.text == #"[{"id":"o1","total":129.90}]"#)
            #expect(page.next == nil && page.total == 1)
            let change = JSONText.object(["status": "ready"])
            let first = try #require(page.records.elements.first)
            let push = try #require(orders.request(for: .update, record: first, body: change))
            #expect(try await client.push(push, idempotencyKey: "k").record?.record["status"] == "ready")
            #expect(try await client.record(of: orders, known: first)?.record["status"] == "ready")
            #expect(try await client.record(of: orders, known: .object(["id": "none"])) == nil)
        }
        #expect(harness.upstream.record("orders", "o1")?["status"] == "ready")
    }

    @Test("all records of an entity arrive whole, even when they take more than 64 MiB")
    func large() async throws {
        let notes = String(repeating: "x", count: 1 << 20)
        let harness = try Harness(
            TestSchema.repairminder(), ["orders": (1...65).map { #"{"id":"o\#($0)","notes":"\#(notes)"}"# }])
        let server = harness.upstream.server(at: .tcp(host: "127.0.0.1", port: 0))
        let address = try #require(try server.bind().first)
        let client = HTTPUpstream(
            plan: try TestSchema.repairminder().upstream, baseURL: "\(address)",
            transport: try CurlTransport(userAgent: "test"), now: { Timestamp(milliseconds: 0) })
        let bytes = Mutex(0)
        try await withThrowingTaskGroup { group in
            group.addTask { try await server.run() }
            _ = try await client.download(
                "/__admin/records/orders", limit: .max,
                into: BodySink { piece in
                    bytes.withLock { $0 += piece.count }
                    return true
                })
            group.cancelAll()
        }
        #expect(bytes.withLock(\.self) > 64 << 20)
    }

    @Test("a truncated body, a missing response and a closed connection are each unclear to the client")
    func broken() async throws {
        let harness = try shop(
            .init(.cutBody, next: 1), .init(.timeoutAfterApply(hold: .zero), next: 1), .init(.offline, next: 1))
        try await serve(harness) { client, schema in
            for _ in 1...3 {
                let error = await #expect(throws: UpstreamError.self) {
                    try await client.page(try Self.orders(schema))
                }
                guard case .unclear(nil, _) = try #require(error) else {
                    Issue.record("expected no clear outcome, got \(String(describing: error))")
                    continue
                }
            }
            #expect(try await client.page(try Self.orders(schema)).count == 1)
        }
        #expect(harness.upstream.log.map(\.fault) == ["cut_body", "timeout_after_apply", "offline", nil])
    }

    @Test("a failure with Retry-After makes the client wait that long")
    func throttled() async throws {
        try await serve(shop(.init(.fail(status: 503, retryAfter: "7")))) { client, schema in
            await #expect(throws: UpstreamError.self) {
                try await client.page(try Self.orders(schema))
            }
            do throws(UpstreamError) {
                _ = try await client.account()
            } catch .throttled(let delay, _) {
                #expect(delay == .seconds(7))
            } catch {
                Issue.record(error)
            }
        }
    }
}
