internal import EntitySchema
internal import GRDB

/// Brings the full-text indexes in step with what a transaction has changed, at its end and as a part of it.
///
/// Nothing is looked for in between: only committed states are searched.
struct SearchRenewal {
    private let statements: [String: [String]]
    /// The names of the entities that have outdated entries.
    private let outdated: String?

    init(schema: EntitySchema) {
        let tables = schema.entities.compactMap { SearchTable($0) }
        statements = Dictionary(uniqueKeysWithValues: tables.map { ($0.entity.name, $0.renew) })
        outdated =
            tables.isEmpty
            ? nil : tables.map { "SELECT '\($0.entity.name)' WHERE \($0.isOutdated)" }.joined(separator: " UNION ALL ")
    }

    /// Writes nothing where nothing that is searched has changed.
    func run(_ db: Database) throws {
        guard let outdated else { return }
        // Every `_pk` comes after this one.
        let first = Int64.min
        for entity in try String.fetchAll(db.cachedStatement(sql: outdated), arguments: [first]) {
            for sql in statements[entity] ?? [] { try db.cachedStatement(sql: sql).execute(arguments: [first]) }
        }
    }
}
