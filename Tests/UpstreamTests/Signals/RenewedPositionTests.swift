import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import Upstream

/// A list of events whose upstream answers an unknown position with a new one, as Asana does.
@Suite("A position that comes with an error")
struct RenewedPositionTests {
    private static func schema() throws -> EntitySchema {
        try EntitySchema(
            yaml: """
                schema: s
                upstream:
                  base_url: https://shop.example
                  signals:
                    - events: { path: /events, records: data, since: { param: sync, next: sync, expired: [412, 410] },
                        entity: orders, key: resource.gid }
                entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders } } }
                """, file: "s.yaml")
    }

    private static func events(_ schema: EntitySchema) throws -> SignalEvents {
        guard case .events(let events)? = schema.upstream.signals.first?.kind else {
            throw UpstreamError.malformed("no events")
        }
        return events
    }

    private func page(_ status: Int, _ body: String, at position: String? = nil) async throws -> Page {
        let schema = try Self.schema()
        let events = try Self.events(schema)
        let transport = ScriptedTransport { _ in .json(status, body) }
        let upstream = HTTPUpstream(
            plan: schema.upstream, transport: transport, token: nil, now: { Timestamp.sample })
        let page = try await upstream.page(events.page(since: position))
        let query = position.map { "?sync=\($0)" } ?? ""
        #expect(transport.requests.map(\.url) == ["https://shop.example/events\(query)"])
        return page
    }

    @Test("is where the next poll begins, and there are no events", arguments: [412, 410])
    func renewed(_ status: Int) async throws {
        let page = try await page(status, #"{"errors":[{"message":"Sync token invalid or too old."}],"sync":"s1"}"#)
        #expect(page.isRenewed && page.next == "s1" && page.count == 0)
    }

    @Test("comes only with an error: the position in an answer with events is an ordinary one")
    func usual() async throws {
        let page = try await page(200, #"{"data":[{"resource":{"gid":"7"}}],"sync":"s2"}"#, at: "s1")
        #expect(!page.isRenewed && page.next == "s2" && page.count == 1)
    }

    @Test("must be there, and other errors stay errors")
    func others() async throws {
        await #expect(throws: UpstreamError.self) { try await page(412, #"{"errors":[]}"#) }
        await #expect(throws: UpstreamError.changed(status: 409, "GET /events answered 409: sync: s1")) {
            try await page(409, #"{"sync":"s1"}"#)
        }
    }

    @Test("is also sent by the reference upstream")
    func reference() async throws {
        let schema = try Self.schema()
        let events = try Self.events(schema)
        try await UpstreamFixture.calls.with(schema, records: ["orders": [.object(["id": "a"])]]) { upstream, _ in
            let first = try await upstream.page(events.page(since: nil))
            #expect(first.isRenewed && first.next != nil)
            let next = try await upstream.page(events.page(since: first.next))
            #expect(!next.isRenewed && next.count == 0 && next.next == first.next)
        }
    }
}
