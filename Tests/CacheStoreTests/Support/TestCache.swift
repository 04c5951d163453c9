import EntitySchema
import Foundation
import JSONText
import SQLiteStore
import Synchronization
import TestSupport
import Testing

@testable import CacheStore

/// A real database in a temporary folder, with a fixed clock and countable ids.
///
/// When a test is done with it, the database must still be consistent (`ConsistencyCheck`).
final class TestCache: Sendable {
    let folder: TemporaryFolder
    let store: CacheStore
    private let damaged = Atomic(false)

    static let now = Timestamp.sample

    init(
        schema yaml: String = TestCache.shop, in folder: TemporaryFolder? = nil, key: UInt8 = 1,
        hooks: [HookRule] = [], goesOn: @escaping @Sendable () -> Bool = { true },
        uptime: @escaping @Sendable () -> Duration = { .zero }
    ) throws {
        self.folder = try folder ?? TemporaryFolder()
        let schema = try EntitySchema(yaml: yaml, file: "shop.yaml")
        let counter = Counter()
        store = try CacheStore.temporary(
            schema, in: self.folder, key: key, hooks: hooks, goesOn: goesOn, uptime: uptime
        ) {
            "id-\(counter.next())-\(UUID().uuidString)"
        }
    }

    /// The shop with these orders, whose conflicts are decided so.
    static func with(orders: String, conflict policy: String) async throws -> TestCache {
        let cache = try TestCache(schema: shop.replacing("  orders:\n", with: "  orders:\n    conflict: \(policy)\n"))
        _ = try await cache.pull("orders", orders)
        return cache
    }

    /// Set this when the test damages the database on purpose.
    var isDamaged: Bool {
        get { damaged.load(ordering: .relaxed) }
        set { damaged.store(newValue, ordering: .relaxed) }
    }

    deinit {
        guard !isDamaged else { return }
        do {
            let found = try store.inconsistencies()
            guard !found.isEmpty else { return }
            Issue.record("the database is inconsistent: \(found.map(\.description).joined(separator: "; "))")
        } catch CacheError.failed(let message) where message.contains("closed") {
            // A test that closes the store goes on with another one.
        } catch {
            Issue.record("the database cannot be checked: \(error)")
        }
    }

    var path: String { folder.path("cache.db") }

    /// Closes the store and opens the same file again, with another schema if one is given.
    func reopened(
        schema: String = TestCache.shop, key: UInt8 = 1, hooks: [HookRule] = []
    ) throws -> TestCache {
        try store.close()
        return try TestCache(schema: schema, in: folder, key: key, hooks: hooks)
    }

    func pull(_ entity: String, _ records: String) async throws -> PageOutcome {
        try await store.apply(PulledPage(entity: entity, records: records), at: Self.now)
    }

    func record(_ entity: String, _ key: String) throws -> JSONText? {
        try store.record(entity, key: key).map { try JSONText($0) }
    }

    func keys(_ query: ListQuery) throws -> [String] {
        try JSONText(store.list(query).records).elements.compactMap { $0["id"]?.string }
    }

    static let shop = """
        schema: shop
        upstream:
          base_url: http://localhost
          pagination: { style: page }
        entities:
          orders:
            sort: -created_at
            fields:
              id: { type: string }
              status: { type: enum, index: true, values: { open: Open, ready: Ready } }
              total: { type: money }
              notes: { type: string }
              passcode: { type: string, secret: true }
              created_at: { type: time, index: true }
              updated_at: { type: time, index: true }
            many:
              messages: { of: messages, by: order_id, on_delete: cascade }
            pull: { path: /orders, since: { param: since, field: updated_at }, deleted: deleted_at,
              detail: { path: "/orders/{id}/messages", into: messages, when_changed: updated_at } }
            push:
              create: { call: POST /orders }
              update: { call: "PATCH /orders/{id}" }
              delete: { call: "DELETE /orders/{id}" }
          messages:
            fields:
              id: { type: string }
              order_id: { type: reference, to: orders, index: true, required: true }
              text: { type: string, required: true }
            push:
              create: { call: "POST /orders/{order_id}/messages" }
            order_within: order_id
        """
}
