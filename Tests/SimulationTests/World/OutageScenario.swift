import EntitySchema
import JSONText
import ReferenceUpstream

@testable import CacheStore

/// An outage without other faults: users go on writing, the daemon sends few requests, and once the upstream is back it
/// sends everything at once.
struct OutageScenario {
    let world: World
    let daemon: SimulatedDaemon

    /// The longest wait for a probe, in seconds; and the longest time for a change without an outage.
    private static let longestWait = 70
    private static let promptness = Duration.seconds(2)

    func run() throws {
        let draw = { (range: ClosedRange<Int>) in world.executor.random { $0.within(range) } }
        let kind = world.executor.random { $0.pick(SimulatedNetwork.Outage.Kind.allCases) }
        let seconds = draw(5...240)
        world.log.add("outage of d\(daemon.number): \(kind) for \(seconds) s")
        let end = world.executor.now + .seconds(seconds)
        daemon.network.hurry(true)
        daemon.network.fail(kind, until: end)
        for _ in 0..<draw(3...20) {
            write(draw)
            world.executor.run(for: .milliseconds(draw(0...4000)))
        }
        if world.executor.now < end { world.executor.run(for: end - world.executor.now) }
        try world.checkAfterStep()
        try recover()
        daemon.network.heal()
        daemon.network.hurry(false)
    }

    private func write(_ draw: (ClosedRange<Int>) -> Int) {
        let entities = world.settings.entities
        let entity = entities[draw(0...entities.count - 1)]
        if draw(0...2) == 0 {
            world.edit(daemon, entity, draw(0...99), 1)
        } else {
            world.create(daemon, entity, draw(0...99))
        }
    }

    /// Waits until a probe or a trial request is answered, and a moment longer: every change that can be sent has been.
    private func recover() throws {
        guard let life = daemon.life else { return }
        let reader = CacheReader(store: life.store)
        var waited = 0
        // A request sent while nothing answered ends only with its timeout, even when the upstream is back before.
        var unanswered = try uploading(reader)
        while !unanswered.isEmpty, waited < Self.longestWait {
            world.executor.run(for: .seconds(1))
            waited += 1
            unanswered.formIntersection(try uploading(reader))
        }
        while life.upstream.backSince == nil, waited < Self.longestWait, !(try ready(reader).isEmpty) {
            world.executor.run(for: .seconds(1))
            waited += 1
        }
        // Each change may take a look-up, an attempt and a second look-up, of some milliseconds each.
        world.executor.run(for: Self.promptness + .milliseconds(100) * world.ledger.all.count)
        try world.checkAfterStep()
        let left = try ready(reader)
        guard left.isEmpty else {
            throw Violation(
                rule: .cheapOutage,
                detail: """
                    d\(daemon.number), whose upstream has been back since \(life.upstream.backSince.map { "\($0)" } ?? "?"), \
                    still has \(left.map { "\($0.id) (\($0.state))" }.joined(separator: ", "))
                    """)
        }
    }

    private func uploading(_ reader: CacheReader) throws -> Set<Int64> {
        Set(try reader.changes().filter { $0.state == "uploading" }.map(\.id))
    }

    private func ready(_ reader: CacheReader) throws -> [CacheReader.Change] {
        let stuck = try reader.stuckChanges(orLookedUp: true)
        // An emptied list is not believed, so a change of one of its records waits while others are sent.
        let emptied = Set(world.settings.entities.filter { world.server.records($0).isEmpty })
        return try reader.changes().filter { change in
            !stuck.contains(change.id) && (change.operation == .create || !emptied.contains(change.entity))
        }
    }
}
