import EntitySchema
import JSONText
import ReferenceUpstream

@testable import CacheStore

/// Runs a seed's script against one schema, and checks what must hold after each step and at the end.
struct SystemScript {
    let world: SystemWorld

    /// Readers of the local API look this often, at most.
    private static let glances = 20

    func run() throws {
        var random = SplitMix64(seed: world.plan.seed ^ 0x6461_7900)
        let plan = world.plan
        world.log.add(
            "habits \(plan.habits.json.text), \(plan.hasOneWriter ? "one writer" : "many writers"), deletions "
                + "\(plan.deletes), people \(plan.hasPeople), other schemas \(plan.otherYAMLs.count)")
        // A field that the server drops takes effect only if the daemon has it.
        try world.start(with: world.plan.habits[.knownOnly] ? world.plan.otherYAMLs.last : nil)
        try pass(20_000)
        for _ in 0..<random.within(15...40) {
            try step(&random)
            try checkConsistency()
            try pass(random.within(0...random.pick([50, 1_000, 20_000, 120_000])))
        }
        world.log.add("all faults are removed")
        world.transport.setOnline(true)
        world.reference.faults = Faults()
        if !world.plan.habits.isEmpty { world.reference.habits = world.plan.habits.lasting }
        if world.running != world.schema {
            try checkLostEntities()
            try world.crash()
        }
        try world.start()
        for isFull in [false, true, true] {
            try pass(200_000)
            world.sync(full: isFull)
            try pass(60_000)
            if !isFull { try checkValues() }
        }
        try checkConsistency()
        try checkQueue()
        try checkEquality()
        try checkWrites()
        try world.watch?.checkEnd()
        try checkQuiet()
    }

    /// Lets time pass, and looks what readers see meanwhile.
    private func pass(_ milliseconds: Int) throws {
        guard let watch = world.watch else { return world.executor.run(for: .milliseconds(milliseconds)) }
        let part = max(250, milliseconds / Self.glances)
        var left = milliseconds
        repeat {
            world.executor.run(for: .milliseconds(min(part, left)))
            left -= part
            try watch.check()
        } while left > 0
        try watch.checkStep()
    }

    /// Everything that the database keeps twice agrees.
    private func checkConsistency() throws {
        guard let first = try world.store?.inconsistencies(atMost: 1).first else { return }
        throw Violation(rule: .consistent, detail: first.description)
    }

