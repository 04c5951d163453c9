import EntitySchema
import Foundation
import JSONText
import Secrets
import Synchronization
import Testing

@testable import CacheStore

/// A real database in a temporary folder, with a fixed clock and countable ids.
final class TestCache: Sendable {
    let folder: URL
    let store: CacheStore

    static let now = Timestamp(milliseconds: 1_795_257_720_000)

    init(
        schema yaml: String = TestCache.shop, in folder: URL? = nil, key: UInt8 = 1,
        goesOn: @escaping @Sendable () -> Bool = { true }
    ) throws {
        let folder = try folder ?? Self.temporaryFolder()
        self.folder = folder
        let schema = try EntitySchema(yaml: yaml, file: "shop.yaml")
        let counter = Counter()
        let sealer = try #require(SecretSealer(key: Array(repeating: key, count: SecretSealer.keyLength)))
        store = try CacheStore(
            path: folder.appending(path: "cache.db").path, schema: schema, sealer: sealer, goesOn: goesOn
        ) { counter.next() }
    }

    var path: String { folder.appending(path: "cache.db").path }

    /// Closes the store and opens the same file again, with another schema if one is given.
    func reopened(schema: String = TestCache.shop, key: UInt8 = 1) throws -> TestCache {
        try store.close()
        return try TestCache(schema: schema, in: folder, key: key)
    }

    static func temporaryFolder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "cache-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
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

final class Counter: Sendable {
    private let count = Mutex(0)

    func next() -> String {
        count.withLock { count in
            count += 1
            return "id-\(count)-\(UUID().uuidString)"
        }
    }
}
