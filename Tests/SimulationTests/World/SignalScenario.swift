import EntitySchema
import JSONText
import ReferenceUpstream

@testable import CacheStore

/// A quiet time without faults, in which other users change a few records upstream: each change is here soon after the
/// signal of it, long before the next pull.
struct SignalScenario {
    let world: World

    /// Milliseconds from the change to when it must be here. An event list is polled every 2 s, a record is read at most
    /// once in a second, and a deletion takes several requests.
    private static let patience = 12_000

    private struct Change {
        var entity: String
        var key: String
    }

    func run() throws {
        guard world.settings.feeds.signals != .none else { return }
        world.server.signals.beReliable()
        // Streams that were cut are opened again.
        world.executor.run(for: .seconds(70))
        // No pull is due for a while: a page that is read before a change can arrive after the signal's own read.
        for daemon in world.daemons { world.sync(daemon, full: false) }
        world.executor.run(for: .seconds(20))
        for _ in 0..<3 {
            guard let change = try change() else { continue }
            world.executor.run(for: .milliseconds(Self.patience))
            try world.checkAfterStep()
            for daemon in world.daemons { try check(change, daemon) }
        }
    }

    /// Nil if there is no record that the daemons have known for a while.
    private func change() throws -> Change? {
        let server = world.server
        let entity = world.executor.random { $0.pick(["customers", "orders", "notes"]) }
        let known = server.records(entity).filter { $0.visibleAt < world.executor.now - .seconds(65) }
        guard !known.isEmpty else { return nil }
        let key = known[world.executor.random { $0.below(known.count) }].key
        // The absence of the only record cannot be confirmed.
        if entity != "notes", known.count > 2, world.executor.random({ $0.chance(0.3) }) {
            server.delete(entity, key)
        } else {
            guard let field = SimulationSettings.markedFields[entity]?.first else { return nil }
            let text = "s\(world.executor.random { $0.below(1_000_000) }).\(field)"
            server.update(entity, key, .object([field: .string(text)]))
        }
        return Change(entity: entity, key: key)
    }

    private func check(_ change: Change, _ daemon: SimulatedDaemon) throws {
        guard let store = daemon.life?.store, let row = world.server.row(change.entity, change.key) else { return }
        let reader = CacheReader(store: store)
        let name = "\(change.entity)/\(change.key)"
        guard try !reader.undecidedRecords().contains(name) else { return }
        let isQueued = try reader.changes().contains { $0.entity == change.entity && $0.key == change.key }
        let record = try reader.records(change.entity).first { $0.key == change.key }
        let here = record?.remote
        // What was deleted here is not asked for.
        guard record?.isDeleted != true else { return }
        if row.isDeleted {
            guard here != nil, !isQueued else { return }
        } else {
            let isOutside = !world.isInWindow(change.entity, row.record) && here == nil
            guard here?.text != row.record.text, !isOutside else { return }
        }
        throw Violation(
            rule: .promptSignals,
            detail: """
                d\(daemon.number) \(name): the server has \(row.isDeleted ? "deleted it" : row.record.text) and said so, the \
                cache has \(here?.text ?? "nothing") after \(Self.patience / 1000) s
                """)
    }
}
