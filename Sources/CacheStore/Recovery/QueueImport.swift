internal import EntitySchema
internal import GRDB
internal import JSONText

/// How many changes were imported, and how many were already known.
package struct ExportedCount: Sendable, Equatable {
    package var added = 0
    package var known = 0
}

/// Adds changes from another database to this one's queue, inside the caller's transaction.
struct QueueImport {
    let context: WriteContext
    /// The settings of the database that the changes come from: which places are sealed in them.
    let settings: [String: String]
    /// Whether `knownPk` of the changes refers to this database's records.
    var isSameCache = false

    private var db: Database { context.db }
    private var now: Timestamp { context.now }

    /// Adds the changes that are not here and never were, in the given order. Their ids are kept if none of them was
    /// used here before; otherwise all get new ones, in the same order. Idempotency keys are always kept.
    func addUnknown(_ changes: [ExportedChange]) throws -> ExportedCount {
        let keys = try String.fetchSet(db, sql: "SELECT idempotency_key FROM sync_outbox")
        var queued = Set(keys.map(OutboxChange.original))
        let new = try changes.filter { change in
            try !isCarried(change) && queued.insert(OutboxChange.original(change.idempotencyKey)).inserted
        }
        try add(new)
        return ExportedCount(added: new.count, known: changes.count - new.count)
    }

    /// `isOwnHistory`: the ids of these changes meant the same in this database, whose queue is empty.
    func add(_ new: [ExportedChange], isOwnHistory: Bool = false) throws {
        let next = try Int64.fetchOne(db, sql: "SELECT \(QueueStatements.nextID)") ?? 1
        let areFree =
            (isOwnHistory || new.allSatisfy { $0.id >= next }) && Set(new.map(\.id)).count == new.count
        var unmerged = UnmergedRecords()
        for change in Self.withRecords(new) { try add(change, id: areFree ? change.id : nil, &unmerged) }
        try merge(&unmerged)
    }

    /// The changes with the records that deletions among them have: a deletion has the whole record as the server had it, an
    /// edit only the edited fields.
    static func withRecords(_ changes: [ExportedChange]) -> [ExportedChange] {
        let whole = Dictionary(
            changes.filter { $0.kind == .delete }.map { (name($0), $0.base) },
            uniquingKeysWith: { $1 })
        return changes.map { change in
            var change = change
            change.record = change.record ?? whole[name(change)]
            return change
        }
    }

    private static func name(_ change: ExportedChange) -> [String] { [change.entity, change.recordKey] }

