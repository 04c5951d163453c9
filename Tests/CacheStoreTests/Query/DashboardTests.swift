import EntitySchema
import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Dashboard figures")
struct DashboardTests {
    private static let shop = """
        schema: shop
        upstream:
          base_url: http://localhost
          pagination: { style: page }
        entities:
          sales:
            sort: -sold_at
            fields:
              id: { type: string }
              state: { type: enum, index: true, values: { open: Open, paid: Paid, void: Void } }
              is_gift: { type: boolean }
              amount: { type: money, from: money.amount }
              buyer: { type: string, index: true }
              clerk: { type: string }
              sold_at: { type: time, index: true }
            pull: { path: /sales }
            push:
              create: { call: POST /sales }
              update: { call: "PATCH /sales/{id}" }
              delete: { call: "DELETE /sales/{id}" }
          returns:
            fields:
              id: { type: string }
              sale_id: { type: reference, to: sales }
              amount: { type: money }
              at: { type: time, index: true }
            pull: { path: /returns }
        dashboard:
          figures:
            sales: { of: sales, at: sold_at, user: clerk }
            gifts: { of: sales, at: sold_at, where: { is_gift: "true" }, user: clerk }
            takings: { of: sales, at: sold_at, sum: amount, where: { state: [paid, open] }, user: clerk }
            buyers: { of: sales, at: sold_at, distinct: buyer, unless: { state: void }, user: clerk }
            new: { of: sales, at: sold_at, distinct: buyer, seen: first, unless: { state: void }, user: clerk }
            old: { of: sales, at: sold_at, distinct: buyer, seen: again, unless: { state: void }, user: clerk }
            returns: { of: returns, at: at, sum: amount, with_count: true, user: sale.clerk }
        """

