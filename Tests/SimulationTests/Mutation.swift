import GRDB
import Upstream

@testable import CacheStore

/// A fault put into the engine on purpose, to see whether the checks catch it.
enum Mutation: String, Sendable, CaseIterable {
    case forgetsFailures

    /// Damages a store that has just been opened.
    func damage(_ store: CacheStore) throws {
    }

    func damaged(_ upstream: SimulatedUpstream) -> any Upstream { upstream }
}
