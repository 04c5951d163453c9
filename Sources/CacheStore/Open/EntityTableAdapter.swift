internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// Migrates an entity's table to its schema: creates what is missing, drops what is gone, changes what differs.
///
/// Runs in the transaction that opens the cache, and is idempotent. A new column of a table with records is still empty
/// afterwards: `TableBackfill` fills it, and then builds the indexes.
struct EntityTableAdapter {
    let table: EntityTable
    let db: Database

    private var settings: SettingTable { SettingTable(db: db) }

    /// Migrates the tables of all entities, if their definitions have changed since the last time: checking each table
    /// would take most of the time that opening a cache takes.
    static func adapt(to schema: EntitySchema, _ db: Database) throws {
        let tables = schema.entities.map { EntityTable(entity: $0) }
        guard try !isAdapted(to: schema, db) else { return }
        try dropTriggers(db)
        for table in tables { try EntityTableAdapter(table: table, db: db).adapt() }
        try SettingTable(db: db).set("tables", to: definition(of: schema))
    }

    static func isAdapted(to schema: EntitySchema, _ db: Database) throws -> Bool {
        try SettingTable(db: db)["tables"] == definition(of: schema)
    }

    private static func definition(of schema: EntitySchema) -> String {
        schema.entities.map { EntityTable(entity: $0).definition }.joined(separator: "\n")
    }

    /// Earlier versions had triggers on their tables of records.
    static func dropTriggers(_ db: Database) throws {
        let names = try String.fetchAll(
            db,
            sql: """
                SELECT CAST(coalesce(name, '') AS TEXT) FROM sqlite_schema
                WHERE type = 'trigger' AND tbl_name GLOB 'records_*'
                """)
        for name in names { try db.execute(sql: "DROP TRIGGER \(name.quoted(by: "\""))") }
    }

    private func adapt() throws {
        if try db.tableExists(table.bareName) {
            try requireSameKey()
            try adaptColumns()
        } else {
            try db.execute(sql: table.createTable)
            try db.execute(
                sql: "INSERT INTO sync_tally VALUES (?, 0)", arguments: ["rows:\(table.entity.name)"])
        }
        try rememberKey()
        try settings.set(columnSetting, to: table.columnSources)
        try adaptContents()
        try adaptIndexes()
        try db.execute(sql: "DROP VIEW IF EXISTS \(table.view)")
        try db.execute(sql: table.createView)
    }

    // MARK: Key

    private var keySetting: String { "key:\(table.entity.name)" }

    private func requireSameKey() throws {
        guard let known = try settings[keySetting], known != table.entity.key else { return }
        throw CacheError.incompatible(
            """
            the schema now names \(table.entity.key) as the key of \(table.entity.name), but this cache is keyed by \
            \(known); name \(known) again until no change is queued, then start with an empty state_dir
            """)
    }

    private func rememberKey() throws { try settings.set(keySetting, to: table.entity.key) }

    // MARK: Columns and indexes

    private func adaptColumns() throws {
        let own = Dictionary(uniqueKeysWithValues: EntityTable.ownColumns.map { ($0.key, $0.value) })
        let fields = Dictionary(uniqueKeysWithValues: table.columns.map { ($0.name, $0.type) })
        let rows = try Row.fetchAll(
            db, sql: "SELECT name, type, hidden FROM pragma_table_xinfo(?)", arguments: [table.bareName])
        var present: Set<String> = []
        var outdated: [String] = []
        for row in rows {
            let name: String = row["name"]
            let isGenerated = row["hidden"] as Int != 0
            if own[name] != nil || !isGenerated && fields[name] == row["type"] as String {
                present.insert(name)
            } else {
                outdated.append(name)
            }
        }
        if !outdated.isEmpty {
            // SQLite refuses to drop a column that an index or a view still uses.
            try db.execute(sql: "DROP VIEW IF EXISTS \(table.view)")
            for index in try secondaryIndexes.present().keys { try SecondaryIndexes.drop(index, db) }
        }
        for name in outdated {
            try db.execute(sql: "ALTER TABLE \(table.name) DROP COLUMN \(name.quoted(by: "\""))")
        }
        for (name, definition) in EntityTable.ownColumns where !present.contains(name) {
            try db.execute(sql: "ALTER TABLE \(table.name) ADD COLUMN \(name) \(definition)")
        }
        let missing = table.columns.filter { !present.contains($0.name) }
        for column in missing {
            try db.execute(sql: "ALTER TABLE \(table.name) ADD COLUMN \(column.definition)")
        }
        let areSame = try settings[columnSetting] == table.columnSources
        if !missing.isEmpty || !areSame || !present.contains("_displaced") { try TableBackfill.request(table, db) }
    }

    private var columnSetting: String { "columns:\(table.entity.name)" }

    private var secondaryIndexes: SecondaryIndexes { SecondaryIndexes(table: table, db: db) }

    /// Leaves building to `TableBackfill` when there are records.
    private func adaptIndexes() throws {
        let present = try secondaryIndexes.present()
        for (name, sql) in present where table.indexes[name] != sql { try SecondaryIndexes.drop(name, db) }
        let missing = table.indexes.filter { present[$0.key] != $0.value }
        guard !missing.isEmpty else { return }
        if try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM \(table.name))") == true {
            try secondaryIndexes.request()
        } else {
            for sql in missing.values.sorted() { try db.execute(sql: sql) }
        }
    }

    /// An entity without content refers to none.
    private func adaptContents() throws {
        guard table.entity.content == nil else { return }
        let contents = ContentTable(db: db)
        for sha256 in try String.fetchSet(
            db, sql: "SELECT _content FROM \(table.name) WHERE _content IS NOT NULL")
        {
            try contents.drop(sha256, in: table)
        }
    }
}
