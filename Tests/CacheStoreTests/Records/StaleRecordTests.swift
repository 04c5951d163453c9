import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

/// What a pull marks as stale: nothing if the server sends the aggregates itself.
@Suite("Stale marks")
struct StaleRecordTests {
    private static let schema = """
        schema: shop
        upstream: { base_url: http://localhost }
        entities:
          clients:
            fields:
              id: { type: string }
              order_count: { type: integer, derive: { count: orders } }
              spent: { type: money, derive: { sum: orders.total, unless: { status: cancelled } } }
            pull: { path: /clients }
            push: { create: { call: POST /clients } }
            many:
              orders: { of: orders, by: client_id }
          orders:
            fields:
              id: { type: string }
              client_id: { type: reference, to: clients, index: true }
              total: { type: money }
              status: { type: string }
            pull: { path: /orders, deleted: deleted_at }
            push:
              create: { call: POST /orders }
              update: { call: "PATCH /orders/{id}" }
              delete: { call: "DELETE /orders/{id}" }
        """
    private static let unsaid = #"{"id":"unsaid","order_count":2,"spent":null}"#
    private static let said = #"{"id":"said","order_count":2,"spent":"9.50"}"#

    private struct Undone: Error { var noted: [String] }

    /// The records that writing a page marks as stale and that are then recomputed. `looksAtAll`: and those that are
    /// only looked at.
    private func notes(
        _ entity: String, _ page: String, _ cache: TestCache, looksAtAll: Bool = false
    ) async throws -> [String] {
        let store = cache.store
        let table = try store.table(entity)
        do {
            return try await store.writer.write { db in
                let context = store.context(db, at: TestCache.now)
                let incoming = try IncomingPage(JSONText(parsing: page), of: table.entity)
                _ = try PageApplier(table: table, context: context).apply(incoming, clear: incoming, .init())
                var noted: [String] = []
                while let (entity, records) = context.records.stale.take(atMost: 10) {
                    let counted = records.filter { looksAtAll || $0.value.cause != .sentChildren }
                    noted += counted.map { "\(entity) \($0.key)" }
                }
                throw Undone(noted: noted.sorted())
            }
        } catch let undone as Undone {
            return undone.noted
        }
    }

    @Test("records sent with all their aggregates mark nothing as stale, not even themselves")
    func plain() async throws {
        let cache = try TestCache(schema: Self.schema)
        #expect(try await notes("clients", "[\(Self.said)]", cache) == [])
        _ = try await cache.pull("clients", "[\(Self.said)]")
        let order = #"{"id":"a","client_id":"said","total":4}"#
        #expect(try await notes("orders", "[\(order)]", cache) == [])
        _ = try await cache.pull("orders", "[\(order)]")
        #expect(try await notes("orders", #"[{"id":"a","client_id":"said","total":5}]"#, cache) == [])
        #expect(try await notes("orders", #"[{"id":"a","deleted_at":"2026-01-01"}]"#, cache) == [])
        #expect(try await notes("clients", #"[{"id":"said","order_count":3,"spent":1}]"#, cache) == [])
    }

    @Test("a client without one of its aggregates is recomputed from all orders")
    func unsaid() async throws {
        let cache = try TestCache(schema: Self.schema)
        #expect(try await notes("clients", "[\(Self.unsaid)]", cache) == ["clients unsaid"])
        _ = try await cache.pull("clients", "[\(Self.unsaid)]")
        let order = #"[{"id":"a","client_id":"unsaid","total":4}]"#
        _ = try await cache.pull("orders", order)
        #expect(try cache.record("clients", "unsaid")?["spent"]?.text == "4.00")
    }

    @Test("a client is looked at for an order only once some client lacks an aggregate, also after a restart")
    func looked() async throws {
        let cache = try TestCache(schema: Self.schema)
        let order = #"[{"id":"a","client_id":"said","total":4}]"#
        _ = try await cache.pull("clients", "[\(Self.said)]")
        #expect(try await notes("orders", order, cache, looksAtAll: true) == [])
        let reopened = try cache.reopened(schema: Self.schema)
        #expect(try await notes("orders", order, reopened, looksAtAll: true) == [])
        _ = try await reopened.pull("clients", "[\(Self.unsaid)]")
        #expect(try await notes("orders", order, reopened, looksAtAll: true) == ["clients said"])
        let again = try reopened.reopened(schema: Self.schema)
        #expect(try await notes("orders", order, again, looksAtAll: true) == ["clients said"])
    }

