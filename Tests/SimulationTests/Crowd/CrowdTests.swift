import EntitySchema
import TestSupport
import Testing

/// Many daemons on one upstream, half of which write. `CROWD_SEEDS=n` runs n seeds from `FIRST_SEED` (1), `TEST_SEED` one.
@Suite("Simulation of a crowd", .serialized)
struct CrowdTests {
    private static let seeds: [UInt64] = {
        guard TestRun.replayed == nil, let count = TestRun.environment["CROWD_SEEDS"].flatMap({ UInt64($0) }) else {
            return TestRun.seeds(1, full: 8)
        }
        let first = TestRun.first ?? 1
        return Array(first..<first + count)
    }()

    private func run(_ count: Int, _ seed: UInt64, _ policy: ConflictPolicy, steps: Int) throws {
        let databases = try DatabaseFolder()
        defer { databases.remove() }
        let crowd = try Crowd(count, seed: seed, policy: policy, steps: steps, databases: databases)
        let violation = try crowd.run()
        let log = crowd.world.log.text
        if TestRun.replayed != nil { print(log.joined(separator: "\n")) }
        print(
            "crowd: seed \(seed), \(count) daemons, \(policy.rawValue): \(crowd.world.ledger.all.count) writes, "
                + "\(crowd.world.server.effects.count) changes arrived")
        guard let violation else { return }
        Issue.record(
            """
            \(count) daemons under \(policy.rawValue) break \(violation)
            \(TestRun.note(seed)); its log ends:
              \(log.suffix(60).joined(separator: "\n  "))
            """)
    }

    @Test("50 daemons of which 25 write the same records under faults converge, and nothing is lost")
    func fifty() throws {
        for seed in Self.seeds {
            let policies = ConflictPolicy.allCases
            try run(50, seed, policies[Int(seed % UInt64(policies.count))], steps: 30)
        }
    }

    @Test("12 daemons converge under each way to decide conflicts", arguments: ConflictPolicy.allCases)
    func twelve(_ policy: ConflictPolicy) throws {
        for seed in Self.seeds { try run(12, seed, policy, steps: 30) }
    }

    @Test("a fault of the daemons is noticed", arguments: CrowdMutation.allCases)
    func noticed(_ mutation: CrowdMutation) throws {
        let databases = try DatabaseFolder()
        defer { databases.remove() }
        let seed = try (1...5).first { (seed: UInt64) in
            let crowd = try Crowd(
                8, seed: seed, policy: .serverWins, steps: 30, databases: databases, mutation: mutation)
            return try crowd.run()?.rule == mutation.rule
        }
        #expect(seed != nil, "\(mutation) was not noticed within 5 seeds")
    }
}
