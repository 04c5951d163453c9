package import CacheStore
package import EntitySchema
import Foundation
import Secrets
import Synchronization

/// A cache in memory (`/dev/shm`), which goes with it.
package final class TemporaryCache: Sendable {
    package static let now = Timestamp(milliseconds: 1_795_257_720_000)

    package let schema: EntitySchema
    package let store: CacheStore
    private let folder: URL

    init(schema: EntitySchema) throws {
        self.schema = schema
        folder = URL(filePath: "/dev/shm/repairminder-fuzz-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        guard let sealer = SecretSealer(key: Array(repeating: 1, count: SecretSealer.keyLength)) else {
            fatalError("32 bytes are no key")
        }
        let count = Atomic(0)
        store = try CacheStore(path: folder.appending(path: "cache.db").path, schema: schema, sealer: sealer) {
            "made-\(count.add(1, ordering: .relaxed).newValue)"
        }
    }

    deinit {
        try? store.close()
        try? FileManager.default.removeItem(at: folder)
    }

    /// One field of each type, some of them indexed, a secret, a list and an object.
    static let schema = """
        schema: fuzz
        upstream:
          base_url: http://localhost
          records: data
          pagination: { style: cursor, next: next, total: total }
        entities:
          orders:
            sort: -created_at
            fields:
              id: { type: string }
              status: { type: enum, index: true, values: { open: Open, ready: Ready } }
              total: { type: money, index: true }
              count: { type: integer, from: quantity }
              done: { type: boolean }
              notes: { type: string, search: true }
              passcode: { type: string, secret: true }
              parts: { type: list }
              place: { type: object }
              created_at: { type: time, index: true }
              updated_at: { type: time, index: true }
            many:
              messages: { of: messages, by: order_id, on_delete: cascade }
            pull: { path: /orders, since: { param: since, field: updated_at }, deleted: deleted_at }
            push: { create: { call: POST /orders }, update: { call: "PATCH /orders/{id}" } }
          messages:
            fields:
              id: { type: string }
              order_id: { type: reference, to: orders }
              body: { type: string, search: true }
            pull: { path: /messages }
        """

    package static func made() throws -> TemporaryCache {
        try TemporaryCache(schema: EntitySchema(yaml: schema, file: "fuzz.yaml"))
    }
}
