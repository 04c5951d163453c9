package import EntitySchema
internal import GRDB
internal import SQLiteStore

/// First loads: while one is under way, its entity's indexes may be missing, and figures computed from its records wait.
extension CacheStore {
    /// Does what loads have left for their end, in this order: indexes, figures, the search index. Writes nothing when
    /// nothing is left.
    package func completeLoading(at now: Timestamp) async throws {
        try await completeIndexes()
        try await completeFigures(at: now)
        try await completeSearch()
    }

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

    /// Computes the figures that have waited for indexes, some 500 records a transaction. Those whose indexes are still
    /// missing wait on. After a cancellation the rest stays for the next call, also in another process.
    package func completeFigures(at now: Timestamp) async throws {
        for entity in schema.entities {
            let table = EntityTable(entity: entity)
            guard try read({ db in try PostponedFigures(table, in: schema, db).areOutdated() }) else { continue }
            while !Task.isCancelled {
                let goesOn = try await change(at: now) { [schema] context in
                    context.records.isLoading = true
                    return try PostponedFigures(table, in: schema, context.db)
                        .computeNext(in: context.records, refresh: context.refresh)
                }
                if !goesOn { break }
            }
        }
    }

    /// See `LoadedCondition`.
    func isLoaded(_ entity: String, _ connection: ReadConnection) throws -> Bool {
        guard let sql = queries.loaded[entity] else { return true }
        return try loadedEntities.has(entity, at: signal.commits) {
            var isLoaded = false
            try connection.query(sql) { _ in
                isLoaded = true
                return false
            }
            return isLoaded
        }
    }
}
