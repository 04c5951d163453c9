internal import EntitySchema
internal import GRDB
internal import JSONText

/// One record's row, and how its document is built: queued changes on top of what the server said.
struct RecordRow {
    struct Content {
        var remote: JSONText?
        var document: JSONText
        var deleted: Bool
    }

    let table: EntityTable
    let db: Database

    func load(_ key: String) throws -> Content? {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: "SELECT _remote, \(EntityTable.document), _deleted FROM \(table.name) WHERE _key = ?"),
            arguments: [key])
        guard let row, let document: String = row[1] else { return nil }
        return Content(
            remote: try (row[0] as String?).map { try JSONText(parsing: $0) },
            document: try JSONText(parsing: document), deleted: row[2])
    }

    func exists(_ key: String) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM \(table.name) WHERE _key = ?)"), arguments: [key])
            ?? false
    }

    /// Whether the record is hidden from readers: deleted, or never there.
    func isDeleted(_ key: String) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT _deleted FROM \(table.name) WHERE _key = ?"), arguments: [key]) ?? true
    }

    /// What the server last said; nil if the server has no such record.
    func remote(of key: String) throws -> JSONText? {
        try String.fetchOne(
            db.cachedStatement(sql: "SELECT _remote FROM \(table.name) WHERE _key = ?"), arguments: [key]
        ).map { try JSONText(parsing: $0) }
    }

    /// Remembers that the server has deleted the record, until that can be merged with its queued changes.
    func markGone(_ key: String) throws {
        try db.cachedStatement(sql: "UPDATE \(table.name) SET _gone = 1 WHERE _key = ?").execute(arguments: [key])
    }

    func isGone(_ key: String) throws -> Bool {
        try Bool.fetchOne(db.cachedStatement(sql: "SELECT _gone FROM \(table.name) WHERE _key = ?"), arguments: [key])
            ?? false
    }

    /// Inserts the row of a record that the server does not know yet.
    func insert(_ key: String) throws {
        try db.cachedStatement(sql: "INSERT INTO \(table.name) (_key) VALUES (?)").execute(arguments: [key])
        try SearchIndex.noteInserted(table.entity, db)
        try tally(1)
    }

    /// `version` is the server's own mark for this version of the record, if it sends one.
    func setRemote(_ remote: JSONText?, version: String? = nil, of key: String, at now: Timestamp) throws {
        try db.cachedStatement(
            sql: "UPDATE \(table.name) SET _remote = ?, _version = ?, _gone = 0, _synced_at = ? WHERE _key = ?"
        )
        .execute(arguments: [remote?.text, version, now.milliseconds, key])
    }

    func delete(_ key: String) throws {
        try db.cachedStatement(sql: "DELETE FROM \(table.name) WHERE _key = ?").execute(arguments: [key])
        try tally(-Int64(db.changesCount))
    }

    /// Rebuilds local fields, document and deletion from the queue and the derived fields. Deletes a row that has
    /// neither a server version nor a queued change: it is no longer a record.
    ///
    /// `shown` has what readers saw of the fields that follow the queue, if the row no longer has it.
    func rebuildDocument(over key: String, shown: JSONText? = nil) throws {
        let changes = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT operation, body, content, state FROM sync_outbox WHERE entity = ? AND record_key = ? ORDER BY id
                    """),
            arguments: [table.entity.name, key])
        let stored = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT _remote, _document, _derived FROM \(table.name) WHERE _key = ?"),
            arguments: [key])
        guard let stored else { return }
        let remote = try Self.json(stored[0])
        if changes.isEmpty, remote == nil { return try delete(key) }
        let local = try changes.reduce(JSONText.object([:])) { try $0.setting(JSONText(parsing: $1["body"] as String)) }
        let edited = withContentState(remote?.setting(local) ?? local, changes)
        let own = ComputedFields(entity: table.entity).overlay(
            edited: edited, remote: remote, creation: Self.creation(in: changes),
            shown: try [shown, Self.json(stored[1])].compactMap(\.self))
        let derived = try Self.json(stored[2])?.members ?? []
        let differs = !changes.isEmpty || !own.isEmpty || !derived.isEmpty
        let isDeleted = changes.last.map { $0["operation"] == Operation.delete.rawValue } ?? false
        try store(
            local: changes.isEmpty ? .none : .some(local),
            document: differs ? .some(edited.setting(.object(members: derived + own))) : .none,
            deleted: try isDeleted || isOwnerDeleted(of: edited, key), key)
    }

    private static func json(_ text: String?) throws -> JSONText? { try text.map { try JSONText(parsing: $0) } }

    private static func creation(in changes: [Row]) -> ComputedFields.Creation? {
        changes.first { $0["operation"] == Operation.create.rawValue }.map {
            $0["state"] == OutboxState.failed.rawValue ? .failed : .queued
        }
    }

    /// Whether the record belongs to an owner whose deletion is queued, and goes with it.
    private func isOwnerDeleted(of record: JSONText, _ key: String) throws -> Bool {
        for tie in table.entity.ties where tie.onDelete == .cascade {
            guard let owner = table.entity.value(of: tie.field, in: record)?.plain, !owner.isEmpty,
                tie.entity != table.entity.name || owner != key
            else { continue }
            let isDeleted = try Bool.fetchOne(
                db.cachedStatement(
                    sql: "SELECT _deleted FROM \(EntityTable.name(of: tie.entity)) WHERE _key = ?"),
                arguments: [owner])
            if isDeleted == true { return true }
        }
        return false
    }

    /// Sets the upload state of the record's content, if the schema has a field for it.
    private func withContentState(_ document: JSONText, _ changes: [Row]) -> JSONText {
        let queued = changes.last { ($0["content"] as String?) ?? ContentTable.nothing != ContentTable.nothing }
        guard let field = table.entity.content?.state, let queued else { return document }
        let state = ContentState(OutboxState(rawValue: queued["state"]) ?? .queued)
        return document.setting(field, to: .string(state.rawValue))
    }

    private func store(local: JSONText?, document: JSONText?, deleted: Bool, _ key: String) throws {
        try db.cachedStatement(
            sql: "UPDATE \(table.name) SET _local = ?, _document = ?, _deleted = ? WHERE _key = ?"
        ).execute(arguments: [local?.text, document?.text, deleted, key])
    }

    /// Updates the count of the entity's rows.
    func tally(_ change: Int64) throws {
        guard change != 0 else { return }
        try db.cachedStatement(sql: "UPDATE sync_tally SET count = count + ? WHERE name = ?")
            .execute(arguments: [change, "rows:\(table.entity.name)"])
    }
}
