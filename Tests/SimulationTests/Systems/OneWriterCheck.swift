import EntitySchema
import GRDB
import JSONText
import ReferenceUpstream

@testable import CacheStore

/// Checks what must hold while only this daemon's users write: never a conflict, never a lost or doubled write, never a
/// visible step back of an acknowledged value.
///
/// Remembers for each record and field the newest write that a reader has seen, or whose writer was answered.
final class OneWriterCheck {
    private struct Place: Hashable {
        var entity: String
        /// The key that the record was given here.
        var key: String
        var field: String
    }

    private let world: SystemWorld
    private var newest: [Place: Int] = [:]
    /// Deleted here and answered, as `entity/key`.
    private var deleted: Set<String> = []
    /// The keys that a reader saw last, by entity.
    private var seen: [String: Set<String>] = [:]
    /// What each record belongs to, by `entity/key`.
    private var parents: [String: [(entity: String, key: String)]] = [:]
    /// Created where nothing tells the key of the new record, so that it may disappear, as `entity/key`.
    private var unnamed: Set<String> = []
    private var checkedWrites = 0
    private var actedAfter = 0
    private var created: [(entity: String, number: Int)] = []

    init(_ world: SystemWorld) {
        self.world = world
    }

    /// Forgets what was seen: people have changed it on purpose, or the daemon runs with another schema.
    func forget() {
        newest = [:]
        deleted = []
        seen = [:]
        checkedWrites = world.writes.count
    }

    func check() throws {
        guard let store = world.store else { return }
        takeWrites()
        try checkConflicts(store)
        try checkSteps(store)
        try checkCorrected(CacheReader(store: store))
    }

    /// A new value for a field does not wait behind one that was refused before it was written.
    private func checkCorrected(_ reader: CacheReader) throws {
        guard world.plan.habits[.locked] else { return }
        for (refused, later) in try reader.changesBehindRefused()
        where refused.operation == .update && refused.body.members.contains(where: { later.body[$0.key] != nil }) {
            throw Violation(
                rule: .othersGoOn,
                detail: "\(later.entity)/\(later.key) \(later.body.text) waits behind \(refused.error ?? "")")
        }
    }

    /// After each step: no creation has made two records, and no record has vanished that exists.
    func checkStep() throws {
        try checkDoubles()
        try checkPresence()
    }

    /// Every value that was acknowledged last is upstream, or its change waits for a user.
    func checkEnd() throws {
        guard let store = world.store else { return }
        try check()
        let reader = CacheReader(store: store)
        try checkFailures(reader)
        let queued = Set(try reader.changes().map { "\($0.entity)/\($0.key)" })
        for (place, number) in newest.sorted(by: { $0.value < $1.value }) {
            guard let entity = world.schema[place.entity], let field = entity[field: place.field] else { continue }
            let key = try reader.current(place.entity, place.key)
            guard !queued.contains("\(place.entity)/\(key)"), try !isExplained(place.entity, place.key, reader) else {
                continue
            }
            let there = world.reference.record(place.entity, key)
            let found = Marks.number(of: there.flatMap { entity.value(of: place.field, in: $0) }, field)
            guard found != number else { continue }
            throw Violation(
                rule: .neverLost,
                detail: """
                    \(place.entity)/\(key) has \(place.field) of write \(found.map { "\($0)" } ?? "none") upstream, not of \
                    \(number): \(there?.text ?? "nothing")
                    """)
        }
    }

    /// Nothing fails for good on an upstream that refuses nothing, not even references to what it has just renamed.
    private func checkFailures(_ reader: CacheReader) throws {
        let plan = world.plan
        guard !plan.hasPeople, !plan.deletes, !plan.habits[.locked], !plan.habits[.slugs], plan.otherYAMLs.isEmpty,
            let failed = try reader.changes().first(where: {
                // A look-up without a clear result is left to a person, and so is an edit whose version no list shows.
                $0.state == "failed" && $0.error?.hasPrefix("unclear") == false && !refersToUnnamed($0)
                    && !(plan.habits[.listsOnly] && $0.error?.hasPrefix("conflict") == true)
            })
        else { return }
        throw Violation(
            rule: .failsNothing,
            detail:
                "\(failed.operation) \(failed.entity)/\(failed.key) \(failed.body.text) has failed: \(failed.error ?? "")"
        )
    }

    /// Whether a change refers to a record that nothing names, by a key that the upstream does not have.
    private func refersToUnnamed(_ change: CacheReader.Change) -> Bool {
        world.schema[change.entity]?.fields.contains { field in
            guard case .reference(let other) = field.kind, let key = change.body[field.name] else { return false }
            return unnamed.contains("\(other)/\(key.plain)")
        } ?? false
    }

