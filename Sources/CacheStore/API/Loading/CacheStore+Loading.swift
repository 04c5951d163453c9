internal import EntitySchema
internal import GRDB
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

    /// See `LoadedCondition`.
    func isLoaded(_ entity: String, _ connection: ReadConnection) throws -> Bool {
        guard let sql = queries.loaded[entity] else { return true }
        var isLoaded = false
        try connection.query(sql) { _ in
            isLoaded = true
            return false
        }
        return isLoaded
    }
}
