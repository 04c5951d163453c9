import ReferenceUpstream
import TestSupport
import Testing

/// The rules of syncing with every schema that is shipped, whatever its records look like.
@Suite("Simulated bad days of every system", .serialized)
struct SystemSimulationTests {
    static let schemas = ["repairminder", "repairminder-live", "propdocs", "itori", "messages"]

    @Test("nothing is lost or done twice, and both sides are equal in the end", arguments: schemas)
    func holds(_ name: String) throws {
        let yaml = try ProjectFiles.text("config/schemas/\(name).yaml")
        let workplace = try Workplace()
        defer { workplace.remove() }
        for seed in SimulationSeeds.chosen(1, full: 5) {
            let world = try SystemWorld(yaml, seed: seed, workplace: workplace)
            var violation: Violation?
            try EnqueueHook.withJobs(takenBy: { [executor = world.executor] in executor.enqueue($0) }) {
                do { try SystemDay(world: world, seed: seed).run() } catch let error as Violation { violation = error }
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
