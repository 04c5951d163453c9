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
    /// not being sent.
    func set(_ content: Content?, of key: String) throws {
        let key = try KeyAlias.current(of: key, entity.name, db)
        guard let record = try row.load(key), !record.deleted else {
            throw CacheError.notFound("\(entity.name)/\(key) is not in the cache")
        }
        if let content { try ContentTable(db: db).insert(content, at: context.now) }
        let column = content?.sha256 ?? ContentTable.nothing
        let waiting = try queue.changes(of: entity.name, key: key).filter { $0.content != nil }
        // The same content again is no change; after a failure it asks for another attempt.
        if let last = waiting.last {
            if last.content == column, last.state != .failed { return }
        } else if try kept(key, record.document) == column {
            return
        }
        for change in waiting where change.state != .uploading {
            try queue.remove(change.id)
            try log.append(.discarded, change, detail: [ChangeLogReason.superseded.member])
        }
        let id = try queue.append(Self.change(column, of: key, entity, context.makeID()), at: context.now)
        try log.append(.queued, change: id, entity: entity.name, key: key, detail: Self.detail(content))
        try writer.rebuildDocument(over: key)
    }

    static func change(_ column: String, of key: String, _ entity: Entity, _ id: String) -> OutboxTable.NewChange {
        OutboxTable.NewChange(
            entity: entity, key: key, operation: .update, body: .object([:]), base: .object([:]), edited: .object([:]),
            group: nil, idempotencyKey: id, content: column)
    }

    private static func detail(_ content: Content?) -> [(key: String, value: JSONText)] {
        let values = content.map { JSONText.object(["type": .string($0.type), "size": .integer($0.size)]) }
        return [ChangeLogReason.edited.member, ("operation", "content"), ("values", values ?? .object([:]))]
    }

    /// The hash of the local content; nil when the server has different content by now.
    private func kept(_ key: String, _ document: JSONText) throws -> String? {
        let row = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT _content, _content_address FROM \(table.name) WHERE _key = ?"),
            arguments: [key])
        let address = entity.contentAddress(
            of: try FarValues(schema: context.schema, db: db).added(to: document, of: entity))
        guard let row, row["_content_address"] as String? == address else { return nil }
        return row["_content"]
    }
}
