import TestSupport
import Testing

/// Thousands of bad days, each decided by its seed.
@Suite("Simulated bad days", .serialized)
struct SimulationTests {
    @Test("whatever happens, in whatever order, the rules hold")
    func holds() throws {
        let workplace = try Workplace()
        defer { workplace.remove() }
        var isFirst = true
        for seed in SimulationSeeds.chosen(15, full: 50) {
            let simulation = Simulation(seed: seed, workplace: workplace)
            let outcome = try simulation.run(simulation.script)
            if TestRun.replayed != nil { print(outcome.log.joined(separator: "\n")) }
            guard let violation = outcome.violation else { continue }
            // Finding the shortest script takes many runs.
            Issue.record("\(isFirst ? try simulation.report(violation) : "seed \(seed) breaks \(violation)")")
            isFirst = false
        }
    }

    @Test("two runs of one seed are the same to the last line of their logs", arguments: [3, 17, 91] as [UInt64])
    func repeats(_ seed: UInt64) throws {
        let workplace = try Workplace()
        defer { workplace.remove() }
        let simulation = Simulation(seed: seed, workplace: workplace)
        let first = try simulation.run(simulation.script).log
        #expect(try simulation.run(simulation.script).log == first)
        #expect(first.count > 50)
    }
}
