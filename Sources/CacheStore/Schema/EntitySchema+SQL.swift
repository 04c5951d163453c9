internal import EntitySchema

/// Parts of statements about the queue. `table`: its name with a dot, where it is not the only one.
extension EntitySchema {
    /// The names of all entities, as a list in SQL.
    var namesSQL: String { entities.map { "'\($0.name)'" }.joined(separator: ", ") }

    /// Whether a row of the queue, as SQL, waits for the content that it must carry; nil when no entity has such
    /// creations.
    func lacksContentSQL(of table: String = "") -> String? {
        let names = entities.filter(\.isCreatedWithContent).map { "'\($0.name)'" }
        guard !names.isEmpty else { return nil }
        return "\(table)operation = 'create' AND \(table)content IS NULL AND "
            + "\(table)entity IN (\(names.joined(separator: ", ")))"
    }

    /// The same for a row that has not failed; never true when no entity has such creations.
    func waitsForContentSQL(of table: String = "") -> String {
        lacksContentSQL(of: table).map { "(\($0) AND \(table)state <> \(OutboxState.failed.sql))" } ?? "0"
    }
}
