internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// Checks a copy of a backup before anything else runs on it, since the file can have SQL, names and values of its own.
///
/// SQLite runs a trigger with each write, a view in place of a table with each read, and the expressions of tables and
/// indexes with either. A backup has the tables, indexes and triggers of its migrations, word for word, and tables, views
/// and indexes of its entities, which follow its schema.
struct BackupCheck {
    let db: Database
    let schema: EntitySchema
    /// Named in errors.
    let path: String

    /// What an object that the migrations and this schema do not make may be.
    private enum Kind {
        /// The table of an entity's records, which may have the columns of another schema.
        case records
        case view
        case index
        /// Part of an entity's full-text index.
        case search(of: String)
        /// Left by Litestream or by `ANALYZE`.
        case extra
    }

    private static let extras: Set<String> = ["_litestream_lock", "_litestream_seq", "sqlite_stat1", "sqlite_stat4"]

    /// Drops what opening the cache makes again, such as views and indexes of another schema, and triggers of earlier
    /// versions on the tables of records. Throws `.incompatible` for anything else that no backup has.
    func run() throws {
        try requireOwnNames()
        let applied = try Migrations.applied(db)
        try Migrations.requireKnown(applied, path: path)
        let made = try made(by: applied)
        try EntityTableAdapter.dropTriggers(db)
        let objects = try StoredObject.all(db)
        let entities = Self.entities(in: objects)
        var others: [(object: StoredObject, kind: Kind)] = []
        for object in objects where !made.contains(object) && !object.isAutomatic {
            guard let kind = Self.kind(of: object, entities) else { throw refusal(of: object) }
            others.append((object, kind))
        }
        for (object, kind) in others { try drop(object, kind) }
        // What is inside them cannot be checked. Opening the cache makes them again.
        for entity in entities { try dropSearch(of: entity) }
        for entity in entities { try dropComputedColumns(of: entity) }
        try requireContents()
        try requireValues()
        try requireSettings()
        try requireSealedPlaces()
    }

    /// Throws `.incompatible` if a view or a virtual table is in the place of a table, or if a table without records
    /// has a computed column: reading those would run them.
    func requireOwnNames() throws {
        let objects = try fewObjects()
        let entities = Self.entities(in: objects)
        let mostEntities = schema.entities.count + Self.mostOtherEntities
        guard entities.count <= mostEntities else { throw refusal("the records of more than \(mostEntities) entities") }
        for object in objects {
            // Reading runs no trigger.
            guard !object.isTable, !object.isIndex, !object.isAutomatic, !object.isTrigger else { continue }
            guard Self.kind(of: object, entities) != nil else { throw refusal(of: object) }
        }
        for object in objects where object.isTable && !entities.contains(where: object.holdsRecords) {
            guard try computedColumns(of: object.name).isEmpty else {
                throw refusal("a computed column in the table \(object.name.start(scalars: 100))")
            }
        }
    }

    /// Checking takes time for each object and entity together, and dropping one goes through all.
    private func fewObjects() throws -> [StoredObject] {
        let most = 100 * (schema.entities.count + 100)
        let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM (SELECT 1 FROM sqlite_schema LIMIT \(most + 1))")
        guard let count, count <= most else { throw refusal("more than \(most) tables and indexes") }
        return try StoredObject.all(db)
    }

    /// Of earlier schemas, whose tables stay.
    private static let mostOtherEntities = 300

    /// Throws `.incompatible` if a write would run a trigger that the daemon has not made. Those of earlier versions are
    /// dropped before the first write.
    func requireOwnTriggers() throws {
        let made = try made(by: Migrations.applied(db))
        let isAdapted = try db.tableExists("sync_setting") && EntityTableAdapter.isAdapted(to: schema, db)
        for object in try StoredObject.all(db) where !made.contains(object) {
            // What has the type of something else may be a trigger all the same.
            if object.isTable || object.isVirtualTable || object.isView || object.isIndex || object.isAutomatic {
                continue
            }
            guard object.isTrigger, !isAdapted, object.table.hasPrefix(EntityTable.prefix) else {
                throw refusal(of: object)
            }
        }
    }

    // MARK: The file's own SQL

