internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// Turns one local change into queue entries, inside the caller's transaction.
struct ChangeWriter {
    let table: EntityTable
    let context: WriteContext
    // Looked up once, because each step of a change needs them.
    let sealer: RecordSealer
    let writer: RecordWriter

    var db: Database { context.db }
    var now: Timestamp { context.now }
    var entity: Entity { table.entity }
    var row: RecordRow { context.row(table) }
    var queue: OutboxTable { context.queue }
    var log: ChangeLog { context.log }

    init(table: EntityTable, context: WriteContext) {
        self.table = table
        self.context = context
        sealer = context.sealers[table.entity.name]
        writer = context.writer(table)
    }

    func create(_ given: JSONText) throws -> String {
        try requireSupport(.create)
        let own = try withCurrentKeys(given)
        let defaults = try CreationDefaults(entity: entity, context: context).members(beside: own)
        let clear = own.kind == .object ? own.setting(defaults.sent) : own
        let problems = try problems(in: clear, operation: .create, record: clear)
        guard problems.isEmpty else {
            guard let plain = Self.withoutAdded(given) else { throw CacheError.invalid(problems) }
            return try create(plain)
        }
        let body = try sealer.seal(clear)
        let key = body[entity.key]?.plain ?? entity.madeKey(from: context.makeID())
        try requireFree(key)
        let record: JSONText
        if body[entity.key] == nil {
            record = .object(members: [(key: entity.key, value: JSONText.string(key))] + body.members)
        } else {
            record = body
        }
        try requireSingle(body, key)
        try writer.insert(key)
        guard !entity.isLocal else {
            try save(try sealer.seal(defaults.shown).setting(record), of: key, fields: record, .create)
            return key
        }
        let base = try sealer.seal(defaults.shown)
        let change = newChange(.create, key: key, body: record, base: base, record: record)
        try note(change, carriedBy: queue.append(change, at: now))
        try writer.rebuildDocument(over: key)
        return key
    }

    /// `merging`: objects in the body are merged into the record's (RFC 7396), instead of replacing them.
    func update(
        _ givenKey: String, body given: JSONText, merging: Bool = false, expecting expected: ExpectedVersion = .any
    ) throws {
        try requireSupport(.update)
        var clear = try withCurrentKeys(given)
        let key = try KeyAlias.current(of: givenKey, entity.name, in: context.records)
        let (image, document) = try requireRecord(key, named: givenKey)
        // What a caller has only read stays out of the merge, which would open the secrets inside it.
        if merging { clear = try merged(clear, into: document, named: [givenKey, key]) }
        var record = laid(clear, over: document, writer.plan)
        // Most bodies have changes alone, so only one that does not fit is compared with what its caller has read.
        if try !problems(in: clear, operation: .update, record: record).isEmpty {
            clear = changes(in: clear, to: document, named: [givenKey, key])
            record = laid(clear, over: document, writer.plan)
            try requireFit(clear, forUpdateOf: key, record: record)
        }
        try requireVersion(expected, of: key)
        let body = try sealer.seal(clear)
        let members = body.members
        let (changed, seen) = changedMembers(members, in: document, merging: merging)
        guard !changed.isEmpty else { return }
        try requireSingle(.object(members: changed), key)
        if entity.isLocal {
            return try save(document.setting(body), of: key, fields: .object(members: changed), .update)
        }
        // Only a record with queued changes has local fields, so most need no look at the queue.
        var waiting = image.local == nil ? [] : try queue.changes(of: entity.name, key: key)
        let isFirst = waiting.isEmpty
        let parts = try parts(of: changed, in: members, record: record)
        for part in parts {
            let (fields, base) = (part.map(\.key), base(of: part, in: image, seen))
            let change = newChange(
                .update, key: key, body: .object(members: part), base: base, record: record, fields: fields)
            try setUnsendableAside(in: &waiting, before: change)
            try note(change, carriedBy: queue.joinOrAppend(change, to: &waiting, at: now), fields: fields)
        }
        let new = try writer.rebuildDocument(over: image, waiting.map(\.shown))
        if isFirst, let new { note(new, as: givenKey, pending: parts.flatMap { $0.map(\.key) }) }
    }

    /// Those that differ from what readers see in `document`, and `seen`, what they see there.
    private func changedMembers(
        _ members: [(key: String, value: JSONText)], in document: JSONText, merging: Bool
    ) -> (changed: [(key: String, value: JSONText)], seen: [(key: String, value: JSONText)]) {
        var seen: [(key: String, value: JSONText)] = []
        let changed = members.filter { name, value in
            guard let old = entity.value(of: name, in: document) else { return true }
            // A merged object lacks the spaces of the upstream's.
            let isChanged = old != value && !(merging && old.isEquivalent(to: value))
            if isChanged { seen.append((name, old)) }
            return isChanged
        }
        return (changed, seen)
    }

    /// The server's values of the fields that a change sets. `seen` has them if readers see exactly what the server said.
    private func base(
        of members: [(key: String, value: JSONText)], in image: RecordImage, _ seen: [(key: String, value: JSONText)]
    ) -> JSONText {
        .object(
            members: members.compactMap { name, _ in
                let known = image.isPlain ? seen.first { $0.key == name }?.value : .none
                let value = known ?? image.remote.flatMap { entity.value(of: name, in: $0) }
                return value.map { (key: name, value: $0) }
            })
    }