    @Test("clients are looked at in a database that was written before this was noted")
    func old() async throws {
        let cache = try TestCache(schema: Self.schema)
        _ = try await cache.pull("clients", "[\(Self.unsaid)]")
        try await cache.store.writer.write { db in
            try db.execute(sql: "DELETE FROM sync_setting WHERE name LIKE 'unsaid:%'")
        }
        let reopened = try cache.reopened(schema: Self.schema)
        _ = try await reopened.pull("orders", #"[{"id":"a","client_id":"unsaid","total":4}]"#)
        #expect(try reopened.record("clients", "unsaid")?["spent"]?.text == "4.00")
    }

    @Test("orders count for a client from when the upstream leaves an aggregate out, those that came before included")
    func left() async throws {
        let cache = try TestCache(schema: Self.schema)
        _ = try await cache.pull("clients", "[\(Self.said)]")
        _ = try await cache.pull("orders", #"[{"id":"a","client_id":"said","total":4}]"#)
        #expect(try cache.record("clients", "said")?["spent"]?.text == #""9.50""#)
        _ = try await cache.pull("clients", #"[{"id":"said","order_count":1,"spent":null}]"#)
        #expect(try cache.record("clients", "said")?["spent"]?.text == "4.00")
        _ = try await cache.pull("orders", #"[{"id":"b","client_id":"said","total":5}]"#)
        #expect(try cache.record("clients", "said")?["spent"]?.text == "9.00")
    }

    @Test("a client that was created here counts the orders that the upstream sends")
    func created() async throws {
        let cache = try TestCache(schema: Self.schema)
        let key = try await cache.store.create("clients", body: .object([:]), at: TestCache.now)
        _ = try await cache.pull("orders", "[{\"id\":\"a\",\"client_id\":\"\(key)\",\"total\":4}]")
        #expect(try cache.record("clients", key)?["order_count"]?.text == "1")
    }

    @Test("the effect of local changes is recomputed when either side gets another version")
    func differing() async throws {
        let cache = try TestCache(schema: Self.schema)
        _ = try await cache.pull("clients", "[\(Self.said)]")
        _ = try await cache.pull("orders", #"[{"id":"a","client_id":"said","total":4}]"#)
        try await cache.store.update(
            "orders", key: "a", body: JSONText(parsing: #"{"total":6}"#), at: TestCache.now)
        #expect(try cache.record("clients", "said")?["spent"]?.text == "11.50")
        #expect(
            try await notes("clients", #"[{"id":"said","order_count":3,"spent":1}]"#, cache) == ["clients said"])
        #expect(
            try await notes("orders", #"[{"id":"a","client_id":"said","total":5}]"#, cache).contains("clients said"))
        _ = try await cache.pull("clients", #"[{"id":"said","order_count":3,"spent":1}]"#)
        let spent = try cache.record("clients", "said")?["spent"]
        #expect(spent?.text == "3")
    }

    @Test("many records of an entity are taken in order, each once, and before what is noted meanwhile")
    func parts() {
        var stale = StaleRecords()
        for number in 100..<125 { stale.insert("\(number)", of: "lines", .owner) }
        var taken: [[String]] = []
        while let (entity, records) = stale.take(atMost: 10) {
            taken.append([entity] + records.keys.sorted().map(\.text))
            guard entity == "lines" else { continue }
            // The record that all of them belong to, and one that still waits.
            stale.insert("a", of: "clients", .children)
            if taken.count == 1 { stale.insert("124", of: "lines", .version) }
        }
        #expect(taken.map(\.count) == [11, 11, 6, 2])
        #expect(taken.map { $0[1] } == ["100", "110", "120", "a"])
    }
}
