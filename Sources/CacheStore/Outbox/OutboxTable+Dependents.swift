internal import EntitySchema
internal import GRDB
internal import JSONText

/// What would be left hanging if a change went.
extension OutboxTable {
    /// The changes that make no sense without this one, oldest first: where it creates a record, all that change that
    /// record or refer to it, and what those create in turn. What merely comes after it in a group is none of them.
    func dependents(on change: Entry) throws -> [Entry] {
        var found: [Entry] = []
        var creations = change.operation == .create ? [change] : []
        while let creation = creations.popLast() {
            let near = try changes(of: creation.entity, key: creation.key) + changes(referringTo: creation)
            for entry in near where entry.id != change.id && !found.contains(where: { $0.id == entry.id }) {
                found.append(entry)
                if entry.operation == .create { creations.append(entry) }
            }
        }
        return found.sorted { $0.id < $1.id }
    }

    private func changes(referringTo creation: Entry) throws -> [Entry] {
        var found: [Entry] = []
        for entity in schema.entities {
            for field in entity.fields where field.kind == .reference(to: creation.entity) {
                found += try Row.fetchAll(
                    db.cachedStatement(
                        sql: """
                            \(Self.columns) WHERE entity = ? AND CAST(body ->> '$."\(field.name)"' AS TEXT) = ?
                            """),
                    arguments: [entity.name, creation.key]
                ).map(Self.entry)
            }
        }
        return found
    }

    /// All that waits for this one, however many stand between.
    func waiting(for id: Int64) throws -> Set<Int64> {
        try Int64.fetchSet(
            db.cachedStatement(
                sql: """
                    WITH RECURSIVE later (id) AS (
                      SELECT change_id FROM sync_dependency WHERE needs_id = ?
                      UNION SELECT change_id FROM sync_dependency JOIN later ON needs_id = later.id)
                    SELECT id FROM later
                    """),
            arguments: [id])
    }
}
