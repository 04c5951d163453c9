import EntitySchema
import JSONText

@testable import CacheStore

/// Checks where every acknowledged local write ended.
struct WriteCheck {
    let world: World

    /// `spared`: entities, and records as `entity/key`, whose writes may still be in progress.
    func run(sparing spared: Set<String>) throws {
        let applied = Set(world.server.effects.flatMap(\.markers))
        for daemon in world.daemons {
            guard let store = daemon.life?.store else { continue }
            let fate = try Fate(daemon: daemon, store: store, world: world, applied: applied)
            for write in world.ledger.all where write.daemon == daemon.number && write.answer == .made {
                guard !fate.isSpared(write, spared) else { continue }
                try fate.check(write, rule: spared.isEmpty ? .neverLost : .othersGoOn)
            }
        }
    }
}

/// One daemon's writes, and all the places where they may be.
private struct Fate {
    let daemon: SimulatedDaemon
    let reader: CacheReader
    let world: World
    let applied: Set<String>
    let changes: [CacheReader.Change]
    let queued: Set<String>
    let conflicts: String
    let writes: [LocalWrite]

    init(daemon: SimulatedDaemon, store: CacheStore, world: World, applied: Set<String>) throws {
        self.daemon = daemon
        self.world = world
        self.applied = applied
        reader = CacheReader(store: store)
        changes = try reader.changes()
        queued = Set(changes.flatMap { $0.body.members.compactMap(\.value.string) })
        conflicts = try reader.conflicts().joined(separator: "\n")
        writes = world.ledger.all.filter { $0.daemon == daemon.number && $0.answer != .refused }
    }

    func isSpared(_ write: LocalWrite, _ spared: Set<String>) -> Bool {
        // Records that refer to a poisoned one wait with it: each entity affects those that follow it in the list.
        spared.contains { name in
            let entity = String(name.split(separator: "/")[0])
            let entities = world.settings.entities
            return entities.firstIndex(of: entity) ?? 0 <= entities.firstIndex(of: write.entity) ?? 0
        }
    }

    func check(_ write: LocalWrite, rule: Violation.Rule) throws {
        if write.operation == .delete { return try checkDeletion(write, rule) }
        for (field, marker) in write.values.sorted(by: { $0.key < $1.key }) {
            if applied.contains(marker) || queued.contains(marker) || conflicts.contains(marker) { continue }
            if try isSuperseded(write, field) || wentWithParent(write) { continue }
            throw Violation(
                rule: rule,
                detail: """
                    \(marker) of w\(write.number) (\(write.operation) \(write.entity)/\(write.key ?? "")) at \
                    d\(daemon.number) is neither upstream nor queued, nor did it lose a conflict or get undone
                    """)
        }
    }

    /// Whether a later edit of the same field, or a later deletion, replaced it.
    private func isSuperseded(_ write: LocalWrite, _ field: String) throws -> Bool {
        let key = try current(write)
        return try writes.contains { later in
            guard later.number > write.number, later.entity == write.entity, try current(later) == key else {
                return false
            }
            if later.operation == .delete { return true }
            guard let marker = later.values[field] else { return false }
            return later.answer == .made || applied.contains(marker) || queued.contains(marker)
        }
    }

    /// Deleting a customer discards the unsent changes of its visits.
    private func wentWithParent(_ write: LocalWrite) throws -> Bool {
        guard write.entity == "visits", let parent = write.parent else { return false }
        let key = try reader.current("customers", parent)
        return try writes.contains {
            try $0.number > write.number && $0.entity == "customers" && $0.operation == .delete && current($0) == key
        }
    }

    private func checkDeletion(_ write: LocalWrite, _ rule: Violation.Rule) throws {
        let key = try current(write)
        // Another user may have brought it back since, also after another one's deletion of it.
        let isApplied = world.server.effects.contains {
            $0.operation == .delete && $0.entity == write.entity && $0.key == key
        }
        let row = world.server.row(write.entity, key)
        let isBack = row.map { row in write.madeAt.map { world.server.time(at: row.bornAt) > $0 } ?? false } ?? false
        let isGone = isApplied || isBack || row.map(\.isDeleted) ?? true
        let isQueued = changes.contains { $0.entity == write.entity && $0.key == key && $0.operation == .delete }
        guard !isGone, !isQueued, !conflicts.contains(key) else { return }
        throw Violation(
            rule: rule,
            detail: "the deletion w\(write.number) of \(write.entity)/\(key) at d\(daemon.number) is lost")
    }

    private func current(_ write: LocalWrite) throws -> String {
        try write.key.map { try reader.current(write.entity, $0) } ?? ""
    }
}
