internal import EntitySchema
internal import GRDB
internal import JSONText

/// What becomes of a change to a record that is kept on this machine alone: it is the record from here on, and nothing is
/// queued.
///
/// Such a record stands where others have the server's version, so that reading, searching and sealing are the same.
extension ChangeWriter {
    /// `fields` are those that change.
    func save(_ record: JSONText, of key: String, fields: JSONText, _ operation: Operation) throws {
        try db.cachedStatement(sql: "UPDATE \(table.name) SET _remote = ? WHERE _key = ?")
            .execute(arguments: [record.text, key])
        try log.append(
            saved: key, of: entity.name, fields: fields.members.map(\.key),
            detail: detail(of: fields, .edited, operation))
    }

    /// Takes what the schema cascades to along.
    func remove(_ key: String) throws {
        _ = try PageApplier(table: table, context: context).delete(keys: [key])
    }
}