    private func isCarried(_ change: ExportedChange) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM sync_carried WHERE idempotency_key = ?)"),
            arguments: [OutboxChange.original(change.idempotencyKey)]) ?? false
    }

    // MARK: One change

    private func add(_ given: ExportedChange, id: Int64?, _ unmerged: inout UnmergedRecords) throws {
        var change = given
        if !isSameCache { change.knownPk = nil }
        let entity = context.schema[change.entity]
        if let entity {
            if isForPartners(change, entity) { try merge(&unmerged) }
            change = try prepared(resealed(change, entity), entity)
            try CarriedRecord(of: change, entity, context).keep()
        } else {
            change = try sealedAsHere(change)
        }
        // Before the change, which counts as one use of it; so its file is not dropped in between.
        if let content = change.carriedContent { try ContentTable(db: db).insert(content, at: now) }
        let id = try insert(change, id: id)
        try db.execute(
            sql: "INSERT INTO sync_carried VALUES (?, ?) ON CONFLICT DO NOTHING",
            arguments: [OutboxChange.original(change.idempotencyKey), now.milliseconds])
        for conflict in change.conflicts ?? [] { try insert(conflict, of: change, id) }
        if let entity {
            try depend(id, change, entity)
            unmerged.insert(entity, change.recordKey)
        } else {
            try noteLate(id, change.entity)
        }
        try context.log.append(
            .queued, change: id, entity: change.entity, key: change.recordKey,
            fields: (try? JSONText(parsing: change.body))?.members.map(\.key),
            detail: [
                ChangeLogReason.carried.member, ("operation", .string(change.operation)),
                ("created_at", .integer(Int(change.createdAt))),
            ])
    }

    /// The change with what the schema says of its entity: the keys that records have by now, and whether an earlier attempt
    /// can be recognized.
    func prepared(_ given: ExportedChange, _ entity: Entity) throws -> ExportedChange {
        var change = try withCurrentKeys(given, entity)
        if mayHaveHiddenKey(change, entity) { change.idempotencyKey = OutboxChange.hidden(change.idempotencyKey) }
        if isUnknowable(change, entity) {
            fail(
                &change, .unclear,
                """
                it may have arrived before it was imported here: check whether the upstream has it, then retry or \
                discard
                """)
        }
        return change
    }

    /// The change with the keys that its record, and those it refers to, have been given since it was made.
    private func withCurrentKeys(_ given: ExportedChange, _ entity: Entity) throws -> ExportedChange {
        var change = given
        change.recordKey = try KeyAlias.current(of: given.recordKey, entity.name, db)
        let body = try JSONText(parsing: given.body)
        let current = try ChangeWriter(table: EntityTable(entity: entity), context: context).withCurrentKeys(body)
        // A key that is only written in another way stays: an attempt may have sent it.
        let renamed = current.members.filter { field, key in body[field]?.plain.exact != key.plain.exact }
        if !renamed.isEmpty { change.body = renamed.reduce(body) { $0.setting($1.key, to: $1.value) }.text }
        if let group = given.orderGroup, let owner = context.schema.owner(within: entity) {
            change.orderGroup = try KeyAlias.current(of: group, owner, db)
        }
        return change
    }

    /// Whether the outcome of a creation cannot be found out. A creation that may have arrived is searched for among
    /// the records that were not there before; in another database those are unknown. Without a look-up only its key
    /// shows that it is a repeat, and upstreams forget keys, many after a day.
    private func isUnknowable(_ change: ExportedChange, _ entity: Entity) -> Bool {
        guard change.tried > 0, change.kind == .create, let body = try? JSONText(parsing: change.body) else {
            return false
        }
        let isRecognized =
            !change.idempotencyKey.hasPrefix(OutboxChange.hiddenKeyMark)
            && entity.recognizesRepeats(of: .create, record: body, fields: [], context.schema.upstream)
        switch entity.route(for: .create, record: body)?.lookUp {
        case .match: return change.knownPk == nil && !isRecognized
        case .key: return false
        case nil:
            let age = now.milliseconds - (change.lastAttemptAt ?? change.firstAttemptAt ?? change.createdAt)
            return isRecognized && change.state != OutboxState.failed.rawValue && age >= Self.keyLifetime
        }
    }

    /// In milliseconds: for how long an upstream is taken to know an idempotency key.
    private static let keyLifetime: Int64 = 86_400_000

    /// Whether an attempt that is only guessed may have been a batch that did not carry the change's key.
    private func mayHaveHiddenKey(_ change: ExportedChange, _ entity: Entity) -> Bool {
        guard change.tried > 0, let body = try? JSONText(parsing: change.body),
            let operation = change.kind
        else { return false }
        let fields = body.members.map(\.key)
        guard entity.recognizesRepeats(of: operation, record: body, fields: fields, context.schema.upstream),
            let route = entity.route(for: operation, record: body, fields: fields),
            let plan = entity.batchPlan(for: operation, record: body, fields: fields)
        else { return false }
        return !route.isKeyShown(in: plan, for: operation)
    }

    func fail(_ change: inout ExportedChange, _ errorClass: ErrorClass, _ message: String) {
        change.state = OutboxState.failed.rawValue
        change.errorClass = errorClass.rawValue
        change.errorStatus = nil
        change.errorMessage = message
    }

    func insert(_ change: ExportedChange, id: Int64?) throws -> Int64 {
        try db.execute(
            sql: """
                INSERT INTO sync_outbox (id, entity, record_key, operation, body, base, edited, idempotency_key,
                  order_group, state, attempt_count, tried, created_at, last_attempt_at, next_attempt_at, error_class,
                  error_status, error_message, known_pk, content, trace, sent, first_attempt_at)
                VALUES (coalesce(?, \(QueueStatements.nextID)), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
                  ?, ?)
                """,
            arguments: [
                id, change.entity, change.recordKey, change.operation, change.body, change.base,
                change.edited ?? "{}", change.idempotencyKey, change.orderGroup,
                change.state == OutboxState.uploading.rawValue ? OutboxState.queued.rawValue : change.state,
                change.attemptCount, change.tried,
                change.createdAt, change.lastAttemptAt, change.nextAttemptAt, change.errorClass, change.errorStatus,
                change.errorMessage, change.knownPk, change.content,
                change.trace.flatMap(TraceContext.init(stored:))?.stored,
                // In a damaged file it may not be JSON.
                change.sent.flatMap { ExportedChange.isJSON($0) ? $0 : nil }, change.firstAttemptAt,
            ])
        let id = db.lastInsertedRowID
        context.records.forgetNumbers()
        try ContentTable(db: db).countQueued(change.content, 1)
        return id
    }

    private func insert(_ conflict: ExportedConflict, of change: ExportedChange, _ id: Int64) throws {
        try db.execute(
            sql: """
                INSERT INTO sync_conflict (at, change_id, entity, record_key, operation, field, base, local, server,
                  local_at, server_at, rule)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                conflict.at, id, change.entity, change.recordKey, change.operation, conflict.field, conflict.base,
                conflict.local, conflict.server, conflict.localAt, conflict.serverAt, conflict.rule,
            ])
    }

    /// `isLaid`: later changes are in the queue already. With two that wait for each other, neither would ever be sent.
    func depend(_ id: Int64, _ change: ExportedChange, _ entity: Entity, isLaid: Bool = false) throws {
        let queue = context.queue
        let new = OutboxTable.NewChange(
            table: EntityTable(entity: entity), key: change.recordKey,
            operation: change.kind ?? .update,
            body: try JSONText(parsing: change.body), base: try JSONText(parsing: change.base),
            edited: try JSONText(parsing: change.edited ?? "{}"), group: change.orderGroup,
            idempotencyKey: change.idempotencyKey, content: change.content)
        let needs = try queue.needs(of: new, before: id)
        try queue.depend(id, on: isLaid ? needs.filter { $0 < id } : needs)
    }

    // MARK: Merging

    func merge(_ unmerged: inout UnmergedRecords) throws {
        for (entity, key) in unmerged.records {
            try Merge(table: EntityTable(entity: entity), context: context).mergeRemote(of: key)
        }
        unmerged = UnmergedRecords()
    }

    /// Whether what the change waits for is found by what records have after the changes so far.
    func isForPartners(_ change: ExportedChange, _ entity: Entity) -> Bool {
        change.kind == .create && entity.fields.contains { $0.waitsFor != nil }
    }

    // MARK: Secrets

    static func unproven(_ field: String) -> String {
        "it came without a sealed value, because nothing shows that it is one of \(field.start(scalars: 100)): "
            + "discard it and make it again"
    }

    /// The change with exactly those secrets sealed that are secret here.
    private func resealed(_ change: ExportedChange, _ entity: Entity) throws -> ExportedChange {
        // Without settings, the change is taken to be sealed as here.
        guard !settings.isEmpty,
            let conversion = try SealedPlaces(of: entity, in: settings).conversion(context.sealers.sealer)
        else { return change }
        var change = change
        if let field = try conversion.unproven.fields(in: JSONText(parsing: change.body)).first {
            fail(&change, .sealed, Self.unproven(field))
        }
        change.body = try conversion.converted(change.body) ?? change.body
        change.base = try conversion.converted(change.base) ?? change.base
        change.record = try conversion.converted(change.record)
        // Their values are sealed separately; a merge finds the conflict again.
        (change.conflicts, change.sent, change.latest) = (nil, nil, nil)
        return change
    }
}

/// The records of new changes, in the order of their first. Each is merged once, because that looks at all of its changes.
struct UnmergedRecords {
    private(set) var records: [(entity: Entity, key: String)] = []
    private var known: Set<[ExactText]> = []

    mutating func insert(_ entity: Entity, _ key: String) {
        if known.insert([entity.name.exact, key.exact]).inserted { records.append((entity, key)) }
    }
}