    private func step(_ random: inout SplitMix64) throws {
        if random.chance(0.5) {
            let others = world.plan.otherYAMLs
            try world.start(with: !others.isEmpty && random.chance(0.5) ? random.pick(others) : nil)
        }
        let entity = random.pick(world.entities)
        if world.plan.hasPeople, random.chance(0.15) { return person(&random) }
        let isOthers: (Int) -> Bool = { (18..<22).contains($0) }
        let draw = random.below(30)
        if world.plan.hasOneWriter, isOthers(draw) { return world.edit(entity) }
        if !world.plan.deletes, draw == 16 || draw == 17 { return world.create(entity) }
        switch draw {
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

    private func person(_ random: inout SplitMix64) {
        switch random.below(5) {
        case 0: world.correct()
        case 1: world.discard()
        case 2: world.retry()
        case 3: world.resolve()
        default: world.undo()
        }
    }

    /// A third of all requests fail, before or after the upstream applied them, and some batches in the middle.
    private static let frequent = Faults([
        Faults.Rule(.cutBatch, rate: 0.3, path: "/batch"),
        Faults.Rule(.fail(status: 503), rate: 0.15), Faults.Rule(.cutBody, rate: 0.1),
        Faults.Rule(.timeoutAfterApply(hold: .seconds(3)), rate: 0.1),
    ])

    // MARK: The end

    /// While the schema lacks an entity, only that entity's changes wait.
    private func checkLostEntities() throws {
        guard world.store != nil, world.schema.entities.contains(where: { world.running[$0.name] == nil }) else {
            return
        }
        try pass(200_000)
        world.sync(full: false)
        try pass(60_000)
        try checkQueue()
    }

    /// A sync of two sides that are equal changes nothing; where others have deleted what something belonged to, none
    /// of that.
    private func checkQuiet() throws {
        let habits = world.plan.habits
        guard let store = world.store, world.plan.hasOneWriter || world.plan.keepsOrphans, !habits[.wandering],
            !habits[.slidingRows]
        else { return }
        let position = try store.position()
        // Only lists of what changed have tombstones.
        world.sync(full: !world.plan.keepsOrphans)
        try pass(30_000)
        let changes = try CacheReader(store: store).logged(after: position)
        guard let first = changes.first(where: { world.plan.hasOneWriter || $0.hasPrefix("tasks ") }) else { return }
        throw Violation(rule: .equalInTheEnd, detail: "an idle sync changed something: \(first)")
    }

    /// An incremental sync brings every value of the records that both sides have, but for what no list shows. What only a
    /// whole list shows may take an hour.
    private func checkValues() throws {
        guard !world.plan.habits[.cutLists], world.plan.otherYAMLs.isEmpty else { return }
        if world.plan.habits[.listsOnly] {
            try pass(3_600_000)
            for _ in 1...2 {
                world.sync(full: false)
                try pass(60_000)
            }
        }
        try checkEquality(afterFull: false)
    }

    private func reader() throws -> CacheReader {
        guard let store = world.store else { throw Violation(rule: .equalInTheEnd, detail: "no daemon runs") }
        return CacheReader(store: store)
    }

    /// Only changes that failed permanently or need a user are queued, and those that wait for them.
    private func checkQueue() throws {
        let stuck = try reader().stuckChanges()
        // A change of an entity that the schema no longer has stays, until the schema has it again.
        for change in try reader().changes() where !stuck.contains(change.id) && world.running[change.entity] != nil {
            throw Violation(
                rule: .equalInTheEnd,
                detail: """
                    still queued: \(change.operation) \(change.entity)/\(change.key) \(change.body.text) \
                    \(change.state): \(change.error ?? "")
                    """)
        }
    }

    /// What the cache holds as the server's values equals them, field by field.
    private func checkEquality(afterFull: Bool = true) throws {
        let undecided = try reader().undecidedRecords()
        let habits = world.plan.habits
        let hidden = try hiddenRecords()
        for entity in world.entities {
            let there = Dictionary(
                world.reference.records(of: entity.name).map { ($0[entity.key]?.plain ?? "", $0) }
            ) { $1 }
            let here = Dictionary(
                try reader().records(entity.name).compactMap { record in record.remote.map { (record.key, $0) } }
            ) { $1 }
            for key in Set(there.keys).union(here.keys).sorted() where !undecided.contains("\(entity.name)/\(key)") {
                let isUnlisted = world.unlisted.contains("\(entity.name)/\(key)")
                if !afterFull, there[key] == nil || here[key] == nil || isUnlisted { continue }
                if there[key] == nil, habits.hidesDeletions { continue }
                if isBelow(hidden, there[key] ?? here[key], entity) { continue }
                if habits[.cutLists], here[key] == nil || !world.plan.hasOneWriter || habits[.listsOnly] { continue }
                guard let difference = try difference(there[key], here[key], entity) else { continue }
                throw Violation(
                    rule: .equalInTheEnd,
                    detail: """
                        \(entity.name)/\(key) differs in \(difference): upstream \(there[key]?.text ?? "nothing"), \
                        cache \(here[key]?.text ?? "nothing")
                        """)
            }
        }
    }

    /// Records that are deleted here, as `entity/key`, while the deletion waits for a user.
    private func hiddenRecords() throws -> Set<String> {
        let reader = try reader()
        return try Set(
            world.entities.flatMap { entity in
                try reader.records(entity.name).filter(\.isDeleted).map { "\(entity.name)/\($0.key)" }
            })
    }

    /// Whether a record comes only with its parent, and that is hidden, so that no pull asks for its children.
    private func isBelow(_ hidden: Set<String>, _ record: JSONText?, _ entity: Entity) -> Bool {
        guard entity.pull == nil, let record else { return false }
        return entity.fields.contains { field in
            guard case .reference(let other) = field.kind, let key = entity.value(of: field.name, in: record) else {
                return false
            }
            return hidden.contains("\(other)/\(key.plain)")
        }
    }

    private func difference(_ there: JSONText?, _ here: JSONText?, _ entity: Entity) throws -> String? {
        guard let there, let here else { return there == nil && here == nil ? nil : "existence" }
        // Children in a record take the place of what was sent with it.
        let embedded = entity.pull?.details.filter { $0.path == nil }.flatMap(\.list.records.paths) ?? []
        let hidden = Set(entity.fields.map(\.name).filter { isOmitted($0, of: entity) } + embedded)
        return try entity.fields.first { field in
            // A field that is computed here lacks what lists leave out.
            let needed = [field.name] + (field.derivation?.ownFields ?? [])
            guard !field.isStoredSealed, !needed.contains(where: hidden.contains) else { return false }
            let (one, two) = (entity.value(of: field.name, in: there), entity.value(of: field.name, in: here))
            if one?.kind ?? .null == .null, two?.kind ?? .null == .null { return false }
            // A server that renames a record renames it in others too, without saying that those have changed.
            if case .reference(let other) = field.kind, let one, let two {
                return try reader().current(other, one.plain) != reader().current(other, two.plain)
            }
            return one != two
        }?.name
    }

    /// Whether lists leave out a field, by itself or with the object that it stands in.
    private func isOmitted(_ name: String, of entity: Entity) -> Bool {
        let omitted = world.plan.habits.names(.omittedMembers)
        let around = entity[field: name]?.source.flatMap { JSONPath.steps($0).first.map(String.init) }
        return omitted.contains(name) || around.map { omitted.contains($0) } ?? false
    }

    /// Each acknowledged write arrived once, is still queued, lost a conflict, or was replaced by a later one.
    private func checkWrites() throws {
        let applied = world.transport.applied
        let waiting = try reader().changes().map(\.body.text) + reader().conflicts()
        let writes = world.writes.filter { $0.operation != .delete }
        for (index, write) in writes.enumerated() {
            let marker = Marks.text(write.number)
            let count = applied.count { $0.contains(marker) }
            let current = try reader().current(write.entity, write.key)
            let isSuperseded = try writes[(index + 1)...].contains { later in
                try later.entity == write.entity && !Set(later.fields).isDisjoint(with: write.fields)
                    && reader().current(later.entity, later.key) == current
            }
            // A route that sends the whole record sends earlier values again.
            let isPut = world.schema[write.entity]?.push.update.contains(where: \.sendsRecord) ?? false
            if count > 1, world.schema.upstream.idempotencyHeader != nil, world.plan.habits.isEmpty, !isPut {
                throw Violation(rule: .onlyOnce, detail: "\(marker) was applied \(count) times")
            }
            guard count == 0, !isSuperseded, !world.deletedEntities.contains(world.name(of: write.entity)),
                !waiting.contains(where: { $0.contains(marker) })
            else { continue }
            throw Violation(
                rule: .neverLost,
                detail: "\(marker) of \(write.entity)/\(write.key) is neither upstream nor queued")
        }
    }
}

extension Habits {
    /// What does not pass: without spells, faults of gateways and texts that cannot be read. Nor do rows slide once writing
    /// has ended: a lost creation is looked up in lists that show the same twice.
    fileprivate var lasting: Habits {
        var habits = self
        for habit in [
            Habit.blanket404, .blanket403, .signInPage, .html200, .html503, .emptyLists, .signedOut, .cutAnswers,
            .cachedAnswers, .notANumber, .slidingRows,
        ] { habits.drop(habit) }
        return habits
    }

    /// Nothing can be concluded from a record that such lists lack.
    fileprivate var hidesDeletions: Bool { self[.wrongTotals] || self[.listedTwice] || self[.cutLists] }
}
