import Testing

/// Breaks each rule on purpose: its check must notice.
@Suite("Checks catch broken engines", .serialized)
struct MutationTests {
    private static let mostSeeds: UInt64 = 200

    @Test("each fault is caught by the check of the rule that it breaks", arguments: Mutation.allCases)
    func caught(_ mutation: Mutation) throws {
        let databases = try DatabaseFolder()
        defer { databases.remove() }
        let seed = try (1...Self.mostSeeds).first { seed in
            let simulation = Simulation(
                seed: seed, databases: databases, mutation: mutation, rules: [mutation.rule])
            return try simulation.run(simulation.script).violation != nil
        }
        print("FIRSTSEED", mutation, seed ?? 0)
        #expect(seed != nil, "\(mutation) was not caught within \(Self.mostSeeds) seeds")
    }
}
