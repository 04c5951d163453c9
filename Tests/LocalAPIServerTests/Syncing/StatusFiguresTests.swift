import CacheStore
import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import LocalAPIServer
@testable import Upstream

@Suite("Figures of the status")
struct StatusFiguresTests {
    @Test("with a window, the status says how many records are kept, and of how many")
    func window() async throws {
        let api = try TestAPI(
            yaml: """
                schema: shop
                upstream: { base_url: http://localhost, pagination: { style: page } }
                entities:
                  orders:
                    fields: { id: { type: string }, status: { type: string } }
                    pull: { path: /orders, where: { status: open } }
                  clients: { fields: { id: { type: string } }, pull: { path: /clients } }
                """)
        let records = #"[{"id":"a","status":"open"},{"id":"b","status":"done"}]"#
        _ = try await api.store.apply(PulledPage(entity: "orders", records: records), at: TestAPI.now)
        try await api.store.setCursor(of: "orders", to: PullCursor(total: 2))
        let status = await api.call("GET", "/v1/status").json
        let orders = try #require(status.at(path: "entities.orders"))
        #expect(orders["kept"]?.plain == "1" && orders["total"]?.plain == "2", "\(orders.text)")
        #expect(status.at(path: "entities.clients.kept") == .none)
    }

    @Test("the status counts the records of the moment, however often it was asked for before")
    func rows() async throws {
        let api = try await TestAPI.filled()
        func count() async -> Int? {
            await api.call("GET", "/v1/status").json.at(path: "entities.orders.rows")?.integer
        }
        let before = try #require(await count())
        #expect(await count() == before)
        _ = try await api.store.apply(PulledPage(entity: "orders", records: #"[{"id":"new"}]"#), at: TestAPI.now)
        #expect(await count() == before + 1)
        try await api.store.setCursor(of: "orders", to: PullCursor(watermark: "2026-01-01T00:00:00Z"))
        let orders = await api.call("GET", "/v1/status").json.at(path: "entities.orders")
        #expect(orders?["cursor"]?.string == "2026-01-01T00:00:00Z" && orders?["rows"]?.integer == before + 1)
    }

    @Test("the status says which account is signed in")
    func account() async throws {
        let api = try await TestAPI.filled()
        #expect(await api.call("GET", "/v1/status").json.at(path: "upstream.account")?.kind == .null)
        try await api.store.setAccountName("Robin")
        #expect(await api.call("GET", "/v1/status").json.at(path: "upstream.account")?.string == "Robin")
    }

    @Test("what is left of the upstream's limits stands in the status and in the metrics")
    func budget() async throws {
        let window = RequestLimits.Window(requests: 100, span: .seconds(60))
        let balance = RequestBudget.Balance(remaining: 37, window: window, waiting: 2)
        let api = try TestAPI(upstream: AbsentUpstream(budget: balance))
        let budget = try #require(await api.call("GET", "/v1/status").json.at(path: "upstream.budget"))
        for (name, value) in [("remaining", "37"), ("requests", "100"), ("per_s", "60"), ("waiting", "2")] {
            #expect(budget[name]?.plain == value, "\(budget.text)")
        }
        let metrics = ExpositionParser(await api.call("GET", "/metrics").text)
        #expect(metrics.value("repairminder_sync_upstream_requests_remaining") == 37)
        #expect(metrics.value("repairminder_sync_upstream_requests_waiting") == 2)
        let unlimited = await (try TestAPI()).call("GET", "/v1/status").json
        #expect(unlimited.at(path: "upstream.budget")?.kind == .null)
    }
}
