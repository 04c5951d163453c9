internal import EntitySchema
internal import GRDB

/// Adapts the full-text indexes to the schema, in the transaction that opens the cache.
///
/// An index of other fields, or of the same fields read differently, is dropped before the tables change under it and
/// created again afterwards. `CacheStore.completeSearch` fills it, since many records would delay the start.
struct SearchTableAdapter {
    let schema: EntitySchema
    let db: Database

    private var tables: [SearchTable] { schema.entities.compactMap { SearchTable($0) } }

    /// Whether each entity has the index that the schema asks for.
    func isUpToDate() throws -> Bool {
        let rows = try Row.fetchAll(db, sql: "SELECT entity, definition FROM sync_search")
        let present = rows.reduce(into: [:]) { present, row in present[row[0] as String] = row[1] as String }
        return present == Dictionary(uniqueKeysWithValues: tables.map { ($0.entity.name, $0.definition) })
    }

    /// Call this before the entities' tables are migrated: SQLite drops no column that an index still reads.
    func dropOutdated() throws {
        let wanted = Dictionary(uniqueKeysWithValues: tables.map { ($0.entity.name, $0.definition) })
        for row in try Row.fetchAll(db, sql: "SELECT entity, definition FROM sync_search") {
            let entity: String = row["entity"]
            guard wanted[entity] != row["definition"] else { continue }
            try db.execute(sql: SearchTable.drop(entity))
            try db.execute(sql: "DELETE FROM sync_search WHERE entity = ?", arguments: [entity])
        }
    }

    /// Call this after the entities' tables are migrated. An index that lacks few records is completed at once. Returns
    /// how many outdated entries wait.
    func build() throws -> Int {
        let present = Set(try String.fetchAll(db, sql: "SELECT entity FROM sync_search"))
        for table in tables {
            if !present.contains(table.entity.name) {
                try db.execute(sql: table.create)
                try db.execute(
                    sql: "INSERT INTO sync_search VALUES (?, ?, 0)", arguments: [table.entity.name, table.definition])
            }
            let index = SearchIndex(table: table, db: db)
            if try index.lag() <= SearchIndex.batch { _ = try index.append(atMost: SearchIndex.batch) }
        }
        let catchUp = SearchCatchUp(schema: schema)
        let waiting = try catchUp.waiting(db)
        guard waiting > SearchCatchUp.mostWaiting else { return waiting }
        try catchUp.run(db)
        return 0
    }
}
