internal import EntitySchema
internal import GRDB
package import JSONText
internal import SQLiteStore

/// Secrets in the clear, for those who ask for them by name.
extension CacheStore {
    /// The values of a record's secret fields, null for one that it does not have; one that cannot be opened is left out.
    /// Nil when the record is not cached. A key that was given up is followed.
    package func reveal(
        _ fields: [String], of entity: String, key: String
    ) throws -> [(key: String, value: JSONText)]? {
        let table = try table(entity)
        for name in fields where table.entity[field: name]?.secret != true {
            throw CacheError.badQuery(field: "reveal", message: "\(entity) have no secret field \(name)")
        }
        let record = try snapshot { db in
            try RecordRow(table: table, db: db).load(KeyAlias.current(of: key, entity, db))
        }
        guard let record, !record.deleted else { return nil }
        let opened = sealers[entity].open(record.document)
        return fields.compactMap { name in
            if let value = table.entity.value(of: name, in: opened.record) { return (name, value) }
            return opened.unreadable.contains(name) ? nil : (name, .null)
        }
    }
}