    /// The record with its fields changed, for the questions how that can be sent; as it is where no answer depends on it.
    private func laid(_ fields: JSONText, over document: JSONText, _ plan: RecordPlan) -> JSONText {
        plan.sendsUpdatesAlike ? document : document.setting(fields)
    }

    /// Keeps what readers see of a record for the answer; `pending`: all fields that its queued changes set, in their order.
    private func note(_ image: RecordImage, as name: String, pending: [String]) {
        guard let document = image.asRead else { return }
        context.records.note(
            ChangedRecord(entity: entity.name, pk: image.pk, name: name, document: document, pending: pending))
    }

    // MARK: Records kept on this machine only

    /// Writes a local-only record as if it were the server's version, so that reading, searching and sealing work as
    /// for any other. `fields` are those that change.
    private func save(_ record: JSONText, of key: String, fields: JSONText, _ operation: Operation) throws {
        try writer.assumeRemote(entity.touched(record, at: now, except: fields), of: key)
        try log.append(
            saved: key, of: entity.name, fields: fields.members.map(\.key),
            detail: detail(of: fields, .edited, operation))
    }

    // MARK: Steps

    /// The changed fields, one part for each request, with what the body's `members` send beside them that the upstream never
    /// shows: such a value is sent each time, also if it is the one that was sent last.
    private func parts(
        of changed: [(key: String, value: JSONText)], in members: [(key: String, value: JSONText)], record: JSONText
    ) throws -> [[(key: String, value: JSONText)]] {
        // As in most edits.
        if changed.count == members.count { return try parts(of: changed, record: record) }
        let names = Set(changed.map(\.key))
        let sent = members.filter { name, value in
            names.contains(name) || entity[field: name]?.isWriteOnly == true && value.kind != .null
        }
        return try parts(of: sent, record: record).filter { $0.contains { names.contains($0.key) } }
    }

    private func parts(
        of sent: [(key: String, value: JSONText)], record: JSONText
    ) throws -> [[(key: String, value: JSONText)]] {
        let (parts, unsendable) = entity.parts(of: sent, record: record)
        guard let unsendable else { return parts }
        throw CacheError.invalid([
            FieldProblem(field: unsendable, message: "no route can send this field", code: .unsendableField)
        ])
    }

    /// Replaces references to former keys by the records' current keys, each as the server writes it.
    func withCurrentKeys(_ body: JSONText) throws -> JSONText {
        guard body.kind == .object else { return body }
        var body = body
        for (field, target) in writer.plan.referring {
            guard let given = body[field], given.kind == .string || given.kind == .number else { continue }
            let current = try KeyAlias.current(of: given.plain, target, in: context.records)
            let table = context.table(target)
            let known = try table.flatMap { try context.row($0).keyThere(of: current) }
            let isGiven = current == given.plain && given.kind == .number
            let key = known ?? (isGiven ? given : table?.entity.keyValue(current) ?? .string(current))
            if key != given { body = body.setting(field, to: key) }
        }
        return body
    }

    /// `fields`: those that `body` sets, if they are known.
    func newChange(
        _ operation: Operation, key: String, body: JSONText, base: JSONText, record: JSONText, fields: [String]? = nil
    ) -> OutboxTable.NewChange {
        OutboxTable.NewChange(
            table: table, key: key, operation: operation, body: body, base: base,
            edited: edited(operation == .delete ? [OutboxTable.wholeRecord] : fields ?? body.members.map(\.key)),
            group: entity.orderGroup(of: key, in: record),
            idempotencyKey: context.makeID())
    }

    func edited(_ fields: [String]) -> JSONText {
        let time = JSONText.integer(Int((now + context.clockOffset).milliseconds))
        return .object(members: fields.map { (key: $0, value: time) })
    }

    /// The longest value that the history keeps, in bytes.
    private static let longestValue = 1024

    /// `fields`: those that the change sets, if they are known.
    func note(_ change: OutboxTable.NewChange, carriedBy id: Int64, fields: [String]? = nil) throws {
        try note(change.body, .edited, of: change.operation, to: change.key, carriedBy: id, names: fields)
    }

    /// Logs that the change `id` now sets `fields`, and no longer sets those `removed`. `names`: those of `fields`, if they are
    /// known.
    func note(
        _ fields: JSONText, _ reason: ChangeLogReason, of operation: Operation, to key: String, carriedBy id: Int64,
        names: [String]? = nil, removed: [String] = []
    ) throws {
        var detail = detail(of: fields, reason, operation)
        if !removed.isEmpty { detail.append(("removed", .array(of: removed))) }
        try log.append(
            .queued, change: id, entity: entity.name, key: key,
            fields: (names ?? fields.members.map(\.key)) + removed, detail: detail)
    }

    func detail(
        of fields: JSONText, _ reason: ChangeLogReason, _ operation: Operation
    ) -> [(key: String, value: JSONText)] {
        let open = sealer.withoutSealed(fields)
        // In a short text no value is long.
        let isShort = open.bytes.count <= Self.longestValue
        let shown = isShort ? open : .object(members: open.members.filter { $0.value.bytes.count <= Self.longestValue })
        return [reason.member, ("operation", .string(operation.rawValue)), ("values", shown)]
    }

    func supersede(_ change: OutboxTable.Entry) throws {
        try queue.remove(change.id)
        try log.append(.discarded, change, detail: [ChangeLogReason.superseded.member])
    }
}
