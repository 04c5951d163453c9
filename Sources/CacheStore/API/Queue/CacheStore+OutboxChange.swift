internal import EntitySchema
internal import GRDB
package import JSONText
internal import SQLiteStore

/// One queued change as the engine sends it.
extension CacheStore {
    /// What the server had in the fields of a change when it was made or last merged, with secrets opened; nil when the
    /// change has ended.
    package func base(of change: OutboxChange) throws -> JSONText? {
        try read { db in
            let base = try String.fetchOne(
                db.cachedStatement(sql: "SELECT base FROM sync_outbox WHERE id = ?"), arguments: [change.id])
            return try base.map { sealers[change.entity].open(try JSONText(parsing: $0)).record }
        }
    }

    /// Whether an older change, not sent yet, takes one of this change's values from another record.
    package func isFreeing(valuesOf change: OutboxChange) throws -> Bool {
        try read { db in
            try Bool.fetchOne(
                db.cachedStatement(sql: Self.freedSQL),
                arguments: [change.entity, change.id, change.key, change.storedBody.text]) ?? false
        }
    }

    private static let freedSQL = """
        SELECT EXISTS (
          SELECT 1 FROM sync_outbox older, json_each(older.base) freed
          JOIN json_each(?4) wanted ON wanted.key = freed.key AND wanted.atom = freed.atom
          WHERE older.entity = ?1 AND older.id < ?2 AND older.record_key <> ?3 AND older.operation <> 'create'
            AND older.state <> \(OutboxState.failed.sql) AND freed.type IN ('text', 'integer'))
        """

    func outboxChange(_ row: Row, _ db: Database) throws -> OutboxChange? {
        // A change of an entity that the schema no longer has stays until the schema has it again.
        guard let entity = schema[row["entity"]] else { return nil }
        let body = try JSONText(parsing: row["body"] as String)
        let record = try RecordRow(table: EntityTable(entity: entity), db: db).load(row["record_key"])
        let version = try version(of: row["record_key"], entity, record?.remote, db)
        // Only the body is sent; the rest of the record must not contain secrets.
        let sealer = sealers[entity.name]
        let opened = sealer.open(body)
        let secrets = [body, record?.document, record?.remote].compactMap(\.self).flatMap(sealer.texts)
        let operation = Operation(rawValue: row["operation"]) ?? .update
        let replaced = try replaced(by: body, operation, entity, record)
        // Later edits are changes of their own, whose values choose neither its route nor where it is looked up.
        let shown = sealer.withoutSealed(record?.document.setting(body) ?? body)
        let far = FarValues(schema: schema, db: db)
        let known = try far.added(to: shown, of: entity)
        let remote = operation == .create || entity.addressFields.isEmpty ? nil : record?.remote
        let located = remote.map { entity.located(shown, as: sealer.withoutSealed($0)) } ?? shown
        let fields = operation == .update ? body.members.map(\.key) : []
        var trace = (row["trace"] as String?).flatMap(TraceContext.init(stored:))
        trace?.attempt = row["tried"]
        return OutboxChange(
            id: row["id"], entity: entity.name, key: row["record_key"],
            operation: operation, body: opened.record, storedBody: body,
            unreadable: opened.unreadable + (replaced?.unreadable ?? []), secrets: secrets,
            record: known, address: located == shown ? known : try far.added(to: located, of: entity),
            idempotencyKey: row["idempotency_key"],
            attemptCount: row["attempt_count"], tried: row["tried"], version: version,
            isOfUnlisted: try ViewTable(entity: entity.name, db: db).leaveOut(fields, of: row["record_key"], entity),
            createdAt: Timestamp(milliseconds: row["created_at"]),
            content: try ContentTable(db: db).change(row["content"]), replaced: replaced?.record,
            errorClass: (row["error_class"] as String?).map(ErrorClass.init), errorMessage: row["error_message"],
            meaning: Meaning(entity, forms: try NormalFormTable(db: db).forms(of: entity.name)),
            firstAttemptAt: row.time("first_attempt_at"), lastAttemptAt: row.time("last_attempt_at"), trace: trace)
    }

    /// What the server has of a record that an update sends as a whole; nil for an update that sends only its fields.
    private func replaced(
        by body: JSONText, _ operation: Operation, _ entity: Entity, _ record: RecordRow.Content?
    ) throws -> RecordSealer.Opened? {
        guard operation == .update, let record, let remote = record.remote,
            entity.needsRemote(updating: body.members.map(\.key), record: record.document)
        else { return nil }
        return sealers[entity.name].open(remote)
    }

    private func version(of key: String, _ entity: Entity, _ remote: JSONText?, _ db: Database) throws -> String? {
        switch schema.upstream.version {
        case nil: nil
        case .field(let field): remote?.at(path: field.place)?.plain
        case .etag:
            try String.fetchOne(
                db.cachedStatement(sql: "SELECT _version FROM \(EntityTable(entity: entity).name) WHERE _key = ?"),
                arguments: [key])
        }
    }
}
