import Foundation
import ReferenceUpstream
import Testing

/// The rules of syncing with every schema that is shipped, whatever its records look like.
@Suite("Simulated bad days of every system", .serialized)
struct SystemSimulationTests {
    static let schemas = ["repairminder", "repairminder-live", "propdocs", "itori", "messages"]

    private var environment: [String: String] { ProcessInfo.processInfo.environment }

    /// `SEED` alone, or `SEEDS` of them from `FIRST_SEED`.
    private var seeds: Range<UInt64> {
        if let seed = environment["SEED"].flatMap(UInt64.init) { return seed..<seed + 1 }
        let first = environment["FIRST_SEED"].flatMap(UInt64.init) ?? 1
        return first..<first + (environment["SEEDS"].flatMap(UInt64.init) ?? 5)
    }

    @Test("nothing is lost or done twice, and both sides are equal in the end", arguments: schemas)
    func holds(_ name: String) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let yaml = try String(contentsOf: root.appending(path: "config/schemas/\(name).yaml"), encoding: .utf8)
        let workplace = try Workplace()
        defer { workplace.remove() }
        for seed in seeds {
            let world = try SystemWorld(yaml, seed: seed, workplace: workplace)
            var violation: Violation?
            try EnqueueHook.withJobs(takenBy: { [executor = world.executor] in executor.enqueue($0) }) {
                do { try SystemDay(world: world, seed: seed).run() } catch let error as Violation { violation = error }
                do { try world.end() } catch let error as Violation { violation = violation ?? error }
            }
            if environment["SEED"] != nil { print(world.log.text.joined(separator: "\n")) }
            if let violation {
                let log = world.log.text.suffix(60).joined(separator: "\n  ")
                Issue.record("\(name), seed \(seed) breaks \(violation)\nits log ends:\n  \(log)")
                return
            }
        }
    }
}
