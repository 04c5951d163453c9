import Foundation

/// How much a test run tries, and from which seed: `TEST_SEED=n` replays one seed, `FIRST_SEED=n` repeats all draws of a run,
/// `TEST_ALL=1` tries everything.
///
/// Tests that could try thousands of cases draw some of them, and name the seed when they fail.
package enum TestRun {
    /// True when every case is tried (`make test-all`).
    package static let isFull = environment["TEST_ALL"] == "1"

    /// The seed of this run: `TEST_SEED` or `FIRST_SEED`, otherwise a new one for each process.
    package static let seed = replayed ?? first ?? UInt64.random(in: 1...999_999_999)

    /// `TEST_SEED`, nil when no run is replayed.
    package static let replayed = environment["TEST_SEED"].flatMap { UInt64($0) }

    /// `FIRST_SEED`, nil when each process draws its own.
    package static let first = environment["FIRST_SEED"].flatMap { UInt64($0) }

    /// The seeds that a test tries one after the other: `count` from this run's seed, or `full` of them from 1 in a full
    /// run, or the replayed one alone.
    package static func seeds(_ count: UInt64, full: UInt64) -> [UInt64] {
        if let replayed { return [replayed] }
        return isFull ? Array(1...full) : Array(seed..<seed + count)
    }

    /// What a failure message says so that the run can be repeated.
    package static func note(_ seed: UInt64 = seed) -> String { "seed \(seed); TEST_SEED=\(seed) replays it" }

    package static let environment = ProcessInfo.processInfo.environment
}
