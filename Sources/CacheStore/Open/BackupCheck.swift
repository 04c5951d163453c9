internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// Checks a copy of a backup before anything else runs on it, since the file can have SQL and names of its own.
///
/// SQLite runs a trigger with each write, and a view in place of a table with each read. A backup has the triggers of
/// its migrations, word for word, and views and full-text indexes of its entities.
struct BackupCheck {
    let db: Database
    let schema: EntitySchema
    /// Named in errors.
    let path: String

    /// An object of the file that SQLite runs or loads code for.
    private struct Object: Hashable {
        var type: String
        var name: String
        var sql: String
    }

    /// What a view or a virtual table may belong to: an entity, or its full-text index.
    private enum Owner {
        case entity
        case index(of: String)
    }

    /// Drops what opening the cache makes again: views and indexes of another schema, triggers of earlier versions on
    /// the tables of records. Throws `.incompatible` for anything else that no backup has.
    func run() throws {
        try requireOwnNames()
        let applied = try Migrations.migrator().appliedIdentifiers(db)
        try Migrations.requireKnown(applied, path: path)
        let made = try made(by: applied)
        try EntityTableAdapter.dropTriggers(db)
        for object in try Self.objects(db) where !made.contains(object) {
            guard let owner = try owner(of: object) else { throw refusal(of: object) }
            try drop(object, owner)
        }
        try requireContents()
    }

    /// Throws `.incompatible` if a view or a virtual table is in the place of a table: reading that would run it.
    func requireOwnNames() throws {
        for object in try Self.objects(db) where object.type != "trigger" {
            guard try owner(of: object) != nil else { throw refusal(of: object) }
        }
    }

    // MARK: The file's own SQL

    private static func objects(_ db: Database) throws -> [Object] {
        // A column of this table can hold anything, also what is no text.
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT type, CAST(coalesce(name, '') AS TEXT), CAST(coalesce(sql, '') AS TEXT) FROM sqlite_schema
                WHERE type = 'trigger' OR type = 'view' OR type = 'table' AND rootpage = 0
                """)
        return rows.map { Object(type: $0[0], name: $0[1], sql: $0[2]) }
    }

    /// The objects that the daemon makes: those of the migrations so far, and those of this schema.
    private func made(by applied: Set<String>) throws -> Set<Object> {
        let empty = try DatabaseQueue()
        if let last = Migrations.names.last(where: { applied.contains($0) }) {
            try Migrations.migrator().migrate(empty, upTo: last)
        }
        return try empty.write { db in
            for entity in schema.entities {
                let table = EntityTable(entity: entity)
                try db.execute(sql: table.createTable)
                try db.execute(sql: table.createView)
                if let index = SearchTable(entity) { try db.execute(sql: index.create) }
            }
            return Set(try Self.objects(db))
        }
    }

    /// Nil for a trigger, and for a name that is not made of that of an entity with a table in the file.
    private func owner(of object: Object) throws -> Owner? {
        guard object.type != "trigger" else { return nil }
        for entity in try entities() {
            if object.type == "view", object.name == entity { return .entity }
            if SearchTable.names(entity).contains(object.name) { return .index(of: entity) }
        }
        return nil
    }

    /// The entities with a table in the file, which this schema need not have.
    private func entities() throws -> [String] {
        let prefix = "records_"
        let tables = try String.fetchAll(
            db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage <> 0 AND name GLOB 'records_*'")
        return tables.map { String($0.dropFirst(prefix.count)) }.filter { name in
            name != "grdb_migrations" && name.utf8.allSatisfy { Self.nameBytes.contains($0) }
                && !EntitySchema.reservedEntityPrefixes.contains { name.hasPrefix($0) }
        }
    }

    private static let nameBytes = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_".utf8)

    private func drop(_ object: Object, _ owner: Owner) throws {
        switch owner {
        case .entity:
            try db.execute(sql: "DROP VIEW \(object.name.quoted(by: "\""))")
            // The views are made again once the tables are adapted to the schema.
            try SettingTable(db: db).remove("tables")
        case .index(let entity):
            try db.execute(sql: SearchTable.drop(entity))
            try db.execute(sql: "DELETE FROM sync_search WHERE entity = ?", arguments: [entity])
        }
    }

    private func refusal(of object: Object) -> CacheError {
        let type = object.type == "table" ? "virtual table" : object.type
        return refusal("the \(type) \(object.name.start(scalars: 100)), which no backup has")
    }

    private func refusal(_ what: String) -> CacheError {
        .incompatible("\(path) has \(what), so it was changed by another program; restore another backup")
    }

    // MARK: Contents

    /// Files are opened by the names of contents, and headers have their types.
    private func requireContents() throws {
        guard try db.tableExists("sync_content") else { return }
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT CAST(sha256 AS TEXT), CAST(type AS TEXT) FROM sync_content
                UNION ALL SELECT CAST(content AS TEXT), '' FROM sync_outbox WHERE content <> ''
                """)
        while let row = try rows.next() {
            let (name, type): (String?, String?) = (row[0], row[1])
            guard let name, let type, Content.isName(name), Content.isType(type) else {
                throw refusal("the content \((name ?? "").start(scalars: 100)), whose name or type no content can have")
            }
        }
    }
}
