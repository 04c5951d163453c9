internal import EntitySchema
internal import GRDB
internal import SQLiteStore

/// Adapts the full-text indexes to the schema, in the transaction that opens the cache.
///
/// An index of other fields, or of the same fields read differently, is dropped before the tables change under it and
/// created again afterwards. `CacheStore.completeSearch` fills it, since many records would delay the start.
struct SearchTableAdapter {
    let schema: EntitySchema
    let db: Database

    private var tables: [SearchTable] { schema.entities.compactMap { SearchTable($0) } }

    /// What there should be, by entity.
    private var wanted: [String: String] {
        Dictionary(uniqueKeysWithValues: tables.map { ($0.entity.name, $0.definition) })
    }

    /// Whether each entity has the index that the schema asks for.
    func isUpToDate() throws -> Bool { try definitions() == wanted }

    /// What there is, by entity. Throws `.damaged` for a row that no version has written.
    private func definitions() throws -> [String: String] {
        try Row.fetchAll(db, sql: "SELECT entity, definition FROM sync_search").reduce(into: [:]) { found, row in
            guard let entity: String = row.readable("entity"), let definition: String = row.readable("definition")
            else {
                throw CacheError.damaged("the database is damaged (sync_search)")
            }
            found[entity] = definition
        }
    }

    /// Call this before the entities' tables are migrated: SQLite drops no column that an index still reads.
    func dropOutdated() throws {
        let wanted = wanted
        for (entity, definition) in try definitions() where wanted[entity] != definition {
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
