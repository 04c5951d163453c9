import ReferenceUpstream
import Synchronization

/// The random numbers of a whole fleet, which its schedules draw from as well.
final class FleetRandom: Sendable {
    private let generator: Mutex<SplitMix64>

    init(seed: UInt64) { generator = Mutex(SplitMix64(seed: seed)) }

    /// From 0 up to, not including, 1.
    func fraction() -> Double { generator.withLock { $0.fraction() } }
}
