internal import EntitySchema
internal import GRDB
internal import SQLiteStore

/// Brings the full-text indexes in step with what has changed: before a search, or at the end of a transaction that leaves
/// much to do.
///
/// A few changes wait for whoever searches next: one alone costs FTS5 as much as the whole write that made it, many
/// together hardly more than one. What waits is in a table, so it is there after a crash.
struct SearchCatchUp {
    /// So many outdated entries of an entity may wait: a search is held up by a few milliseconds at most.
    static let mostWaiting = 64

    private let statements: [String: [String]]
    /// The names of the entities that have outdated entries, and of those that have more than may wait.
    private let outdated: String?
    private let due: String?

    init(schema: EntitySchema) {
        let tables = schema.entities.compactMap { SearchTable($0) }
        statements = Dictionary(uniqueKeysWithValues: tables.map { ($0.entity.name, $0.catchUp) })
        func names(where condition: (SearchTable) -> String) -> String? {
            guard !tables.isEmpty else { return nil }
            return tables.map { "SELECT '\($0.entity.name)' WHERE \(condition($0))" }.joined(separator: " UNION ALL ")
        }
        outdated = names { $0.isOutdated }
        due = names { $0.isOutdated(by: Self.mostWaiting) }
    }

    /// Every `_pk` comes after this one.
    private static let first = Int64.min

    /// Whether a search would miss something.
    func isBehind(_ db: Database) throws -> Bool { try !names(outdated, db).isEmpty }

    /// Writes nothing where all is in step.
    func run(_ db: Database) throws { try catchUp(names(outdated, db), db) }

    /// The last work of each transaction. Writes nothing where what is outdated may wait.
    func runIfDue(_ db: Database) throws { try catchUp(names(due, db), db) }

    private func names(_ sql: String?, _ db: Database) throws -> [String] {
        guard let sql else { return [] }
        return try String.fetchAll(db.cachedStatement(sql: sql), arguments: [Self.first])
    }

    private func catchUp(_ entities: [String], _ db: Database) throws {
        for entity in entities {
            for sql in statements[entity] ?? [] { try db.cachedStatement(sql: sql).execute(arguments: [Self.first]) }
        }
    }
}
