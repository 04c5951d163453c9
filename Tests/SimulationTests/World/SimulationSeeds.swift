import TestSupport

/// The seeds that a simulation runs.
enum SimulationSeeds {
    /// `TEST_SEED` alone, `SEEDS` of them from `FIRST_SEED` as `scripts/simulate` sets them, or else as many as the test says.
    static func chosen(_ count: UInt64, full: UInt64) -> [UInt64] { named ?? TestRun.seeds(count, full: full) }

    /// The same, but from 1 unless others are named: of the habits together some seed may still break a rule.
    static func first(_ count: UInt64, full: UInt64) -> [UInt64] {
        named ?? TestRun.replayed.map { [$0] } ?? Array(1...(TestRun.isFull ? full : count))
    }

    private static var named: [UInt64]? {
        guard TestRun.replayed == nil, let number = TestRun.environment["SEEDS"].flatMap({ UInt64($0) }) else {
            return nil
        }
        let start = TestRun.first ?? 1
        return Array(start..<start + number)
    }
}
