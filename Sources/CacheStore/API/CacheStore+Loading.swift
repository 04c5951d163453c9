internal import EntitySchema
internal import GRDB
internal import GRDBSQLite
internal import SQLiteStore

/// First loads: while one is under way, its entity's indexes may be missing.
extension CacheStore {
    /// Builds the indexes that a load has left out, one transaction each, so that callers' writes go in between. Writes
    /// nothing when none is missing. After a cancellation the rest stays for the next call or opening.
    package func completeIndexes() async throws {
        for entity in schema.entities {
            let table = EntityTable(entity: entity)
            guard try read({ db in try SecondaryIndexes(table: table, db: db).areMissing() }) else { continue }
            while !Task.isCancelled {
                let goesOn = try await writer.write { db in
                    try SecondaryIndexes(table: table, db: db).buildNext()
                }
                if !goesOn { break }
            }
        }
    }

    /// The entity has all records that the upstream had when its first load began, and its lists use indexes.
    func isLoaded(_ entity: String, _ connection: ReadConnection) throws -> Bool {
        var isLoaded = false
        let names = [SecondaryIndexes.setting(entity), entity]
        try connection.query(queries.isLoaded, names.map(\.databaseValue)) { statement in
            isLoaded = sqlite3_column_int(statement, 0) != 0
            return false
        }
        return isLoaded
    }
}
