package import CacheStore
package import EntitySchema
import Foundation
import Secrets
import Synchronization

/// A cache in memory (`/dev/shm`), deleted with this object.
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
            fatalError("a key of 32 bytes was rejected")
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

    package static func made() throws -> TemporaryCache {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../schema.yaml")
        let yaml = try String(contentsOf: file, encoding: .utf8)
        return try TemporaryCache(schema: EntitySchema(yaml: yaml, file: "Fuzz/schema.yaml"))
    }
}
