internal import EntitySchema
internal import JSONText

/// All records of the upstream, and the effects of writing one on the others.
struct Store: Sendable {
    struct Content: Sendable {
        var bytes: [UInt8]
        var type: String
    }

    let schema: EntitySchema
    let settings: UpstreamSettings
    /// Uploaded content by entity and key.
    var contents: [String: [String: Content]] = [:]
    private let links: [ParentLink]
    private var tables: [String: Table]
    private var random: SplitMix64
    var state: HabitState
    /// The last number given to a record, by entity and field.
    var numbers: [String: Int] = [:]

    init(schema: EntitySchema, records: [String: [JSONText]], settings: UpstreamSettings) {
        self.schema = schema
        self.settings = settings
        state = HabitState(seed: settings.seed)
        links = ParentLink.all(in: schema)
        tables = schema.entities.reduce(into: [:]) { tables, entity in
            tables[entity.name] = Table(entity: entity, records: records[entity.name] ?? [])
        }
        for entity in schema.upstream.signals.flatMap(\.reading.entities) { tables[entity]?.isWatched = true }
        random = SplitMix64(seed: settings.seed ^ 0x6964)
    }

    /// The records that were changed since this was last called, for signals.
    mutating func takeChanged() -> [(entity: String, key: JSONText)] {
        guard !schema.upstream.signals.isEmpty else { return [] }
        var changed: [(entity: String, key: JSONText)] = []
        for entity in schema.entities {
            changed += (tables[entity.name]?.touched ?? []).map { (entity.name, $0) }
            tables[entity.name]?.touched = []
        }
        return changed
    }

    func record(_ entity: String, key: String) -> JSONText? { tables[entity]?[key] }

    /// The number of an entity's last change.
    func version(of entity: String) -> Int { tables[entity]?.version ?? 0 }

    func deletions(of entity: String) -> [Table.Deletion] { tables[entity]?.deletions ?? [] }

    /// The record whose fields have the given plain values; fast when the key is among them.
    func find(_ entity: Entity, where conditions: [(name: String, value: String)]) -> JSONText? {
        func fits(_ record: JSONText) -> Bool {
            conditions.allSatisfy { (value(of: $0.name, in: record, entity)?.plain ?? "") == $0.value }
        }
        guard let key = conditions.first(where: { $0.name == entity.key })?.value else {
            return tables[entity.name]?.records.first(where: fits)
        }
        guard let record = tables[entity.name]?[key], fits(record) else { return nil }
        return record
    }

    func records(of entity: String) -> [JSONText]? { tables[entity]?.records }

    mutating func select(
        _ entity: String, where conditions: [(name: String, value: String)], window: ListWindow
    ) -> Table.Selection {
        tables[entity]?.select(where: conditions, window: window) ?? Table.Selection(rows: [], total: 0)
    }

    /// The field of `child` that holds the key of its `parent`.
    func link(from child: String, to parent: String) -> String? {
        links.first { $0.child == child && $0.parent == parent }?.field
    }

    // MARK: Writing

    /// Adds a record. Its key is the given one, unless the server generates keys of its own or none is given.
    mutating func create(_ sent: JSONText, in entity: Entity, at now: Timestamp) throws(Refusal) -> JSONText {
        let fields = try received(sent, entity)
        for field in entity.fields where field.required && field.name != entity.key {
            guard let value = fields[field.name], value != .null else {
                throw .invalid("\(field.name) is missing; a record of \(entity.name) needs it")
            }
        }
        try check(fields, entity)
        let chosen = newIdentity(for: entity, of: fields)
        let sentKey = fields[entity.key].flatMap { $0.plain.isEmpty ? nil : $0 }
        let given = settings.serverIds && hasOwnKeys(entity) ? chosen : chosen ?? sentKey
        if let given, tables[entity.name]?[given.plain] != nil { throw .exists(entity.name, given.plain) }
        let identity = given ?? .string(newKey(for: entity))
        remember(at: now)
        var record = applying(fields, over: .object(members: [(entity.key, identity)]), entity)
            .setting(entity.key, to: identity)
        if entity[field: settings.createdField]?.kind == .time, record[settings.createdField] == nil {
            record = record.setting(settings.createdField, to: .string(now.description))
        }
        for field in entity.fields {
            // The record has arrived, whatever state the sender gave.
            guard let state = field.follow?.order.first else { continue }
            record = record.setting(field.name, to: .string(state))
        }
        record = finished(completed(record, entity), entity, now)
        tables[entity.name]?.put(record, key: identity.plain)
        touchParents(of: entity.name, before: nil, after: record, at: now)
        return record
    }

