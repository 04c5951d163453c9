package import EntitySchema
internal import GRDB
internal import SQLiteStore

/// Ids such as `order_number:1486`: a value by which people know the record, instead of its key.
extension CacheStore {
    /// The key of the record that an id of a request means.
    ///
    /// That is the id itself, unless it has the form `field:value` with a natural field and no record has it as its key.
    /// Throws `.notCached` if no cached record has the value, `.ambiguous` if several have it.
    package func key(of entity: Entity, _ id: String) throws -> String {
        guard let natural = entity.naturalKey(in: id) else { return id }
        return try read { db in try NaturalKeyQuery(entity: entity, db: db).key(of: id, natural.field, natural.value) }
    }
}

extension LocalTransaction {
    /// The same, as the records are within this transaction.
    package func key(of entity: Entity, _ id: String) throws -> String {
        guard let natural = entity.naturalKey(in: id) else { return id }
        return try NaturalKeyQuery(entity: entity, db: db).key(of: id, natural.field, natural.value)
    }
}

private struct NaturalKeyQuery {
    /// More records with the same value are not listed.
    private static let mostListed = 10

    let entity: Entity
    let db: Database

    func key(of id: String, _ field: Field, _ value: String) throws -> String {
        let current = try KeyAlias.current(of: id, entity.name, db)
        let table = EntityTable(entity: entity)
        guard try RecordRow(table: table, db: db).isDeleted(current) else { return id }
        let keys = try keys(table, field, value)
        guard let key = keys.first else { throw CacheError.notCached(entity: entity.name, key: id) }
        guard keys.count == 1 else {
            throw CacheError.ambiguous(
                "several records of \(entity.name) have \(field.name) \(value): \(keys.joined(separator: ", ")); use an id"
            )
        }
        return key
    }

    private func keys(_ table: EntityTable, _ field: Field, _ value: String) throws -> [String] {
        var sought = value.databaseValue
        if field.kind == .integer {
            // No number has another spelling as its value: +7, 007.
            guard let number = Int64(value), String(number) == value else { return [] }
            sought = number.databaseValue
        }
        let sql = """
            SELECT _key FROM \(table.name) WHERE \(table.sql(for: field.name)) = ? AND _deleted = 0
            ORDER BY _key LIMIT \(Self.mostListed)
            """
        return try String.fetchAll(db.cachedStatement(sql: sql), arguments: [sought])
    }
}
