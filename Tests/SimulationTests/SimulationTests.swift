import TestSupport
import Testing

/// Random scripts of writes and faults, each decided by its seed.
@Suite("Simulation", .serialized)
struct SimulationTests {
    @Test("the rules hold in every script and order of events")
    func holds() throws {
        let databases = try DatabaseFolder()
        defer { databases.remove() }
        var isFirst = true
        for seed in SimulationSeeds.chosen(15, full: 50) {
            let simulation = Simulation(seed: seed, databases: databases)
            let outcome = try simulation.run(simulation.script)
            if TestRun.replayed != nil { print(outcome.log.joined(separator: "\n")) }
            guard let violation = outcome.violation else { continue }
            // Finding the shortest script takes many runs, so only the first seed is shortened.
            Issue.record("\(isFirst ? try simulation.report(violation) : "seed \(seed) breaks \(violation)")")
            isFirst = false
        }
    }

    @Test("two runs of one seed have identical logs", arguments: [3, 17, 91] as [UInt64])
    func repeats(_ seed: UInt64) throws {
        let databases = try DatabaseFolder()
        defer { databases.remove() }
        let simulation = Simulation(seed: seed, databases: databases)
        let first = try simulation.run(simulation.script).log
        #expect(try simulation.run(simulation.script).log == first)
        #expect(first.count > 50)
    }
}
