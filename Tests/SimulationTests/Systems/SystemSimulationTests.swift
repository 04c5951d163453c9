import ReferenceUpstream
import TestSupport
import Testing

/// Runs every shipped schema through the simulation.
@Suite("Simulation of the shipped schemas", .serialized)
struct SystemSimulationTests {
    static let schemas = ["repairminder", "repairminder-live", "propdocs", "itori", "messages"]

    @Test("no write is lost or applied twice, and both sides are equal in the end", arguments: schemas)
    func holds(_ name: String) throws {
        let yaml = try ProjectFiles.text("config/schemas/\(name).yaml")
        let databases = try DatabaseFolder()
        defer { databases.remove() }
        for seed in SimulationSeeds.chosen(1, full: 5) {
            let world = try SystemWorld(yaml, seed: seed, databases: databases)
            var violation: Violation?
            try EnqueueHook.withJobs(takenBy: { [executor = world.executor] in executor.enqueue($0) }) {
                do { try SystemScript(world: world, seed: seed).run() } catch let error as Violation {
                    violation = error
                }
                do { try world.end() } catch let error as Violation { violation = violation ?? error }
            }
            if TestRun.replayed != nil { print(world.log.text.joined(separator: "\n")) }
            if let violation {
                let log = world.log.text.suffix(60).joined(separator: "\n  ")
                Issue.record("\(name), seed \(seed) breaks \(violation)\nits log ends:\n  \(log)")
                return
            }
        }
    }
}
