import EntitySchema
import JSONText
import ReferenceUpstream

@testable import CacheStore

/// Runs a seed's script against one shipped schema, and checks what must hold at the end.
struct SystemScript {
    let world: SystemWorld
    let seed: UInt64

    func run() throws {
        var random = SplitMix64(seed: seed ^ 0x6461_7900)
        try world.start()
        world.executor.run(for: .seconds(20))
        for _ in 0..<random.within(15...40) {
            try step(&random)
            try checkConsistency()
            world.executor.run(for: .milliseconds(random.within(0...random.pick([50, 1_000, 20_000, 120_000]))))
        }
        world.log.add("all faults are removed")
        world.transport.setOnline(true)
        world.reference.faults = Faults()
        try world.start()
        for isFull in [false, true, true] {
            world.executor.run(for: .seconds(200))
            world.sync(full: isFull)
            world.executor.run(for: .seconds(60))
        }
        try checkConsistency()
        try checkQueue()
        try checkEquality()
        try checkWrites()
    }

    /// Everything that the database keeps twice agrees.
    private func checkConsistency() throws {
        guard let first = try world.store?.inconsistencies(atMost: 1).first else { return }
        throw Violation(rule: .consistent, detail: first.description)
    }

    private func step(_ random: inout SplitMix64) throws {
        if random.chance(0.5) { try world.start() }
        let entity = random.pick(world.entities)
        switch random.below(30) {
        case 0..<8: world.create(entity)
        case 8..<16: world.edit(entity)
        case 16, 17: world.delete(entity)
        case 18..<21: world.editUpstream(entity)
        case 21: world.deleteUpstream(entity)
        case 22: world.transport.setOnline(false)
        case 23, 24: world.transport.setOnline(true)
        case 25, 26: world.reference.faults = Self.frequent
        case 27: world.reference.faults = Faults()
        default:
            world.executor.run(jobs: random.below(120), within: .seconds(2))
            try world.crash()
        }
    }

    /// A third of all requests fail, before or after the upstream applied them.
    private static let frequent = Faults([
        Faults.Rule(.fail(status: 503), rate: 0.15), Faults.Rule(.cutBody, rate: 0.1),
        Faults.Rule(.timeoutAfterApply(hold: .seconds(3)), rate: 0.1),
    ])

    // MARK: The end

    private func reader() throws -> CacheReader {
        guard let store = world.store else { throw Violation(rule: .equalInTheEnd, detail: "no daemon runs") }
        return CacheReader(store: store)
    }

    /// Only changes that failed permanently or need a user are queued, and those that wait for them.
    private func checkQueue() throws {
        let stuck = try reader().stuckChanges()
        for change in try reader().changes() where !stuck.contains(change.id) {
            throw Violation(
                rule: .equalInTheEnd,
                detail:
                    "still queued: \(change.operation) \(change.entity)/\(change.key) \(change.body.text) \(change.state)"
            )
        }
    }

    /// What the cache holds as the server's values equals them, field by field.
    private func checkEquality() throws {
        let undecided = try reader().undecidedRecords()
        for entity in world.entities {
            let there = Dictionary(
                world.reference.records(of: entity.name).map { ($0[entity.key]?.plain ?? "", $0) }
            ) { $1 }
            let here = Dictionary(
                try reader().records(entity.name).compactMap { record in record.remote.map { (record.key, $0) } }
            ) { $1 }
            for key in Set(there.keys).union(here.keys).sorted() where !undecided.contains("\(entity.name)/\(key)") {
                guard let difference = difference(there[key], here[key], entity) else { continue }
                throw Violation(
                    rule: .equalInTheEnd,
                    detail: """
                        \(entity.name)/\(key) differs in \(difference): upstream \(there[key]?.text ?? "nothing"), \
                        cache \(here[key]?.text ?? "nothing")
                        """)
            }
        }
    }

    private func difference(_ there: JSONText?, _ here: JSONText?, _ entity: Entity) -> String? {
        guard let there, let here else { return there == nil && here == nil ? nil : "existence" }
        return entity.fields.first { field in
            !field.secret && entity.value(of: field.name, in: there) != entity.value(of: field.name, in: here)
        }?.name
    }

    /// Each acknowledged write arrived once, is still queued, lost a conflict, or was replaced by a later one.
    private func checkWrites() throws {
        let applied = world.transport.applied
        let waiting = try reader().changes().map(\.body.text) + reader().conflicts()
        let writes = world.writes
        for (index, write) in writes.enumerated() {
            let marker = "\"\(write.marker)\""
            let count = applied.count { $0.contains(marker) }
            let current = try reader().current(write.entity, write.key)
            let isSuperseded = try writes[(index + 1)...].contains { later in
                try later.entity == write.entity && later.field == write.field
                    && reader().current(later.entity, later.key) == current
            }
            if count > 1, world.schema.upstream.idempotencyHeader != nil {
                throw Violation(rule: .onlyOnce, detail: "\(write.marker) was applied \(count) times")
            }
            guard count == 0, !isSuperseded, !world.deletedEntities.contains(write.entity),
                !waiting.contains(where: { $0.contains(write.marker) })
            else { continue }
            throw Violation(
                rule: .neverLost,
                detail: "\(write.marker) of \(write.entity)/\(write.key) is neither upstream nor queued")
        }
    }
}
