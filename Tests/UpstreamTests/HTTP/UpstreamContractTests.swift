import Foundation
import JSONText
import ReferenceUpstream
import SocketServer
import Testing
import Upstream

@testable import EntitySchema

/// The engine's contract with an upstream, over real sockets and libcurl, and over plain calls.
@Suite("An upstream over HTTP")
struct UpstreamContractTests {
    /// Three orders, in pages of two.
    private func with(
        _ way: UpstreamFixture, _ body: (any Upstream, ReferenceUpstream, Entity) async throws -> Void
    ) async throws {
        let schema = try EntitySchema(yaml: Self.shop, file: "shop.yaml")
        let records = try (1...3).map { number in
            try JSONText(
                parsing: #"{"id":"\#(number)","total":\#(number).50,"updated_at":"2026-01-0\#(number)T00:00:00.000Z"}"#)
        }
        let orders = try #require(schema["orders"])
        try await way.with(schema, records: ["orders": records]) { try await body($0, $1, orders) }
    }

    @Test(
        "pages have their records byte for byte and the total; the last has no next page",
        arguments: UpstreamFixture.allCases)
    func pages(_ way: UpstreamFixture) async throws {
        try await with(way) { upstream, _, orders in
            let list = try #require(orders.pull?.list)
            let first = try await upstream.page(PageRequest(path: "/orders", list: list))
            #expect(first.records.elements.first?["total"]?.text == "1.50")
            #expect(first.count == 2 && first.total == 3 && first.next != nil)
            let second = try await upstream.page(PageRequest(path: "/orders", list: list, position: first.next))
            #expect(second.count == 1 && second.next == nil)
        }
    }

    @Test("a list since a time has the records changed then or later", arguments: UpstreamFixture.allCases)
    func since(_ way: UpstreamFixture) async throws {
        try await with(way) { upstream, _, orders in
            let list = try #require(orders.pull?.list)
            let since = QueryItem(name: "updated_since", value: "2026-01-03T00:00:00.000Z")
            let page = try await upstream.page(PageRequest(path: "/orders", since: since, list: list))
            #expect(page.records.elements.map { $0["id"]?.string } == ["3"])
        }
    }

    @Test("a record is found by its key, a missing one is nil", arguments: UpstreamFixture.allCases)
    func record(_ way: UpstreamFixture) async throws {
        try await with(way) { upstream, _, orders in
            let found = try await upstream.record(of: orders, known: .object(["id": "2"]))
            #expect(found?.record["total"]?.text == "2.50")
            let missing = try await upstream.record(of: orders, known: .object(["id": "9"]))
            #expect(missing == nil)
        }
    }

    @Test(
        "a change repeated with its key is applied once and gets the first response again",
        arguments: UpstreamFixture.allCases)
    func idempotency(_ way: UpstreamFixture) async throws {
        try await with(way) { upstream, reference, _ in
            let request = PushRequest(
                method: "POST", path: "/orders", body: JSONText.object(["total": 5]), record: Place(paths: ["data"]))
            let first = try await upstream.push(request, idempotencyKey: "k-1")
            let again = try await upstream.push(request, idempotencyKey: "k-1")
            #expect(first.record?.record["id"] == again.record?.record["id"])
            #expect(reference.records(of: "orders").count == 4)
        }
    }

    @Test("every failure is classified by what to do about it", arguments: UpstreamFixture.allCases)
    func failures(_ way: UpstreamFixture) async throws {
        try await with(way) { upstream, reference, _ in
            func failure(_ effect: Faults.Effect) async -> UpstreamError? {
                reference.faults = Faults([Faults.Rule(effect)])
                let request = PushRequest(method: "PATCH", path: "/orders/1", body: JSONText.object(["total": 5]))
                do throws(UpstreamError) {
                    _ = try await upstream.push(request, idempotencyKey: UUID().uuidString)
                    return nil
                } catch {
                    return error
                }
            }
            guard case .unclear(500, _) = await failure(.fail(status: 500)) else { return wrong("500") }
            guard case .throttled(.seconds(7), _) = await failure(.fail(status: 429, retryAfter: "7")) else {
                return wrong("429")
            }
            guard
                case .throttled(.seconds(3600), _) = await failure(
                    .fail(status: 503, retryAfter: "99999999999999999999"))
            else {
                return wrong("503")
            }
            guard case .unauthorized = await failure(.fail(status: 401)) else { return wrong("401") }
            guard case .changed(409, _) = await failure(.fail(status: 409)) else { return wrong("409") }
            guard case .gone(410, _) = await failure(.fail(status: 410)) else { return wrong("410") }
            guard case .refused(422, let message) = await failure(.fail(status: 422)) else { return wrong("422") }
            #expect(message.contains("fault rule"), "the upstream's own words are kept")
            guard case .unclear(nil, _) = await failure(.cutBody) else { return wrong("a cut-off answer") }
        }
    }

    @Test("an unexpected response is rejected as a whole", arguments: UpstreamFixture.allCases)
    func malformed(_ way: UpstreamFixture) async throws {
        try await with(way) { upstream, _, orders in
            var list = try #require(orders.pull?.list)
            // What comes is one record, which would be a list of one.
            list.lone = nil
            let request = PageRequest(path: "/orders/1", list: list)
            await #expect(throws: UpstreamError.self) {
                try await upstream.page(request)
            }
        }
    }

    @Test("the account and the probe respond", arguments: UpstreamFixture.allCases)
    func account(_ way: UpstreamFixture) async throws {
        try await with(way) { upstream, _, _ in
            let account = try await upstream.account()
            #expect(account?.id == "company-1")
            try await upstream.probe()
        }
    }

    private func wrong(_ what: String) {
        Issue.record("\(what) was classified wrongly")
    }

    private static let shop = """
        schema: shop
        upstream:
          base_url: http://localhost
          account: { path: /me, id: data.company.id }
          probe: /health
          records: data
          error_message: error
          idempotency_header: Idempotency-Key
          pagination: { style: page, page_size: 2, total: pagination.total, pages: pagination.pages }
        entities:
          orders:
            fields:
              id: { type: string }
              total: { type: money }
              updated_at: { type: time }
            pull: { path: /orders, since: { param: updated_since, field: updated_at } }
            push:
              create: { call: POST /orders }
              update: { call: "PATCH /orders/{id}" }
        """
}
