package import EntitySchema
internal import GRDB
internal import SQLiteStore

/// Proves that everything that a database keeps twice agrees.
extension CacheStore {
    /// The first inconsistencies of the last commit (`ConsistencyCheck`); empty when there are none.
    package func inconsistencies(atMost limit: Int = 10) throws -> [Inconsistency] {
        try snapshot { db in
            try ConsistencyCheck(db: db, plans: plans, reminderDays: reminderDays).run(atMost: limit)
        }
    }

    /// The same for the database at `path`, which another process may be using; only reads the file.
    ///
    /// Throws `.incompatible` for a file of a newer version, `.failed` for one that the next start has to adapt to
    /// `schema` first, `.damaged` for a damaged one.
    package static func inconsistencies(
        ofDatabaseAt path: String, _ schema: EntitySchema, _ reminderDays: ReminderDays, atMost limit: Int
    ) throws -> [Inconsistency] {
        do {
            return try DatabaseFile.openReadOnly(path).read { db in
                let applied = try Migrations.applied(db)
                try Migrations.requireKnown(applied, path: path)
                guard applied.isSuperset(of: Migrations.names) else { throw ConsistencyCheck.notAdapted }
                // Recomputing derived fields would read all children of an entity for each parent.
                for entity in schema.entities {
                    guard try !SecondaryIndexes(table: EntityTable(entity: entity), db: db).areMissing() else {
                        throw ConsistencyCheck.notAdapted
                    }
                }
                CacheOpening.addFunctions(to: db, reminderDays)
                var numbers = StatementNumbers()
                let plans = RecordPlans(schema, &numbers)
                return try ConsistencyCheck(db: db, plans: plans, reminderDays: reminderDays).run(atMost: limit)
            }
        } catch {
            throw CacheError.classified(error)
        }
    }
}