    /// Writes the named fields into a record.
    mutating func update(
        _ entity: Entity, key: String, with sent: JSONText, at now: Timestamp
    ) throws(Refusal) -> JSONText {
        let changes = try received(sent, entity)
        guard let before = tables[entity.name]?[key] else { throw .notFound("record \(key) in \(entity.name)") }
        if let other = changes[entity.key], other.plain != key {
            throw .invalid("\(entity.key): a record's key cannot be changed")
        }
        try check(changes, entity)
        for workflow in settings.workflows where workflow.entity == entity.name && workflow.applies(to: before) {
            guard let new = changes[workflow.field] else { continue }
            try workflow.check(from: entity.value(of: workflow.field, in: before), to: new)
        }
        remember(at: now)
        var record = finished(applying(changes, over: before, entity), entity, now)
        if let next = nextSlug(of: record, entity, key: key) {
            record = record.setting(entity.key, to: next)
            rename(entity, key: key, to: record)
        } else {
            tables[entity.name]?.put(record, key: key)
        }
        touchParents(of: entity.name, before: before, after: record, at: now)
        return record
    }

    /// Gives a record the key that `record` has, without a trace of the old one.
    private mutating func rename(_ entity: Entity, key: String, to record: JSONText) {
        guard let new = record[entity.key] else { return }
        note(.slugs)
        tables[entity.name]?.forget(key: key)
        tables[entity.name]?.put(record, key: new.plain)
        if let content = contents[entity.name]?.removeValue(forKey: key) { contents[entity.name]?[new.plain] = content }
        for child in schema.entities where !Self.references(of: child, to: entity.name).isEmpty {
            for known in tables[child.name]?.records ?? [] {
                let renamed = Self.renaming(known, child, [entity.name: [key: new]])
                if renamed != known { tables[child.name]?.put(renamed, key: known[child.key]?.plain ?? "") }
            }
        }
    }

    /// Replaces all records of an entity; deleted ones are forgotten.
    mutating func replace(_ entity: Entity, with records: [JSONText]) {
        let known = tables[entity.name]
        // What is in them may have changed without a trace, so it counts as changed.
        tables[entity.name] = Table(entity: entity, records: records, after: known?.version ?? 0)
        tables[entity.name]?.isWatched = known?.isWatched ?? false
    }

    /// Deletes a record, and applies the schema's delete rules to records that refer to it.
    mutating func delete(_ entity: Entity, key: String, at now: Timestamp) throws(Refusal) {
        guard tables[entity.name]?[key] != nil else { throw .notFound("record \(key) in \(entity.name)") }
        // Not by recursion: records may refer to one another to any depth.
        var left = [(entity: entity, key: key)]
        while let (entity, key) = left.popLast() { left += try deleteAlone(entity, key: key, at: now) }
    }

    /// Returns the children that are to be deleted next, the first one last.
    private mutating func deleteAlone(
        _ entity: Entity, key: String, at now: Timestamp
    ) throws(Refusal) -> [(entity: Entity, key: String)] {
        // One that refers to two deleted records is gone by now.
        guard let before = tables[entity.name]?[key] else { return [] }
        let own = links.filter { $0.parent == entity.name }
        for link in own where link.onDelete == .deny && !children(of: key, link).isEmpty {
            throw .invalid("\(entity.name) \(key) still has \(link.child)")
        }
        remember(at: now)
        tables[entity.name]?.remove(key: key, at: now)
        touchParents(of: entity.name, before: before, after: nil, at: now)
        var next: [(entity: Entity, key: String)] = []
        for link in own {
            guard let child = schema[link.child], link.onDelete != .keep else { continue }
            for orphan in children(of: key, link) {
                let childKey = orphan[child.key]?.plain ?? ""
                if link.onDelete == .cascade { next.append((entity: child, key: childKey)) }
                if link.onDelete == .nullify {
                    let changed = stamped(orphan.setting(link.field, to: .null), child, now)
                    tables[child.name]?.put(changed, key: childKey)
                }
            }
        }
        return next.reversed()
    }

