import ReferenceUpstream
import Testing

/// Switches off each rule for real upstreams: the checks must notice.
@Suite("Checks catch engines without a rule", .serialized)
struct SystemMutationTests {
    private static let mostSeeds: UInt64 = 200

    @Test("each rule that is switched off is missed", arguments: SystemMutation.allCases)
    func caught(_ mutation: SystemMutation) throws {
        let databases = try DatabaseFolder()
        defer { databases.remove() }
        let seed = try (1...Self.mostSeeds).first { seed in
            let violation = try SystemSimulation(try mutation.plan(seed: seed), databases: databases).run().violation
            return violation.map { mutation.rule == nil || mutation.rule == $0.rule } ?? false
        }
        #expect(seed != nil, "\(mutation) was not caught within \(Self.mostSeeds) seeds")
    }
}
