internal import EntitySchema

extension EntitySchema {
    /// Whether a row of the queue, as SQL, waits for the content that it must carry; nil when no entity has such
    /// creations.
    func lacksContentSQL(of table: String = "") -> String? {
        let names = entities.filter(\.isCreatedWithContent).map { "'\($0.name)'" }
        guard !names.isEmpty else { return nil }
        return "\(table)operation = 'create' AND \(table)content IS NULL AND "
            + "\(table)entity IN (\(names.joined(separator: ", ")))"
    }
}