    private mutating func children(of key: String, _ link: ParentLink) -> [JSONText] {
        select(link.child, where: [(link.field, key)], window: ListWindow(size: .max)).rows
    }

    /// Updates counts and change times of the record's old and new parents.
    private mutating func touchParents(of child: String, before: JSONText?, after: JSONText?, at now: Timestamp) {
        guard let entity = schema[child] else { return }
        for link in links where link.child == child {
            let old = before.flatMap { entity.value(of: link.field, in: $0)?.plain }
            let new = after.flatMap { entity.value(of: link.field, in: $0)?.plain }
            if let old, !old.isEmpty { touch(link, key: old, before: before, after: old == new ? after : nil, at: now) }
            if let new, !new.isEmpty, new != old { touch(link, key: new, before: nil, after: after, at: now) }
        }
    }

    private mutating func touch(
        _ link: ParentLink, key: String, before: JSONText?, after: JSONText?, at now: Timestamp
    ) {
        guard let entity = schema[link.parent], let known = tables[link.parent]?[key] else { return }
        var parent = known
        let count = (after == nil ? 0 : 1) - (before == nil ? 0 : 1)
        if count != 0, let field = link.count.flatMap({ entity[field: $0] }) {
            let last = entity.value(of: field.name, in: parent)?.integer ?? 0
            parent = parent.setting(field, to: .integer(max(0, last + count)))
        }
        parent = DerivedFields(schema: schema, account: settings.account)
            .parent(parent, link, before: before, after: after) { children(of: key, link) }
        if let name = link.whenChanged { parent = setting(name, to: .string(now.description), in: parent, entity) }
        guard parent != known else { return }
        parent = finished(parent, entity, now)
        tables[link.parent]?.put(parent, key: key)
    }

    private func applying(_ fields: JSONText, over record: JSONText, _ entity: Entity) -> JSONText {
        NestedFields(
            entity: entity, referred: { tables[$0]?[$1] }, like: { find(entity, where: [($0, $1)]) }
        ).applying(fields, over: record)
    }

    /// A record as it is kept after a write.
    private func finished(_ record: JSONText, _ entity: Entity, _ now: Timestamp) -> JSONText {
        guard !habits.isEmpty else { return stamped(record, entity, now) }
        return stamped(normalisation(of: entity).applied(to: record), entity, now)
    }

    private func stamped(_ record: JSONText, _ entity: Entity, _ now: Timestamp) -> JSONText {
        guard let name = entity.pull?.changedAt else { return record }
        let time = changeTime(of: record[entity.key]?.plain ?? "", at: now)
        return setting(name, to: entity.written(changeTime: time), in: record, entity)
    }

    /// Sets a member where the record has it: a second one beside it would contradict the first.
    private func setting(_ name: String, to value: JSONText, in record: JSONText, _ entity: Entity) -> JSONText {
        entity[field: name].map { record.setting($0, to: value) } ?? record.setting(name, to: value)
    }

    private mutating func newKey(for entity: Entity) -> String {
        while true {
            let key = "\(entity.name.prefix(3))_\(random.hex(18))"
            if tables[entity.name]?[key] == nil { return key }
        }
    }

    // MARK: Checking

    private func check(_ fields: JSONText, _ entity: Entity) throws(Refusal) {
        for (name, value) in fields.members where value != .null {
            switch entity[field: name]?.kind {
            case .enum(let values):
                guard !values.contains(where: { $0.value == value.string }) else { continue }
                let known = values.map(\.value).joined(separator: ", ")
                throw .invalid("\(name) cannot be \(value.text); expected one of \(known)")
            case .reference(let other):
                guard settings.checksReferences, tables[other]?[value.plain] == nil else { continue }
                throw .unknownReference(name, other, value.plain)
            default: continue
            }
        }
    }
}

extension Entity {
    /// A change time in the form of its field, which may be a number.
    func written(changeTime time: JSONText) -> JSONText {
        guard let name = pull?.changedAt, self[field: name]?.kind == .integer,
            let number = time.changeTime?.milliseconds
        else { return time }
        return .integer(Int(pull?.sinceFormat == .epoch ? number / 1000 : number))
    }
}
