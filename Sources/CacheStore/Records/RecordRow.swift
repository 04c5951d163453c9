internal import EntitySchema
internal import GRDB
internal import JSONText

/// Reads one record's row; `RecordWriter` writes it.
struct RecordRow {
    struct Content {
        var remote: JSONText?
        var document: JSONText
        var deleted: Bool
    }

    /// The values of `_gone`; 0 means none.
    enum Deletion: Int {
        case reported = 1
        /// The server's answers merely lacked the record.
        case inferred
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
            remote: try row.json(0), document: try JSONText(parsing: document), deleted: row[2])
    }

    func exists(_ key: String) throws -> Bool { try Self.exists(key, in: table.name, db) }

    /// The same for a record in the table with this name as SQL.
    static func exists(_ key: String, in table: String, _ db: Database) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM \(table) WHERE _key = ?)"), arguments: [key]) ?? false
    }

    /// Whether the record is hidden from readers: deleted, or never there.
    func isDeleted(_ key: String) throws -> Bool { try Self.isDeleted(key, of: table.entity.name, db) ?? true }

    /// The same for a record of the entity with this name; nil if there is none.
    static func isDeleted(_ key: String, of entity: String, _ db: Database) throws -> Bool? {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT _deleted FROM \(EntityTable.name(of: entity)) WHERE _key = ?"),
            arguments: [key])
    }

    /// Whether `record` belongs to an owner whose deletion is queued, and goes with it.
    func isOwnerDeleted(of record: JSONText, _ key: String) throws -> Bool {
        for tie in table.entity.ties where tie.onDelete == .cascade {
            guard let owner = table.entity.value(of: tie.field, in: record)?.plain, !owner.isEmpty,
                tie.entity != table.entity.name || owner.exact != key.exact
            else { continue }
            if try Self.isDeleted(owner, of: tie.entity, db) == true { return true }
        }
        return false
    }

    /// Whether the cache lacks a record whose deletion also deletes `record`.
    func isOrphan(_ record: JSONText) throws -> Bool {
        for tie in table.entity.ties where tie.onDelete == .cascade {
            guard let owner = table.entity.value(of: tie.field, in: record)?.plain, !owner.isEmpty else { continue }
            if try !Self.exists(owner, in: EntityTable.name(of: tie.entity), db) { return true }
        }
        return false
    }

    /// What the server last said; nil if the server has no such record.
    func remote(of key: String) throws -> JSONText? {
        try String.fetchOne(
            db.cachedStatement(sql: "SELECT _remote FROM \(table.name) WHERE _key = ?"), arguments: [key]
        ).map { try JSONText(parsing: $0) }
    }

    /// When the cache received the server's latest version; nil if the server has no such record.
    func syncedAt(of key: String) throws -> Timestamp? {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT _synced_at FROM \(table.name) WHERE _key = ? AND _remote IS NOT NULL"),
            arguments: [key]
        ).map(Timestamp.init(milliseconds:))
    }

    /// The record's key as the server writes it, a number or a text; nil if the server has no such record.
    func keyThere(of key: String) throws -> JSONText? {
        let text = try String.fetchOne(
            db.cachedStatement(
                sql: "SELECT _remote -> '$.\"\(table.entity.key)\"' FROM \(table.name) WHERE _key = ?"),
            arguments: [key])
        return try text.map { try JSONText(parsing: $0) }.flatMap { $0.plain.exact == key.exact ? $0 : nil }
    }

    /// The server's deletion that came while a change of the record was being sent, if it is still to be merged.
    func deletion(of key: String) throws -> Deletion? {
        try Int.fetchOne(db.cachedStatement(sql: "SELECT _gone FROM \(table.name) WHERE _key = ?"), arguments: [key])
            .flatMap(Deletion.init)
    }
}