    private func checkPresence() throws {
        guard let store = world.store else { return }
        let reader = CacheReader(store: store)
        if world.plan.deletes { try takeParents(reader) }
        for entity in world.entities {
            let keys = Set(try reader.visibleKeys(entity.name))
            for key in seen[entity.name, default: []].subtracting(keys).sorted() {
                let current = try reader.current(entity.name, key)
                guard !keys.contains(current), world.reference.record(entity.name, current) != nil,
                    try !isExplained(entity.name, key, reader)
                else { continue }
                throw Violation(
                    rule: .noStepBack, detail: "\(entity.name)/\(key) has vanished, and exists upstream as \(current)")
            }
            seen[entity.name] = keys
        }
    }

    private func takeWrites() {
        let writes = world.writes
        for write in writes[checkedWrites...] where write.operation == .create { noteUnnamed(write) }
        if world.answered.actedAfter != actedAfter {
            actedAfter = world.answered.actedAfter
            newest = [:]
            deleted = []
            seen = [:]
            checkedWrites = max(checkedWrites, actedAfter)
        }
        for write in writes[checkedWrites...] {
            if write.operation == .delete {
                deleted.insert("\(write.entity)/\(write.key)")
                newest = newest.filter { $0.key.entity != write.entity || $0.key.key != write.key }
                continue
            }
            // A user who undoes the conflict of an edit of a record that nothing names creates it again.
            if write.operation == .create, !world.plan.hasPeople || !unnamed.contains("\(write.entity)/\(write.key)") {
                created.append((write.entity, write.number))
            }
            // A field that only this side has may be dropped by the server.
            for field in write.fields where !write.isCovered && world.schema[write.entity]?[field: field] != nil {
                let place = Place(entity: write.entity, key: write.key, field: field)
                newest[place] = max(newest[place] ?? 0, write.number)
            }
        }
        checkedWrites = writes.count
    }

    /// A creation that is answered 202 brings no key. If the upstream chooses it, and nothing looks the record up, it leaves the
    /// cache, and comes back with a pull under that key.
    private func noteUnnamed(_ write: SystemWorld.Write) {
        guard world.plan.habits[.later], let entity = world.schema[write.entity] else { return }
        // The key of a record that has the one of another record is known.
        if case .reference = entity[field: entity.key]?.kind { return }
        let hasServerKeys = SystemPlan.hasServerKeys(world.plan.seed)
        let isUnnamed = entity.push.create.contains { route in
            route.lookUp == nil && (hasServerKeys || !route.canSend(entity.key))
        }
        if isUnnamed { unnamed.insert("\(write.entity)/\(write.key)") }
    }

    private func checkConflicts(_ store: CacheStore) throws {
        let reader = CacheReader(store: store)
        for conflict in try reader.conflictsWithEntity()
        where try !isExplained(conflict.entity, conflict.key, reader) && !hasTwoNames(conflict.entity, conflict.key) {
            throw Violation(rule: .noSelfConflict, detail: conflict.text)
        }
    }

    /// Whether the record was also written while the daemon's schema had another name for the entity: then the change
    /// waited for its own name, and the later write went first.
    private func hasTwoNames(_ entity: String, _ key: String) -> Bool {
        world.writes.contains { write in
            write.key == key && write.entity != entity && world.name(of: write.entity) == world.name(of: entity)
        }
    }

    /// Deletions explain why a record or one anywhere below it vanishes, and why changes of them conflict. So does a creation
    /// that nothing names: edits under the key that it has here are answered 404.
    private func isExplained(_ entity: String, _ key: String, _ reader: CacheReader) throws -> Bool {
        if unnamed.contains("\(entity)/\(key)") { return true }
        guard world.deletedEntities.contains(entity) else { return false }
        // What people discarded may have been a creation with all that belongs to it.
        if world.plan.hasPeople { return true }
        var open = [(entity: entity, key: key)]
        var passed: Set<String> = []
        while let (entity, key) = open.popLast() {
            let current = try reader.current(entity, key)
            guard passed.insert("\(entity)/\(current)").inserted else { continue }
            if try isDeleted(entity, current, reader) { return true }
            open += parents["\(entity)/\(key)"] ?? parents["\(entity)/\(current)"] ?? []
        }
        return false
    }

    /// Whether the record with this key was deleted here, also before anything was forgotten.
    private func isDeleted(_ entity: String, _ key: String, _ reader: CacheReader) throws -> Bool {
        try world.writes.contains { write in
            try write.operation == .delete && world.name(of: write.entity) == entity
                && reader.current(entity, write.key) == key
        }
    }

    /// Remembers what each record belongs to.
    private func takeParents(_ reader: CacheReader) throws {
        for entity in world.entities {
            let references = entity.fields.compactMap { field in
                if case .reference(let other) = field.kind { (name: field.name, entity: other) } else { nil }
            }
            guard !references.isEmpty else { continue }
            for record in try reader.records(entity.name) {
                guard let text = record.document ?? record.remote else { continue }
                parents["\(entity.name)/\(record.key)"] = references.compactMap { reference in
                    entity.value(of: reference.name, in: text).map { (reference.entity, $0.plain) }
                }
            }
        }
    }

