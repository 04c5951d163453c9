package import CacheStore
package import EntitySchema
import Foundation
import SQLiteStore
package import Secrets

extension CacheStore {
    /// A store in a temporary folder, which is removed after the store is released.
    ///
    /// `folder` is for tests that open the same file again: it holds `cache.db`. By `uptime` nothing takes any time, unless a test
    /// says otherwise.
    package static func temporary(
        _ schema: EntitySchema, in folder: TemporaryFolder? = nil, key: UInt8 = 1,
        hooks: [HookRule] = [], goesOn: @escaping @Sendable () -> Bool = { true },
        uptime: @escaping @Sendable () -> Duration = { .zero },
        makeID: @escaping @Sendable () -> String = { UUID().uuidString }
    ) throws -> CacheStore {
        let folder = try folder ?? TemporaryFolder()
        return try CacheStore(
            path: folder.path("cache.db"), schema: schema, sealer: SecretSealer.sample(key),
            settings: CacheSettings(hooks: hooks), watch: OpeningWatch(goesOn: goesOn),
            runtime: GroupCommit.Runtime(uptime: uptime)
        ) {
            // The store holds this closure, and the closure the folder.
            withExtendedLifetime(folder) { makeID() }
        }
    }
}

extension SecretSealer {
    /// A sealer whose key is one byte repeated.
    package static func sample(_ byte: UInt8 = 1) throws -> SecretSealer {
        guard let sealer = SecretSealer(key: Array(repeating: byte, count: keyLength)) else { throw InvalidKey() }
        return sealer
    }

    private struct InvalidKey: Error {}
}

extension Timestamp {
    /// The time at which tests take place: 2026-11-21T10:42:00Z.
    package static let sample = Timestamp(milliseconds: 1_795_257_720_000)
}
