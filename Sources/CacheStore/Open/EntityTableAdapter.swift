internal import EntitySchema
internal import GRDB
internal import SQLiteStore

/// Migrates an entity's table to its schema: creates what is missing, drops what is gone, changes what differs.
///
/// Records and queue are not touched, because fields are only virtual columns over the stored text. Runs in the
/// transaction that opens the cache, and is idempotent.
struct EntityTableAdapter {
    let table: EntityTable
    let db: Database

    /// Migrates the tables of all entities, if their definitions have changed since the last time: checking each table
    /// would take most of the time that opening a cache takes.
    static func adapt(to schema: EntitySchema, _ db: Database) throws {
        let tables = schema.entities.map { EntityTable(entity: $0) }
        let triggers = schema.entities.flatMap { StaleTriggers($0, in: schema).all.sorted { $0.key < $1.key } }
        let wanted = (tables.map(\.definition) + triggers.map(\.value)).joined(separator: "\n")
        let present = try String.fetchOne(db, sql: "SELECT value FROM sync_setting WHERE name = 'tables'")
        guard present != wanted else { return }
        // SQLite refuses to drop a column that a trigger still uses.
        try StaleTriggers.dropAll(db)
        for table in tables { try EntityTableAdapter(table: table, db: db).adapt() }
        for trigger in triggers { try db.execute(sql: trigger.value) }
        try db.execute(
            sql: "INSERT INTO sync_setting VALUES ('tables', ?) ON CONFLICT DO UPDATE SET value = excluded.value",
            arguments: [wanted])
    }

    private func adapt() throws {
        if try db.tableExists("records_\(table.entity.name)") {
            try requireSameKey()
        } else {
            try db.execute(sql: table.createTable)
            try db.execute(
                sql: "INSERT INTO sync_tally VALUES (?, 0)", arguments: ["rows:\(table.entity.name)"])
        }
        try rememberKey()
        for (name, definition) in EntityTable.laterColumns where try !hasColumn(name) {
            try db.execute(sql: "ALTER TABLE \(table.name) ADD COLUMN \(definition)")
        }
        try adaptColumns()
        try adaptIndexes()
        try adaptTriggers()
        try adaptView()
    }

    // MARK: Key

    private var keySetting: String { "key:\(table.entity.name)" }

    private func requireSameKey() throws {
        let known = try String.fetchOne(
            db, sql: "SELECT value FROM sync_setting WHERE name = ?", arguments: [keySetting])
        guard let known, known != table.entity.key else { return }
        throw CacheError.incompatible(
            """
            the schema now names \(table.entity.key) as the key of \(table.entity.name), but this cache is keyed by \
            \(known); name \(known) again, or start with an empty state_dir
            """)
    }

    private func rememberKey() throws {
        try db.execute(
            sql: "INSERT INTO sync_setting VALUES (?, ?) ON CONFLICT DO NOTHING",
            arguments: [keySetting, table.entity.key])
    }

    // MARK: Columns, indexes, view

    private func hasColumn(_ name: String) throws -> Bool {
        try db.columns(in: "records_\(table.entity.name)").contains { $0.name == name }
    }

    private func adaptColumns() throws {
        let wanted = table.columns
        let present = try presentColumns()
        let outdated = present.filter { column in !wanted.contains(column) }
        if !outdated.isEmpty {
            // SQLite refuses to drop a column that an index or a view still uses.
            try db.execute(sql: "DROP VIEW IF EXISTS \(table.view)")
            for index in try presentIndexes().keys { try db.execute(sql: "DROP INDEX \"\(index)\"") }
        }
        for column in outdated { try db.execute(sql: "ALTER TABLE \(table.name) DROP COLUMN \"\(column.name)\"") }
        let kept = Set(present.map(\.name)).subtracting(outdated.map(\.name))
        for column in wanted where !kept.contains(column.name) {
            try db.execute(sql: "ALTER TABLE \(table.name) ADD COLUMN \(column.definition)")
        }
    }

    /// The virtual columns of the table; one with another definition comes with an empty expression.
    private func presentColumns() throws -> [EntityTable.Column] {
        let sql = try String.fetchOne(
            db, sql: "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?",
            arguments: ["records_\(table.entity.name)"])
        let rows = try Row.fetchAll(
            db, sql: "SELECT name, type FROM pragma_table_xinfo(?) WHERE hidden = 2",
            arguments: ["records_\(table.entity.name)"])
        return rows.map { row in
            let name: String = row["name"]
            let type: String = row["type"]
            let known = table.columns.first { $0.name == name && $0.type == type }
            // If the table's SQL does not contain the definition byte for byte, the column is an older one.
            let same = known.map { (sql ?? "").contains($0.definition) } ?? false
            return EntityTable.Column(name: name, type: type, expression: same ? known?.expression ?? "" : "")
        }
    }

    private func presentIndexes() throws -> [String: String] {
        let rows = try Row.fetchAll(
            db, sql: "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL",
            arguments: ["records_\(table.entity.name)"])
        return Dictionary(uniqueKeysWithValues: rows.map { ($0["name"], $0["sql"]) })
    }

    private func adaptIndexes() throws {
        let present = try presentIndexes()
        for (name, sql) in present where table.indexes[name] != sql { try db.execute(sql: "DROP INDEX \"\(name)\"") }
        for (name, sql) in table.indexes.sorted(by: { $0.key < $1.key }) where present[name] != sql {
            try db.execute(sql: sql)
        }
    }

    private func adaptTriggers() throws {
        let rows = try Row.fetchAll(
            db, sql: "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? AND name GLOB ?",
            arguments: ["records_\(table.entity.name)", "*_content_*"])
        let present = Dictionary(uniqueKeysWithValues: rows.map { ($0["name"] as String, $0["sql"] as String) })
        if table.triggers.isEmpty, !present.isEmpty {
            // While the triggers still count it.
            try db.execute(sql: "UPDATE \(table.name) SET _content = NULL WHERE _content IS NOT NULL")
        }
        for (name, sql) in present where table.triggers[name] != sql { try db.execute(sql: "DROP TRIGGER \"\(name)\"") }
        for (name, sql) in table.triggers where present[name] != sql { try db.execute(sql: sql) }
    }

    private func adaptView() throws {
        let present = try String.fetchOne(
            db, sql: "SELECT sql FROM sqlite_master WHERE type = 'view' AND name = ?", arguments: [table.entity.name])
        guard present != table.createView else { return }
        try db.execute(sql: "DROP VIEW IF EXISTS \(table.view)")
        try db.execute(sql: table.createView)
    }
}