    private func checkSteps(_ store: CacheStore) throws {
        let failed = Set(try CacheReader(store: store).failedRecords())
        var records: [String: JSONText?] = [:]
        for (place, number) in newest.sorted(by: { $0.value < $1.value }) {
            guard let entity = world.running[place.entity], let field = entity[field: place.field] else { continue }
            let name = "\(place.entity)/\(place.key)"
            let record = try records[name] ?? store.record(place.entity, key: place.key).map { try JSONText($0) }
            records[name] = .some(record)
            guard let record else {
                guard try !isExplained(place.entity, place.key, CacheReader(store: store)) else { continue }
                throw step(place, number, "the record has vanished")
            }
            let shown = Marks.number(of: entity.value(of: place.field, in: record), field)
            guard let shown, shown >= number else {
                if failed.contains("\(place.entity)/\(record[entity.key]?.plain ?? "")") { continue }
                // A deletion that is undone by a conflict has dropped the changes below it.
                if try isExplained(place.entity, place.key, CacheReader(store: store)) { continue }
                throw step(place, number, "a reader sees \(record.text)")
            }
            newest[place] = shown
        }
        // A write of ours to a child changes what the server says of its parent, so its deletion may be reported as a
        // conflict.
        let reported = Set(try CacheReader(store: store).conflictsWithEntity().map { "\($0.entity)/\($0.key)" })
        for name in deleted.sorted() where !reported.contains(name) {
            let parts = name.split(separator: "/", maxSplits: 1).map(String.init)
            guard world.running[parts[0]] != nil, let record = try store.record(parts[0], key: parts[1]),
                !failed.contains(name)
            else { continue }
            throw Violation(
                rule: .noStepBack, detail: "\(name) was deleted and is back: \(String(decoding: record, as: UTF8.self))"
            )
        }
    }

    private func step(_ place: Place, _ number: Int, _ what: String) -> Violation {
        Violation(
            rule: .noStepBack,
            detail: "\(place.entity)/\(place.key): \(place.field) of write \(number) was acknowledged, and \(what)")
    }

    /// No creation has made two records.
    private func checkDoubles() throws {
        for entity in world.schema.entities {
            let numbers = Set(created.filter { $0.entity == entity.name }.map(\.number))
            guard !numbers.isEmpty, let field = world.marked(entity, for: .create).flatMap({ entity[field: $0] }) else {
                continue
            }
            var rows: [Int: JSONText] = [:]
            for record in world.reference.records(of: entity.name) {
                guard let number = Marks.number(of: entity.value(of: field.name, in: record), field),
                    numbers.contains(number)
                else { continue }
                if let other = rows.updateValue(record, forKey: number) {
                    throw Violation(
                        rule: .onlyOnce, detail: "write \(number) created \(other.text) and \(record.text)")
                }
            }
        }
    }
}

extension CacheReader {
    func conflictsWithEntity() throws -> [(entity: String, key: String, text: String)] {
        try store.pool.read { db in
            try Row.fetchAll(db.cachedStatement(sql: "SELECT * FROM sync_conflict")).map {
                ($0["entity"], $0["record_key"], $0.description)
            }
        }
    }

    /// Updates that were refused for good, each with a later one of the same record that was made afterwards.
    func changesBehindRefused() throws -> [(refused: Change, later: Change)] {
        let pairs = try store.pool.read { db in
            try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT refused.id, later.id FROM sync_outbox refused JOIN sync_outbox later
                          ON later.entity = refused.entity AND later.record_key = refused.record_key
                            AND later.id > refused.id
                        WHERE refused.state = 'failed' AND refused.error_status = 409 AND later.operation = 'update'
                          AND later.created_at > refused.last_attempt_at + 10000
                        """)
            ).map { ($0[0] as Int64, $0[1] as Int64) }
        }
        let all = Dictionary(uniqueKeysWithValues: try changes().map { ($0.id, $0) })
        return pairs.compactMap { pair in all[pair.0].flatMap { refused in all[pair.1].map { (refused, $0) } } }
    }

    /// What the log has after this position, as `entity kind keys`.
    func logged(after position: Int64) throws -> [String] {
        try store.pool.read { db in
            try String.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT entity || ' ' || kind || ' ' || coalesce(keys, '') FROM sync_change_log WHERE seq > ? ORDER BY seq
                        """),
                arguments: [position])
        }
    }

    /// Records, as `entity/key`, with a change that waits for a user.
    func failedRecords() throws -> [String] {
        try store.pool.read { db in
            try String.fetchAll(
                db.cachedStatement(
                    sql: "SELECT entity || '/' || record_key FROM sync_outbox WHERE state = 'failed'"))
        }
    }
}
