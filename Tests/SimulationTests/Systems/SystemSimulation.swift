import ReferenceUpstream
import TestSupport
import Testing

/// One seed of the simulation of a system.
struct SystemSimulation {
    struct Result {
        var violation: Violation?
        var effects: [Habit: Int]
    }

    let world: SystemWorld

    init(_ plan: SystemPlan, databases: DatabaseFolder) throws {
        world = try SystemWorld(plan, databases: databases)
    }

    func run() throws -> Result {
        var violation: Violation?
        try EnqueueHook.withJobs(takenBy: { [executor = world.executor] in executor.enqueue($0) }) {
            do { try SystemScript(world: world).run() } catch let error as Violation { violation = error }
            do { try world.end() } catch let error as Violation { violation = violation ?? error }
        }
        return Result(violation: violation, effects: world.reference.effects)
    }

    /// Runs these seeds; records each one that breaks a rule, the first with the end of its log.
    static func run(_ seeds: [UInt64], _ plan: (UInt64) throws -> SystemPlan) throws {
        let databases = try DatabaseFolder()
        defer { databases.remove() }
        var isFirst = true
        for seed in seeds {
            let simulation = try SystemSimulation(try plan(seed), databases: databases)
            let violation = try simulation.run().violation
            let log = simulation.world.log.text
            if TestRun.replayed != nil { print(log.joined(separator: "\n")) }
            guard let violation else { continue }
            let end = isFirst ? "\nits log ends:\n  " + (log.prefix(1) + log.suffix(60)).joined(separator: "\n  ") : ""
            Issue.record("\(simulation.world.plan.name), seed \(seed) breaks \(violation)\(end)")
            isFirst = false
        }
    }
}
