internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// Turns one local change into queue entries, inside the caller's transaction.
struct ChangeWriter {
    let table: EntityTable
    let context: WriteContext

    var db: Database { context.db }
    var now: Timestamp { context.now }
    var sealer: RecordSealer { context.sealers[entity.name] }
    var entity: Entity { table.entity }
    var row: RecordRow { context.row(table) }
    var writer: RecordWriter { context.writer(table) }
    var queue: OutboxTable { context.queue }
    var log: ChangeLog { context.log }

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
        guard try row.load(key) == nil, try KeyAlias.current(of: key, entity.name, in: context.records) == key else {
            throw CacheError.conflict("\(entity.name)/\(key) already exists; change it, or create with another key")
        }
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
        if merging { clear = try merged(changes(in: clear, to: document, named: [givenKey, key]), into: document) }
        let writer = writer
        var record = laid(clear, over: document, writer.plan)
        // Most bodies have changes alone, so only one that does not fit is compared with what its caller has read.
        if try !problems(in: clear, operation: .update, record: record).isEmpty {
            clear = changes(in: clear, to: document, named: [givenKey, key])
            record = laid(clear, over: document, writer.plan)
            try requireFit(clear, operation: .update, record: record)
        }
        try requireVersion(expected, of: key)
        let body = try sealer.seal(clear)
        let changed = changedMembers(of: body, in: document, merging: merging)
        guard !changed.isEmpty else { return }
        try requireSingle(.object(members: changed), key)
        if entity.isLocal {
            return try save(document.setting(body), of: key, fields: .object(members: changed), .update)
        }
        // Only a record with queued changes has local fields, so most need no look at the queue.
        var waiting = image.local == nil ? [] : try queue.changes(of: entity.name, key: key)
        let isFirst = waiting.isEmpty
        let parts = try parts(of: changed, record: record)
        for members in parts {
            let change = newChange(
                .update, key: key, body: .object(members: members), base: base(of: members, in: image), record: record)
            try setUnsendableAside(in: &waiting, before: change)
            try note(change, carriedBy: queue.joinOrAppend(change, to: &waiting, at: now))
        }
        let new = try writer.rebuildDocument(over: image, waiting.map(\.shown))
        if isFirst, let new { note(new, as: givenKey, pending: parts.flatMap { $0.map(\.key) }) }
    }

    private func changedMembers(
        of body: JSONText, in document: JSONText, merging: Bool
    ) -> [(key: String, value: JSONText)] {
        body.members.filter { name, value in
            guard let old = entity.value(of: name, in: document) else { return true }
            // A merged object lacks the spaces of the upstream's.
            return old != value && !(merging && old.isEquivalent(to: value))
        }
    }

    /// The server's values of the fields that a change sets.
    private func base(of members: [(key: String, value: JSONText)], in image: RecordImage) -> JSONText {
        .object(
            members: members.compactMap { name, _ in
                image.remote.flatMap { entity.value(of: name, in: $0) }.map { (key: name, value: $0) }
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

    // MARK: Deleting

    /// Returns the record's current key and content. Throws when it may not be deleted.
    func requireDeletable(
        _ givenKey: String, _ expected: ExpectedVersion
    ) throws -> (key: String, content: RecordRow.Content) {
        try requireSupport(.delete)
        let key = try KeyAlias.current(of: givenKey, entity.name, in: context.records)
        let (image, document) = try requireRecord(key, named: givenKey)
        try requireVersion(expected, of: key)
        try deleteRules.requireNoDenial(entity, key)
        return (key, RecordRow.Content(remote: image.remote, document: document, deleted: false))
    }

    /// Queues the deletion of a record with `content`. A record that was never sent is deleted along with its queued
    /// changes, and nothing is queued.
    func queueDeletion(of key: String, _ content: RecordRow.Content) throws {
        var needs = try deleteRules.dropUnsent(entity, key)
        let waiting = try queue.changes(of: entity.name, key: key)
        if let creation = waiting.first, creation.operation == .create, waiting.allSatisfy(\.isUnknownThere) {
            try requireNoDependents(creation, among: waiting)
            try drop(key, with: waiting)
        } else {
            // Edits that the server does not know need not be sent before the deletion.
            for change in waiting where change.isUnknownThere { try supersede(change) }
            needs.formUnion(try deleteRules.departures(from: entity, key))
            needs.formUnion(try deleteRules.nullify(entity, key))
            let change = newChange(
                .delete, key: key, body: .object([:]), base: content.remote ?? .object([:]), record: content.document)
            let id = try queue.append(change, at: now)
            try queue.depend(id, on: needs)
            try note(change, carriedBy: id)
            try writer.rebuildDocument(over: key)
        }
    }

    /// Deletes a record that the server does not know.
    func drop(_ key: String, with waiting: [OutboxTable.Entry]) throws {
        for change in waiting { try supersede(change) }
        try writer.rebuildDocument(over: key)
        try log.append(.deleted, entity: entity.name, keys: [key])
    }

    func dependents(on creation: OutboxTable.Entry, besides waiting: [OutboxTable.Entry]) throws -> [Int64] {
        try queue.dependents(on: creation).filter { dependent in !waiting.contains { $0.id == dependent } }
    }

    private func requireNoDependents(_ creation: OutboxTable.Entry, among waiting: [OutboxTable.Entry]) throws {
        let dependents = try dependents(on: creation, besides: waiting)
        guard let first = dependents.first else { return }
        throw CacheError.needed(
            by: dependents,
            "the queued change \(first) refers to \(entity.name)/\(creation.key); discard or delete that first")
    }

    private var deleteRules: DeleteRules { DeleteRules(context: context) }

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

    private func requireSupport(_ operation: Operation) throws {
        guard !entity.supports(operation) else { return }
        throw CacheError.unsupported(
            operation: operation.rawValue, entity: entity.name, supported: entity.operations.map(\.rawValue))
    }

    /// The record's row, and what readers see of it. `name`: the key by which the caller knows the record.
    private func requireRecord(
        _ key: String, named name: String
    ) throws -> (image: RecordImage, document: JSONText) {
        guard let image = try writer.image(of: key), !image.isDeleted, let document = image.shown else {
            throw CacheError.notCached(entity: entity.name, key: name)
        }
        return (image, document)
    }

    private func requireVersion(_ expected: ExpectedVersion, of key: String) throws {
        guard expected != .any else { return }
        guard case .oneOf(let marks) = expected,
            try marks.contains(RecordVersion.mark(of: key, table, context.sealers, db))
        else {
            throw CacheError.changed("\(entity.name)/\(key) is not the version that was expected; read it again")
        }
    }

    /// Throws `.conflict` when `body` makes the record a second one of another record that may have only one.
    func requireSingle(_ body: JSONText, _ key: String) throws {
        for field in entity.singleReferences {
            guard let owner = body[field]?.plain, !owner.isEmpty else { continue }
            let other = try String.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT _key FROM \(table.name)
                        WHERE \(table.sql(for: field)) = ? AND _deleted = 0 AND _key <> ? LIMIT 1
                        """),
                arguments: [owner, key])
            guard let other else { continue }
            throw CacheError.conflict(
                "\(entity.name)/\(other) has \(field) \(owner) already, and there may be only one; change that one")
        }
    }

    /// The changed fields, one part for each request.
    private func parts(
        of changed: [(key: String, value: JSONText)], record: JSONText
    ) throws -> [[(key: String, value: JSONText)]] {
        let (parts, unsendable) = entity.parts(of: changed, record: record)
        if let unsendable {
            throw CacheError.invalid([
                FieldProblem(field: unsendable, message: "no route can send this field", code: .unsendableField)
            ])
        }
        return parts
    }

    private func requireFit(_ body: JSONText, operation: Operation, record: JSONText) throws {
        let problems = try problems(in: body, operation: operation, record: record)
        guard problems.isEmpty else { throw CacheError.invalid(problems) }
    }

    /// Why `body` cannot be queued, one problem per field. `record` is the whole record with the change applied; where updates
    /// are sent alike, any record will do for one.
    func problems(in body: JSONText, operation: Operation, record: JSONText) throws -> [FieldProblem] {
        let plan = writer.plan
        let isSentLikeAll = operation == .update && plan.sendsUpdatesAlike
        let sendable = isSentLikeAll ? plan.sendableInUpdates : entity.sendable(for: operation, record: record)
        var problems = ChangeValidation(table: table).problems(
            in: body, operation: operation, record: record, sendable: sendable)
        if entity.isLocal || isSentLikeAll { return problems }
        if problems.isEmpty {
            let known =
                entity.farNames.isEmpty
                ? record : try FarValues(schema: context.schema, db: db).added(to: record, of: entity)
            problems += try entity.missingPathFields(for: operation, record: known)
                .filter { try !isAwaited($0, of: record) }
                .map { FieldProblem(field: $0, message: "the record needs this field to be sent", code: .missingField) }
        }
        if problems.isEmpty, !entity.hasRoute(for: operation, record: record) {
            problems = [FieldProblem(field: "", message: "the schema has no route for a record like this one")]
        }
        return problems
    }

    /// Whether a value of another record is still to come: that one was created here, and the change waits for it.
    private func isAwaited(_ name: String, of record: JSONText) throws -> Bool {
        guard let far = entity.far(name), let key = entity.value(of: far.reference, in: record)?.plain,
            let other = context.table(far.entity)
        else { return false }
        let current = try KeyAlias.current(of: key, far.entity, in: context.records)
        return try context.row(other).exists(current) && context.row(other).remote(of: current) == nil
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

    func newChange(
        _ operation: Operation, key: String, body: JSONText, base: JSONText, record: JSONText
    ) -> OutboxTable.NewChange {
        OutboxTable.NewChange(
            table: table, key: key, operation: operation, body: body, base: base,
            edited: edited(operation == .delete ? [OutboxTable.wholeRecord] : body.members.map(\.key)),
            group: entity.orderWithin.flatMap { entity.value(of: $0, in: record)?.plain },
            idempotencyKey: context.makeID())
    }

    func edited(_ fields: [String]) -> JSONText {
        let time = JSONText.integer(Int((now + context.clockOffset).milliseconds))
        return .object(members: fields.map { (key: $0, value: time) })
    }

    /// The longest value that the history keeps, in bytes.
    private static let longestValue = 1024

    func note(_ change: OutboxTable.NewChange, carriedBy id: Int64) throws {
        try note(change.body, .edited, of: change.operation, to: change.key, carriedBy: id)
    }

    /// Logs that the change `id` now sets `fields`, and no longer sets those `removed`.
    func note(
        _ fields: JSONText, _ reason: ChangeLogReason, of operation: Operation, to key: String, carriedBy id: Int64,
        removed: [String] = []
    ) throws {
        var detail = detail(of: fields, reason, operation)
        if !removed.isEmpty { detail.append(("removed", .array(of: removed))) }
        try log.append(
            .queued, change: id, entity: entity.name, key: key, fields: fields.members.map(\.key) + removed,
            detail: detail)
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
