internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// Turns a local change of a record's content into a queue entry, inside the caller's transaction.
struct ContentWriter {
    let table: EntityTable
    let context: WriteContext

    private var entity: Entity { table.entity }
    private var db: Database { context.db }
    private var row: RecordRow { context.row(table) }
    private var writer: RecordWriter { context.writer(table) }
    private var queue: OutboxTable { context.queue }
    private var log: ChangeLog { context.log }

    /// Queues the upload of `content`, or with nil its deletion. It replaces an earlier change of the content that is
    /// not being sent. A queued creation that carries the content takes it, unless the server may have the record.
    func set(_ content: Content?, of key: String) throws {
        let key = try KeyAlias.current(of: key, entity.name, db)
        guard let record = try row.load(key), !record.deleted else {
            throw CacheError.notCached(entity: entity.name, key: key)
        }
        if let content { try ContentTable(db: db).insert(content, at: context.now) }
        let column = content?.sha256 ?? ContentTable.nothing
        let changes = try queue.changes(of: entity.name, key: key)
        let creation = changes.first { $0.operation == .create && entity.isCreatedWithContent }
        let uploads = changes.filter(\.isContentOnly)
        // An older schema sent the content on its own: it goes into the creation now.
        if let creation, creation.content == nil || uploads.isEmpty, try set(content, carriedBy: creation) {
            try supersede(uploads)
            return try writer.rebuildDocument(over: key)
        }
        let waiting = changes.filter { $0.content != nil }
        // The same content again is no change, where that is known; after a failure it asks for another attempt.
        if let last = waiting.last {
            if last.content == column, last.state != .failed { return }
        } else if try kept(key, record) == column {
            return
        }
        guard content == nil || entity.content?.upload != nil else { throw unreplaceable(key, creation) }
        try supersede(uploads.filter { $0.state != .uploading })
        let id = try queue.append(Self.change(column, of: key, table, context.makeID()), at: context.now)
        try log.append(.queued, change: id, entity: entity.name, key: key, detail: Self.detail(content))
        try writer.rebuildDocument(over: key)
    }

    private func supersede(_ uploads: [OutboxTable.Entry]) throws {
        let changes = ChangeWriter(table: table, context: context)
        for change in uploads { try changes.supersede(change) }
    }

    /// False when the server may have the creation with other content.
    private func set(_ content: Content?, carriedBy creation: OutboxTable.Entry) throws -> Bool {
        let isSame = creation.content == content?.sha256
        guard creation.state == .failed || !isSame else { return true }
        if isSame, !creation.isRefused {
            for id in try queue.retry(creation.id) { try log.append(queuedAgain: queue.row(id), .retried) }
            return true
        }
        guard creation.isUnknownThere, creation.state != .uploading else { return false }
        try queue.attach(content?.sha256, to: creation, idempotencyKey: context.makeID())
        try log.append(
            .queued, change: creation.id, entity: entity.name, key: creation.key, detail: Self.detail(content))
        return true
    }

    private func unreplaceable(_ key: String, _ creation: OutboxTable.Entry?) -> CacheError {
        guard let creation else {
            return .conflict(
                "the upstream takes the content of \(entity.name) only with a new record; create another one, and delete "
                    + "\(entity.name)/\(key) if it is not needed")
        }
        return .conflict(
            "change \(creation.id) may have arrived with its content, which cannot be replaced then; wait for its outcome, "
                + "or discard it once you know that the upstream does not have the record")
    }

    static func change(_ column: String, of key: String, _ table: EntityTable, _ id: String) -> OutboxTable.NewChange {
        OutboxTable.NewChange(
            table: table, key: key, operation: .update, body: .object([:]), base: .object([:]), edited: .object([:]),
            group: nil, idempotencyKey: id, content: column)
    }

    private static func detail(_ content: Content?) -> [(key: String, value: JSONText)] {
        let values = content.map { JSONText.object(["type": .string($0.type), "size": .integer($0.size)]) }
        return [ChangeLogReason.edited.member, ("operation", "content"), ("values", values ?? .object([:]))]
    }

    /// The hash of the local content; nil when the server has different content by now, or may have: no record shows that others
    /// have replaced what is at a path.
    private func kept(_ key: String, _ record: RecordRow.Content) throws -> String? {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT _content, _content_address, (
                      SELECT at FROM sync_change_log WHERE seq = _acknowledged AND fields IS NULL) AS sent_at
                    FROM \(table.name) WHERE _key = ?
                    """),
            arguments: [key])
        let address = entity.contentAddress(
            of: try FarValues(schema: context.schema, db: db).added(to: record.document, as: record.remote, of: entity))
        guard let row, row["_content_address"] as String? == address else { return nil }
        let isShown = entity.content?.address != nil || entity.content?.upload == nil
        return isShown || wasJustSent(row["sent_at"]) ? row["_content"] : nil
    }

    /// Whether the content was sent so recently that it counts as the server's. Else a hook that sets it after each change of the
    /// record would send it without end: each upload is such a change.
    private func wasJustSent(_ time: Int64?) -> Bool {
        guard let time else { return false }
        return (.zero..<Duration.seconds(60)).contains(context.now.since(Timestamp(milliseconds: time)))
    }
}
