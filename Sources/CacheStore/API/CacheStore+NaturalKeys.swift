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

struct NaturalKeyQuery {
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

    /// Whether a record that has the value on the server was deleted here (true), or got another value here (false); nil if none
    /// of the first records with queued changes is one.
    func isDeletedHere(_ field: Field, _ value: String) throws -> Bool? {
        guard let sought = Self.sought(field, value) else { return nil }
        let table = EntityTable(entity: entity)
        let sql = """
            SELECT _deleted FROM \(table.name)
            WHERE _key IN (SELECT record_key FROM sync_outbox WHERE entity = ? LIMIT \(Self.mostChanged))
              AND \(table.expression(for: field, in: "_remote")) = ? LIMIT 1
            """
        return try Bool.fetchOne(db.cachedStatement(sql: sql), arguments: [entity.name, sought])
    }

    /// Of records with queued changes, how many are looked at: an import asks for a value in each of its rows.
    private static let mostChanged = 1000

    /// Nil for a text that no record can have as its value. No number has another spelling: +7, 007.
    private static func sought(_ field: Field, _ value: String) -> DatabaseValue? {
        guard field.kind == .integer else { return value.databaseValue }
        guard let number = Int64(value), String(number) == value else { return nil }
        return number.databaseValue
    }

    private func keys(_ table: EntityTable, _ field: Field, _ value: String) throws -> [String] {
        guard let sought = Self.sought(field, value) else { return [] }
        let sql = """
            SELECT _key FROM \(table.name) WHERE \(table.sql(for: field.name)) = ? AND _deleted = 0
            ORDER BY _key LIMIT \(Self.mostListed)
            """
        return try String.fetchAll(db.cachedStatement(sql: sql), arguments: [sought])
    }
}
