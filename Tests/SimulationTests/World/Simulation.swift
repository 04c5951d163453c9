import TestSupport

/// Runs a seed's script, or a part of it, and returns the outcome.
struct Simulation {
    struct Outcome {
        var violation: Violation?
        var log: [String]
    }

    let seed: UInt64
    let databases: DatabaseFolder
    var mutation: Mutation?
    /// The rules that are checked.
    var rules = Set(Violation.Rule.allCases)

    var script: [Step] {
        var maker = ScriptMaker(seed: seed, settings: SimulationSettings(seed: seed, for: mutation))
        return (mutation?.provocation ?? []) + maker.script()
    }

    func run(_ script: [Step]) throws -> Outcome {
        let world = try World(seed: seed, databases: databases, mutation: mutation, rules: rules)
        return try EnqueueHook.withJobs(takenBy: { [executor = world.executor] in executor.enqueue($0) }) {
            var violation: Violation?
            do { try world.run(script) } catch let error as Violation { violation = error }
            do { try world.tearDown() } catch let error as Violation { violation = violation ?? error }
            return Outcome(violation: violation, log: world.log.text)
        }
    }

    /// The shortest script found that still breaks the same rule.
    func shrink(_ script: [Step], rule: Violation.Rule) throws -> [Step] {
        var shortest = script
        var size = max(script.count / 2, 1)
        while true {
            var start = 0
            while start < shortest.count {
                var shorter = shortest
                shorter.removeSubrange(start..<min(start + size, shortest.count))
                if try run(shorter).violation?.rule == rule { shortest = shorter } else { start += size }
            }
            guard size > 1 else { return shortest }
            size /= 2
        }
    }

    /// The violation, the shortest script that shows it, and how to replay it.
    func report(_ violation: Violation) throws -> String {
        let short = try shrink(script, rule: violation.rule)
        let outcome = try run(short)
        return """
            seed \(seed) breaks \(outcome.violation ?? violation)
            shortest script (of \(script.count) steps):
            \(short.map { "  \($0)" }.joined(separator: "\n"))
            \(TestRun.replayed == nil ? "its log ends" : "its log"):
            \(outcome.log.suffix(TestRun.replayed == nil ? 40 : .max).map { "  \($0)" }.joined(separator: "\n"))
            replay with: make simulate SEED=\(seed)
            """
    }
}
