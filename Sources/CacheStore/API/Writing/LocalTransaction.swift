package import EntitySchema
internal import GRDB
package import JSONText
internal import SQLiteStore

/// The operations of one local API call, in one transaction. Reads see the state after the write; the answer is
/// rendered from that state after the commit.
package struct LocalTransaction {
    let store: CacheStore
    let context: WriteContext

    var db: Database { context.db }
    var now: Timestamp { context.now }

    /// How many bytes the records have that were read in order to be changed, each as often as it was. A change of a record
    /// takes time in proportion.
    package var bytesRead: Int { context.records.bytesRead }

    // MARK: Records

    /// Creates a record and queues its creation; returns its key, which is generated unless the body has one.
    ///
    /// Throws `.invalid` for a body that does not fit the schema, `.conflict` for a key that is taken.
    package func create(_ entity: String, _ body: JSONText) throws -> String {
        try working(entity) { try writer(entity).create(body) }
    }

    /// Creates a record whose `field` refers to the record `key` of `parent`, by its current key.
    ///
    /// Throws `.notFound` without such a record, `.invalid` for a body that names another parent.
    package func create(
        _ entity: String, _ body: JSONText, referring field: String, to key: String, of parent: Entity
    ) throws -> String {
        let reference = try reference(to: key, of: parent)
        let writer = try writer(entity)
        if let given = try writer.withCurrentKeys(body)[field], given.plain.exact != reference.plain.exact {
            throw CacheError.invalid([
                FieldProblem(field: field, message: "the path says \(key); leave this field out, or say the same")
            ])
        }
        return try working(entity) { try writer.create(body.setting(field, to: reference)) }
    }

    /// The current key of a record as the record has it, a number or a text. Throws `.notCached` without such a record.
    package func reference(to key: String, of entity: Entity) throws -> JSONText {
        let current = try KeyAlias.current(of: key, entity.name, in: context.records)
        guard let row = try RecordRow(table: EntityTable(entity: entity), db: db).load(current), !row.deleted else {
            throw CacheError.notCached(entity: entity.name, key: key)
        }
        context.records.bytesRead += row.document.bytes.count
        return row.document[entity.key] ?? .string(current)
    }

    /// Changes the fields in `body`, where null sets null, and queues the change. A field that already has its value is
    /// no change; when none is left, nothing is queued.
    ///
    /// `merging`: objects in the body are merged into the record's (RFC 7396), instead of replacing them. Throws
    /// `.changed` for a version that is not expected.
    package func update(
        _ entity: String, key: String, _ body: JSONText, merging: Bool = false,
        expecting expected: ExpectedVersion = .any
    ) throws {
        try working(entity) { try writer(entity).update(key, body: body, merging: merging, expecting: expected) }
    }

    /// Makes a record what `body` says, or creates it under this key unless it `mustExist`; returns whether it was
    /// created.
    ///
    /// Throws `.invalid` for a body that names another key or does not fit the schema.
    package func replace(
        _ entity: String, key: String, _ body: JSONText, expecting expected: ExpectedVersion = .any,
        mustExist: Bool = false
    ) throws -> Bool {
        try working(entity) { try writer(entity).replace(key, body: body, expecting: expected, mustExist: mustExist) }
    }

    /// Hides the record and queues its deletion. A record that was never sent is removed with its queued creation.
    /// Throws `.changed` for a version that is not expected.
    package func delete(_ entity: String, key: String, expecting expected: ExpectedVersion = .any) throws {
        try working(entity) { try DeletionWriter(writer(entity)).delete(key, expecting: expected) }
    }

    /// Queues the upload of `content`, or its deletion if nil, and shows it at once; `install` puts its file in place.
    ///
    /// Throws `.notFound` without such a record.
    package func setContent(
        _ entity: String, key: String, _ content: Content?, install: () throws -> Void = {}
    ) throws {
        try ContentWriter(table: store.table(entity), context: context).set(content, of: key)
        try install()
    }

    // MARK: Queue and conflicts

    /// Makes one failed or waiting change ready at once, or with nil every failed one; returns how many.
    ///
    /// A change whose outcome was unclear is sent as if for the first time: the user has checked.
    package func retry(_ id: Int64?) throws -> Int { try working { try queue.retry(id) } }

    /// Sets and removes fields of a queued change and makes it ready at once, as one that was never tried.
    ///
    /// Throws `.invalid` as a write does, `.busy` while the change is being sent, and `.conflict` when it is a creation
    /// that may have arrived.
    package func correct(_ id: Int64, setting fields: JSONText, removing removed: [String]) throws {
        try working { try queue.correct(id, setting: fields, removing: removed) }
    }

    /// Discards a change: its record returns to the server's version, with the remaining queued changes applied.
    ///
    /// Throws `.busy` while it is being sent, and `.needed` when other changes depend on it, unless `cascade`
    /// discards those too.
    package func discard(_ id: Int64, cascade: Bool) throws {
        try working { try queue.discard(id, cascade: cascade) }
    }

    /// Decides an open conflict. Throws `.conflict` when it is decided already, `.busy` while its change is being sent.
    package func resolve(_ id: Int64, for winner: Conflict.Side) throws {
        try working { try conflicts.resolve(id, for: winner) }
    }

    /// Queues the side that lost as a new change. Throws `.conflict` when the conflict is open or was undone before,
    /// and whatever a local write of that kind throws.
    package func undo(_ id: Int64) throws { try working { try conflicts.undo(id) } }

    // MARK: Reading

    /// One record as readers see it, without its secrets and with its sealed values in the clear; nil when it is not
    /// cached.
    package func shown(_ entity: String, key: String) throws -> ShownRecord? {
        try context.computeFigures(of: entity)
        let reading = try store.reading(entity)
        if let changed = context.records.changed(entity, key), let shown = try shown(changed, reading) { return shown }
        let current = try KeyAlias.current(of: key, entity, in: context.records)
        return try store.statements.with(reading.one, on: db) { statement in
            try statement.bind(current, to: 1)
            return try statement.step() ? ShownRecord(reading: statement.handle, reading.extras) : nil
        }
    }

    /// A record that this transaction has just changed; nil if it has to be read again.
    private func shown(_ record: ChangedRecord, _ reading: FixedQueries.Reading) throws -> ShownRecord? {
        guard let sql = reading.changed else { return nil }
        return try store.statements.with(sql, on: db) { statement in
            try statement.bind(record.pk, to: 1)
            try statement.bind(record.document, to: 2)
            guard try statement.step() else { return nil }
            return ShownRecord(reading: statement.handle, reading.extras, pending: record.pending)
        }
    }

    /// As `CacheStore.contentStatus(of:_:)`, within this transaction.
    package func contentStatus(of key: String, _ entity: String) throws -> ContentStatus? {
        try store.contentStatus(of: key, entity, db)
    }

    /// Whether readers see the record.
    package func isShown(_ entity: Entity, key: String) throws -> Bool {
        let current = try KeyAlias.current(of: key, entity.name, in: context.records)
        return try !RecordRow(table: EntityTable(entity: entity), db: db).isDeleted(current)
    }

    /// Why a record that is not cached counts as absent; see `CacheStore.absence`.
    package func absence(of key: String, _ entity: String) throws -> KnownAbsence? {
        try store.absence(of: key, entity, db)
    }

    package func pendingChange(_ id: Int64) throws -> JSONText { try store.pendingChange(id, db) }

    package func conflict(_ id: Int64) throws -> JSONText { try store.conflict(id, db) }

    // MARK: Parts

    /// Recomputes what `body` made stale, before the transaction reads any of it.
    private func working<Result>(_ body: () throws -> Result) throws -> Result {
        let result = try body()
        try context.refresh()
        return result
    }

    /// The same for a write to a record of `entity`.
    private func working<Result>(_ entity: String, _ body: () throws -> Result) throws -> Result {
        try context.computeFigures(of: entity)
        let result = try body()
        try context.refresh(after: entity)
        return result
    }

    var reminderRecords: ReminderRecords { ReminderRecords(context: context) }

    private var queue: OutboxAdmin { OutboxAdmin(context: context) }

    private var conflicts: ConflictResolver { ConflictResolver(context: context) }

    private func writer(_ entity: String) throws(CacheError) -> ChangeWriter {
        ChangeWriter(table: try store.table(entity), context: context)
    }
}
