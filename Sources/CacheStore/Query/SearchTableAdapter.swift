internal import EntitySchema
internal import GRDB

/// Makes the full-text indexes fit the schema, in the transaction that opens the cache.
///
/// An index that was made for other fields, or for the same fields read otherwise, is dropped before the tables change
/// under it and built anew after that. One that was left behind by a load that was cut off is completed.
struct SearchTableAdapter {
    let schema: EntitySchema
    let db: Database

    private var tables: [SearchTable] { schema.entities.compactMap { SearchTable($0) } }

    /// To be called before the entities' tables are adapted: SQLite drops no column that an index here still reads.
    func dropOutdated() throws {
        let wanted = Dictionary(uniqueKeysWithValues: tables.map { ($0.entity.name, $0.definition) })
        for row in try Row.fetchAll(db, sql: "SELECT entity, definition FROM sync_search") {
            let entity: String = row["entity"]
            guard wanted[entity] != row["definition"] else { continue }
            try db.execute(sql: SearchTable.drop(entity))
            try db.execute(sql: "DELETE FROM sync_search WHERE entity = ?", arguments: [entity])
        }
    }

    /// To be called after that.
    func build() throws {
        let present = Set(try String.fetchAll(db, sql: "SELECT entity FROM sync_search"))
        for table in tables {
            if !present.contains(table.entity.name) {
                try db.execute(sql: table.create)
                try db.execute(
                    sql: "INSERT INTO sync_search VALUES (?, ?, 0)", arguments: [table.entity.name, table.definition])
            }
            while try SearchIndex(table: table, db: db).append(atMost: 10_000) {}
        }
        try SearchCatchUp(schema: schema).run(db)
    }
}
