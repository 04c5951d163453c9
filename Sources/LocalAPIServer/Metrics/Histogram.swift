internal import Synchronization

/// Counts durations in fixed buckets. Recording takes two atomic additions.
final class Histogram: Sendable {
    struct Snapshot: Sendable {
        /// In seconds, rising.
        var bounds: [Double]
        /// One for each bound, and one for durations beyond the last.
        var counts: [UInt64]
        /// In seconds.
        var sum: Double
    }

    /// For calls answered from the cache.
    static let quick: [Double] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
    /// For calls that wait for the network.
    static let slow: [Double] = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

    private let bounds: [Double]
    private let buckets: [Tally]
    private let nanoseconds = Tally()

    init(bounds: [Double]) {
        self.bounds = bounds
        buckets = (0...bounds.count).map { _ in Tally() }
    }

    func record(_ duration: Duration) {
        let seconds = duration / .seconds(1)
        buckets[bounds.firstIndex { seconds <= $0 } ?? bounds.count].add(1)
        nanoseconds.add(UInt64(max(seconds, 0) * 1_000_000_000))
    }

    var snapshot: Snapshot {
        Snapshot(bounds: bounds, counts: buckets.map(\.value), sum: Double(nanoseconds.value) / 1_000_000_000)
    }
}

/// A counter that any thread may increase.
final class Tally: Sendable {
    private let total = Atomic<UInt64>(0)

    func add(_ amount: Int) { add(UInt64(max(amount, 0))) }

    func add(_ amount: UInt64) { total.wrappingAdd(amount, ordering: .relaxed) }

    var value: UInt64 { total.load(ordering: .relaxed) }
}