    private func time(_ text: String) throws -> Timestamp { try #require(Timestamp(iso8601: text)) }

    private func figures(
        _ cache: TestCache, _ days: [(String, String)], user: String? = nil
    ) throws -> [String: [String]] {
        let plan = try #require(try EntitySchema(yaml: Self.shop, file: "shop.yaml").dashboard)
        let ranges = try days.map { try time($0.0)..<time($0.1) }
        let values = try cache.store.figures(plan.figures, in: ranges, user: user)
        return Dictionary(
            uniqueKeysWithValues: zip(plan.figures, values).map { ($0.name, $1.map { $0.amount.json.text }) })
    }

    private let may = ("2026-05-01", "2026-06-01")
    private let june = ("2026-06-01", "2026-07-01")

    @Test("each figure counts what the schema says, in each period")
    func figures() async throws {
        let cache = try TestCache(schema: Self.shop)
        _ = try await cache.pull(
            "sales",
            """
            [{"id":"a","state":"paid","is_gift":false,"amount":0.1,"buyer":"x","clerk":"k","sold_at":"2026-05-01T00:00:00Z"},
             {"id":"b","state":"paid","is_gift":true,"amount":"0.20","buyer":"x","clerk":"l","sold_at":"2026-06-01T00:00:00.000Z"},
             {"id":"c","state":"open","money":{"amount":7.005},"buyer":"y","clerk":"k","sold_at":"2026-06-30T23:59:59.999Z"},
             {"id":"d","state":"void","amount":1000,"buyer":"z","clerk":"k","sold_at":"2026-06-15T12:00:00+02:00"},
             {"id":"e","amount":3,"buyer":null,"clerk":null,"sold_at":"2026-06-15"},
             {"id":"f","state":"paid","amount":"lots","buyer":"w","sold_at":"2026-07-01T00:00:00Z"},
             {"id":"g","state":"paid","amount":5,"sold_at":"yesterday"},{"id":"h","state":"paid","amount":5}]
            """)
        let found = try figures(cache, [june, may])
        #expect(found["sales"] == ["4", "1"])
        #expect(found["gifts"] == ["1", "0"])
        #expect(found["takings"] == ["7.205", "0.10"])
        #expect(found["buyers"] == ["2", "1"])
        #expect(found["new"] == ["1", "1"])
        #expect(found["old"] == ["1", "0"])
    }

    @Test("with a user, only that user's records count, while a buyer is new across all users")
    func user() async throws {
        let cache = try TestCache(schema: Self.shop)
        _ = try await cache.pull(
            "sales",
            """
            [{"id":"a","state":"paid","amount":1,"buyer":"x","clerk":"k","sold_at":"2026-05-02"},
             {"id":"b","state":"paid","amount":2,"buyer":"x","clerk":"l","sold_at":"2026-06-02"},
             {"id":"c","state":"paid","amount":4,"buyer":"y","clerk":"l","sold_at":"2026-06-03"}]
            """)
        let found = try figures(cache, [june, may], user: "l")
        #expect(found["takings"] == ["6.00", "0.00"])
        #expect(found["new"] == ["1", "0"])
        #expect(found["old"] == ["1", "0"])
        #expect(try figures(cache, [june], user: "stranger")["sales"] == ["0"])
    }

    @Test("a record may belong to the user of the record that it refers to")
    func userOfAnother() async throws {
        let cache = try TestCache(schema: Self.shop)
        _ = try await cache.pull("sales", #"[{"id":"a","clerk":"k"},{"id":"b","clerk":"l"}]"#)
        _ = try await cache.pull(
            "returns",
            #"[{"id":"r","sale_id":"a","amount":1.50,"at":"2026-06-02"},{"id":"s","sale_id":"b","amount":2,"at":"2026-06-02"},"#
                + #"{"id":"t","amount":4,"at":"2026-06-02"}]"#)
        #expect(try figures(cache, [june])["returns"] == ["7.50"])
        #expect(try figures(cache, [june], user: "k")["returns"] == ["1.50"])
        let plan = try #require(try EntitySchema(yaml: Self.shop, file: "shop.yaml").dashboard)
        let counts = plan.figures.filter(\.isCounted).map(\.count)
        let ranges = [try time("2026-06-01")..<time("2026-07-01")]
        #expect(try cache.store.figures(counts, in: ranges, user: "l") == [[.count(1)]])
    }

    @Test("pending changes count as readers see them: edits, deletions, and sales without a time from the upstream")
    func pending() async throws {
        let cache = try TestCache(schema: Self.shop)
        _ = try await cache.pull(
            "sales",
            """
            [{"id":"a","state":"paid","amount":1,"buyer":"x","sold_at":"2026-11-20"},
             {"id":"b","state":"paid","amount":2,"buyer":"y","sold_at":"2026-11-21"}]
            """)
        let store = cache.store
        try await store.update("sales", key: "a", body: JSONText(parsing: #"{"amount":10.5}"#), at: TestCache.now)
        try await store.delete("sales", key: "b", at: TestCache.now)
        _ = try await store.create(
            "sales", body: .object(["state": "paid", "amount": 100, "buyer": "x"]), at: TestCache.now)
        let found = try figures(cache, [("2026-11-21", "2026-11-22"), ("2026-11-20", "2026-11-21")])
        #expect(found["sales"] == ["1", "1"])
        #expect(found["takings"] == ["100.00", "10.50"])
        #expect(found["old"] == ["1", "0"])
        #expect(found["new"] == ["0", "1"])
    }

    @Test("each period is one range of the time's index, each check for earlier records one lookup in the buyer's")
    func plan() throws {
        let cache = try TestCache(schema: Self.shop)
        let schema = try EntitySchema(yaml: Self.shop, file: "shop.yaml")
        let plan = try #require(schema.dashboard)
        let groups = DashboardStatement.Group.all(of: plan.figures.filter { $0.entity == "sales" })
        #expect(groups.count == 1)
        let range = try time("2026-06-01")..<time("2026-07-01")
        let statement = try DashboardStatement(
            table: cache.store.table("sales"), owners: nil, group: groups[0], ranges: [range], user: nil)
        let lines = try cache.store.read { db in
            try Row.fetchAll(
                db, sql: "EXPLAIN QUERY PLAN " + statement.sql, arguments: StatementArguments(statement.arguments)
            ).map { $0["detail"] as String }
        }
        #expect(lines.contains("SEARCH record USING INDEX sales_by_sold_at (sold_at>? AND sold_at<?)"))
        #expect(lines.contains("SEARCH earlier USING INDEX sales_by_buyer (buyer=? AND sold_at<?)"))
        #expect(!lines.contains { $0.hasPrefix("SCAN record") || $0.hasPrefix("SCAN earlier") }, "\(lines)")
    }

    @Test("adjoining and overlapping ranges are read once")
    func merging() throws {
        let days = try ["2026-06-01", "2026-06-05", "2026-06-10", "2026-06-20"].map { try time($0) }
        #expect(
            DashboardStatement.merged([days[2]..<days[3], days[0]..<days[1], days[0]..<days[2]]) == [days[0]..<days[3]])
        #expect(
            DashboardStatement.merged([days[2]..<days[3], days[0]..<days[1]]) == [days[0]..<days[1], days[2]..<days[3]])
    }
}
