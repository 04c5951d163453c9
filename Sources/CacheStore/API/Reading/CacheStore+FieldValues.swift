internal import EntitySchema
internal import GRDB
package import JSONText
internal import SQLiteStore

/// Secrets in plain text, for callers that request them by name.
extension CacheStore {
    /// The values of a record's secret fields: null where it has no value. A field that cannot be opened is left out.
    /// Nil if the record is not cached. A former key also finds the record.
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

/// The upstream's side of a record with queued changes.
extension CacheStore {
    /// The upstream's last values of the fields that queued changes set, without secret fields; null where there is no
    /// value. Nil if the upstream has no such record, or it is not cached. A former key also finds the record.
    package func serverValues(of entity: String, key: String) throws -> JSONText? {
        let table = try table(entity)
        let sql = "SELECT _remote, _local FROM \(table.name) WHERE _key = ? AND _deleted = 0"
        let row = try snapshot { db in
            try Row.fetchOne(db.cachedStatement(sql: sql), arguments: [KeyAlias.current(of: key, entity, db)])
        }
        guard let row, let text: String = row[0] else { return nil }
        let remote = sealers[entity].open(try JSONText(parsing: text)).record
        let local = try row.json(1)
        let touched = Set(table.entity.touchedFields.map(\.name))
        let names = (local?.members ?? []).map(\.key).filter { name in
            table.entity[field: name]?.secret != true && !touched.contains(name)
        }
        return .object(members: names.map { (key: $0, value: table.entity.value(of: $0, in: remote) ?? .null) })
    }
}
