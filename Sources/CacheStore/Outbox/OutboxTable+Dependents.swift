internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// The changes that depend on another change.
extension OutboxTable {
    /// The changes that make no sense without this one, oldest first. For a creation these are the changes of its
    /// record, the changes that refer to it, and the same for every record that those create. A change that only
    /// follows it in a group does not depend on it.
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
                let statement = BoundStatement(
                    try db.cachedStatement(
                        sql: """
                            \(QueueStatements.columns)
                            WHERE entity = ? AND CAST(body ->> '$."\(field.name)"' AS TEXT) = ?
                            """))
                try statement.bind(entity.name, to: 1)
                try statement.bind(creation.key, to: 2)
                found += try statement.all { try Entry(reading: BoundStatement($0)) }
            }
        }
        return found
    }

    /// Every change that waits for this one, directly or through others.
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
