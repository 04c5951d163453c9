import ReferenceUpstream
import Testing

/// Switches off each rule for real upstreams: the checks must notice.
@Suite("Checks catch engines without a rule", .serialized)
struct SystemMutationTests {
    private static let mostSeeds: UInt64 = 60

    @Test("each rule that is switched off is missed", arguments: SystemMutation.allCases)
    func caught(_ mutation: SystemMutation) throws {
        let databases = try DatabaseFolder()
        defer { databases.remove() }
        let seed = try (1...Self.mostSeeds).first { seed in
            var plan = try SystemPlan.own(seed: seed, among: [], always: mutation.habits)
            plan.mutation = mutation
            return try SystemSimulation(plan, databases: databases).run().violation != nil
        }
        #expect(seed != nil, "\(mutation) was not caught within \(Self.mostSeeds) seeds")
    }
}
