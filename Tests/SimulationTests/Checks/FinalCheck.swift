import EntitySchema
import JSONText
import SyncEngine

@testable import CacheStore

/// The end of every script: removes the faults, then checks what must hold once they are gone.
struct FinalCheck {
    let world: World

    /// The rules that are checked only here.
    static let rules: Set<Violation.Rule> = [
        .neverLost, .othersGoOn, .equalInTheEnd, .cheapOutage, .promptSignals,
    ]

    func run() throws {
        world.server.calm()
        for daemon in world.daemons {
            daemon.network.heal()
            if daemon.shape != .base { try daemon.stop() }
            try daemon.start(.base)
            world.resume(daemon)
        }
        try settle(after: .seconds(100), full: false)
        if !world.server.poisoned.isEmpty {
            log("still poisoned: \(world.server.poisoned)")
            let spared = Set(world.server.poisoned)
            try world.check { try WriteCheck(world: world).run(sparing: spared) }
            try world.check { try checkEquality(sparing: spared) }
            world.server.heal()
            try settle(after: .seconds(100), full: false)
        }
        // A wait stored before the clock was set and the process ended is limited to an hour.
        if try hasWaiting() { try settle(after: .seconds(3600), full: false) }
        if world.settings.endsWithOutage {
            for daemon in world.daemons { try world.check { try OutageScenario(world: world, daemon: daemon).run() } }
            try settle(after: .seconds(100), full: false)
        }
        try settle(after: .seconds(1), full: true)
        // Only now may a list be known to be empty.
        if try isHolding() { try settle(after: .seconds(1), full: true) }
        try world.check { try checkQueues() }
        try world.check { try checkEquality(sparing: []) }
        try world.check { try WriteCheck(world: world).run(sparing: []) }
        try world.check { try SignalScenario(world: world).run() }
    }

    private func log(_ line: String) { world.log.add("final check: \(line)") }

    /// How long the checks wait for the syncs that they start.
    private static let syncTime = Duration.seconds(20)

    /// Lets time pass without faults, then syncs.
    ///
    /// 100 s is longer than the longest wait between two attempts or two probes.
    private func settle(after time: Duration, full: Bool) throws {
        world.executor.run(for: time)
        for daemon in world.daemons {
            world.sync(daemon, full: full, deletes: full ? try unconfirmable(daemon) : [])
        }
        world.executor.run(for: Self.syncTime)
        try world.checkAfterStep()
    }

    private func isHolding() throws -> Bool { try world.daemons.contains { try !unconfirmable($0).isEmpty } }

    /// Entities whose emptied list only a person can confirm: they were never seen to serve single records, or the upstream
    /// has nothing else that could show that it is well.
    private func unconfirmable(_ daemon: SimulatedDaemon) throws -> Set<String> {
        guard let store = daemon.life?.store else { return [] }
        // Nor does anything tell of deletions that a list of them has forgotten.
        let forgets = world.settings.feeds.forgetsDeletions
        let reader = CacheReader(store: store)
        return try reader.heldEntities().filter {
            try store.setting("single:\($0)") != "served" || forgets && $0 == "orders"
                || !hasWitness(beside: $0, reader)
        }
    }

    /// Whether another entity's own list shows a record that the cache has too.
    private func hasWitness(beside entity: String, _ reader: CacheReader) throws -> Bool {
        try ["customers", "orders", "notes"].contains { other in
            guard other != entity else { return false }
            let known = Set(try reader.records(other).filter { $0.remote != nil && !$0.isDeleted }.map(\.key))
            return world.server.records(other).contains {
                known.contains($0.key) && !world.mayBeOutside(other, $0.record)
            }
        }
    }

    private func hasWaiting() throws -> Bool {
        try world.daemons.contains { daemon in
            try daemon.life.map { try CacheReader(store: $0.store).changes().contains { $0.state == "waiting" } }
                ?? false
        }
    }

    /// Only changes that failed or conflict are left, and those that wait for them.
    private func checkQueues() throws {
        for daemon in world.daemons {
            guard let store = daemon.life?.store else { continue }
            let reader = CacheReader(store: store)
            let stuck = try reader.stuckChanges()
            for change in try reader.changes() where !stuck.contains(change.id) {
                throw Violation(
                    rule: .equalInTheEnd,
                    detail: """
                        d\(daemon.number) still has \(change.operation) \(change.entity)/\(change.key) \(change.body.text) \
                        (\(change.state), \(change.attempts) attempts)
                        """)
            }
        }
    }

    // MARK: Equality

    /// `spared`: entities, and records as `entity/key`, that may differ. While any may, so may what is not decided
    /// yet: an entity whose emptied list is not believed, records that a list lacked once, and visits that are read again.
    private func checkEquality(sparing spared: Set<String>) throws {
        let rule: Violation.Rule = spared.isEmpty ? .equalInTheEnd : .othersGoOn
        for daemon in world.daemons {
            guard let store = daemon.life?.store else { continue }
            let reader = CacheReader(store: store)
            // Visits are listed only with their customers, and not while the deletion of these waits for a user.
            let hidden = Set(try reader.records("customers").filter(\.isDeleted).map(\.key))
                .union(spared.isEmpty ? [] : try reader.customersToFetch())
            let spared = try spared.union(reader.undecidedRecords())
                .union(spared.contains("customers") ? ["visits"] : [])
                .union(spared.isEmpty ? [] : reader.heldEntities().union(reader.missingRecords()))
            for entity in world.settings.entities where !spared.contains(entity) {
                let truth = Dictionary(uniqueKeysWithValues: world.server.records(entity).map { ($0.key, $0.record) })
                var here: [String: JSONText] = [:]
                for record in try reader.records(entity) { here[record.key] = record.remote }
                try WindowCheck(world: world, daemon: daemon, reader: reader).run(entity, truth, here)
                for key in Set(truth.keys).union(here.keys).sorted() where !spared.contains("\(entity)/\(key)") {
                    guard !Self.same(truth[key], here[key]) else { continue }
                    if let there = truth[key], here[key] == nil, world.mayBeOutside(entity, there) { continue }
                    if truth[key] == nil, entity == "orders", mayBeForgotten(here[key], daemon, rule) { continue }
                    let customer = (truth[key] ?? here[key])?["customer_id"]?.string ?? ""
                    if entity == "visits", hidden.contains(customer) || spared.contains("customers/\(customer)") {
                        continue
                    }
                    throw Violation(
                        rule: rule,
                        detail: """
                            d\(daemon.number) \(entity)/\(key): the server has \(truth[key]?.text ?? "nothing"), \
                            the cache \(here[key]?.text ?? "nothing")
                            """)
                }
            }
        }
    }

    /// Whether the list of deletions may have forgotten an order, which only a whole list shows, and only of orders that
    /// were well within the window when the last one was asked for.
    private func mayBeForgotten(_ order: JSONText?, _ daemon: SimulatedDaemon, _ rule: Violation.Rule) -> Bool {
        guard let order, world.settings.feeds.forgetsDeletions else { return false }
        let earliest = Self.syncTime + (daemon.life?.upstream.clockUncertainty ?? .zero)
        return rule == .othersGoOn
            || [.seconds(-300), .seconds(300) + earliest].contains { !world.isInWindow("orders", order, ago: $0) }
    }

    static func same(_ one: JSONText?, _ other: JSONText?) -> Bool {
        guard let one, let other else { return (one == nil) == (other == nil) }
        func sorted(_ record: JSONText) -> [String] { record.members.map { "\($0.key)=\($0.value.text)" }.sorted() }
        return one == other || sorted(one) == sorted(other)
    }
}
