import Testing

/// A check that nothing can fail is none: each rule is broken on purpose, and its check must see it.
@Suite("Engines broken on purpose", .serialized)
struct MutationTests {
    private static let mostSeeds: UInt64 = 200

    @Test("each is caught by the check of the rule that it breaks", arguments: Mutation.allCases)
    func caught(_ mutation: Mutation) throws {
        let workplace = try Workplace()
        defer { workplace.remove() }
        let seed = try (1...Self.mostSeeds).first { seed in
            let simulation = Simulation(
                seed: seed, workplace: workplace, mutation: mutation, rules: [mutation.rule])
            return try simulation.run(simulation.script).violation != nil
        }
        #expect(seed != nil, "\(mutation) was not caught within \(Self.mostSeeds) seeds")
    }
}
