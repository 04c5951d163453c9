internal import EntitySchema
internal import GRDB
internal import SQLiteStore

/// Brings the full-text indexes up to date: before a search, or at the end of a transaction that leaves much to do.
///
/// A few changes wait for the next search: one alone costs FTS5 as much as the write that made it, many together hardly
/// more than one. The waiting entries are in a table, so they survive a crash.
struct SearchRenewal {
    /// At most this many outdated entries of an entity may wait: they delay a search by a few milliseconds at most.
    static let mostWaiting = 64

    private let statements: [String: [String]]
    /// Queries for the names of the entities with outdated entries, and of those with more than may wait.
    private let outdated: String?
    private let due: String?

    init(schema: EntitySchema) {
        let tables = schema.entities.compactMap { SearchTable($0) }
        statements = Dictionary(uniqueKeysWithValues: tables.map { ($0.entity.name, $0.renew) })
        func names(where condition: (SearchTable) -> String) -> String? {
            guard !tables.isEmpty else { return nil }
            return tables.map { "SELECT '\($0.entity.name)' WHERE \(condition($0))" }.joined(separator: " UNION ALL ")
        }
        outdated = names { $0.isOutdated }
        due = names { $0.isOutdated(by: Self.mostWaiting) }
    }

    /// Less than every `_pk`.
    private static let first = Int64.min

    /// Whether a search would miss something.
    func isBehind(_ db: Database) throws -> Bool { try !names(outdated, db).isEmpty }

    /// Updates all indexes; writes nothing if they are up to date.
    func run(_ db: Database) throws { try renew(names(outdated, db), db) }

    /// Runs last in each transaction. Writes nothing if the outdated entries may wait.
    func runWhereDue(_ db: Database) throws { try renew(names(due, db), db) }

    private func names(_ sql: String?, _ db: Database) throws -> [String] {
        guard let sql else { return [] }
        return try String.fetchAll(db.cachedStatement(sql: sql), arguments: [Self.first])
    }

    private func renew(_ entities: [String], _ db: Database) throws {
        for entity in entities {
            for sql in statements[entity] ?? [] { try db.cachedStatement(sql: sql).execute(arguments: [Self.first]) }
        }
    }
}