    /// The objects that the daemon makes: those of the migrations so far, and those of this schema.
    private func made(by applied: Set<String>) throws -> Set<StoredObject> {
        let empty = try DatabaseQueue()
        if let last = Migrations.names.last(where: { applied.contains($0) }) {
            try Migrations.migrator().migrate(empty, upTo: last)
        }
        return try empty.write { db in
            for entity in schema.entities {
                let table = EntityTable(entity: entity)
                try db.execute(sql: table.createTable)
                for index in table.indexes.values { try db.execute(sql: index) }
                try db.execute(sql: table.createView)
                if let index = SearchTable(entity) { try db.execute(sql: index.create) }
            }
            return Set(try StoredObject.all(db))
        }
    }

    /// Nil for what no backup has.
    private static func kind(of object: StoredObject, _ entities: [String]) -> Kind? {
        if object.isTable, extras.contains(object.name) { return .extra }
        for entity in entities {
            if object.holdsRecords(of: entity) { return .records }
            if object.isView, object.name == entity { return .view }
            if object.isIndex, object.table == EntityTable.prefix + entity { return .index }
            let isSearched = object.isView || object.isVirtualTable
            if isSearched, SearchTable.names(entity).contains(object.name) { return .search(of: entity) }
            if object.isTable, SearchTable.storage(entity).contains(object.name) { return .search(of: entity) }
        }
        return nil
    }

    /// The entities with a table in the file, which this schema need not have.
    private static func entities(in objects: [StoredObject]) -> [String] {
        let prefix = EntityTable.prefix
        let tables = objects.filter { $0.isTable && $0.name.hasPrefix(prefix) }
        return tables.map { String($0.name.dropFirst(prefix.count)) }.filter { name in
            !name.isEmpty && name.utf8.allSatisfy { StoredObject.nameBytes.contains($0) }
                && !EntitySchema.reservedEntityPrefixes.contains { name.hasPrefix($0) }
        }
    }

    private func drop(_ object: StoredObject, _ kind: Kind) throws {
        let name = object.name.quoted(by: "\"")
        switch kind {
        case .records: return
        case .view: try db.execute(sql: "DROP VIEW \(name)")
        case .index: try SecondaryIndexes.drop(object.name, db)
        case .extra: try db.execute(sql: "DROP TABLE \(name)")
        case .search(let entity): try dropSearch(of: entity)
        }
        // Views and indexes are made again once the tables are adapted to the schema.
        try SettingTable(db: db).remove("tables")
    }

    private func dropSearch(of entity: String) throws {
        do {
            try db.execute(sql: SearchTable.drop(entity))
        } catch let error as DatabaseError where [.SQLITE_ERROR, .SQLITE_CORRUPT].contains(error.resultCode) {
            throw refusal("a full-text index that is not one")
        }
        try SettingTable(db: db).remove("tables")
        guard try db.tableExists("sync_search") else { return }
        try db.execute(sql: "DELETE FROM sync_search WHERE entity = ?", arguments: [entity])
    }

    /// An expression can take any amount of memory. Only earlier versions had computed columns, in tables of records;
    /// opening the cache fills ordinary columns in their place.
    private func dropComputedColumns(of entity: String) throws {
        let table = EntityTable.prefix + entity
        let columns = try computedColumns(of: table)
        guard !columns.isEmpty else { return }
        do {
            // SQLite drops no column that an index or a view uses.
            for object in try StoredObject.all(db) where object.isIndex && object.table == table {
                try SecondaryIndexes.drop(object.name, db)
            }
            try db.execute(sql: "DROP VIEW IF EXISTS \(entity.quoted(by: "\""))")
            for column in columns {
                try db.execute(sql: "ALTER TABLE \(table) DROP COLUMN \(column.quoted(by: "\""))")
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            throw refusal("computed columns that no version has made in the table \(table)")
        }
        try SettingTable(db: db).remove("tables")
    }

    private func computedColumns(of table: String) throws -> [String] {
        try String.fetchAll(db, sql: "SELECT name FROM pragma_table_xinfo(?) WHERE hidden > 1", arguments: [table])
    }

    private func refusal(of object: StoredObject) -> CacheError {
        let type = object.type == "table" && !object.isStored ? "virtual table" : object.type.start(scalars: 100)
        return refusal("the \(type) \(object.name.start(scalars: 100)), which no backup has")
    }

    func refusal(_ what: String) -> CacheError {
        .incompatible("\(path) has \(what), so it was changed by another program; restore another backup")
    }
}
