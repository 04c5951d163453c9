import Testing

/// Breaks each rule on purpose: its check must notice.
@Suite("Checks catch broken engines", .serialized)
struct MutationTests {
    private static let mostSeeds: UInt64 = 200

    /// For each fault that many seeds miss, one that catches it; tried first. A change to the engine may move them.
    private static let likelySeeds: [Mutation: UInt64] = [
        .dropsFailedChanges: 11, .forgetsAttempts: 91, .forgetsWaitingFigures: 30, .ignoresServersClock: 30,
        .runsAheadOfData: 9,
    ]

    @Test("each fault is caught by the check of the rule that it breaks", arguments: Mutation.allCases)
    func caught(_ mutation: Mutation) throws {
        let databases = try DatabaseFolder()
        defer { databases.remove() }
        let seeds = Self.likelySeeds[mutation].map { [$0] } ?? []
        let seed = try (seeds + Array(1...Self.mostSeeds)).first { seed in
            let simulation = Simulation(
                seed: seed, databases: databases, mutation: mutation, rules: [mutation.rule])
            return try simulation.run(simulation.script).violation != nil
        }
        #expect(seed != nil, "\(mutation) was not caught within \(Self.mostSeeds) seeds")
    }
}
