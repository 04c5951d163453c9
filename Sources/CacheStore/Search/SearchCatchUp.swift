internal import EntitySchema
internal import GRDB
internal import SQLiteStore

/// Brings the full-text indexes up to date: before a search, or at the end of a transaction that leaves much to do.
///
/// A few changes wait for the next search: one alone costs FTS5 as much as the write that made it, many together hardly
/// more than one. The waiting entries are in a table, so they survive a crash.
struct SearchCatchUp {
    /// At most this many outdated entries of an entity may wait: they delay a search by a few milliseconds at most.
    static let mostWaiting = 256

    /// In the schema's order.
    let all: [SearchTable]
    private let tables: [String: SearchTable]
    /// Queries for the names of the entities with outdated entries, and of those with more than may wait.
    let outdated: String?
    private let due: String?

    init(schema: EntitySchema) {
        let tables = schema.entities.compactMap { SearchTable($0) }
        all = tables
        self.tables = Dictionary(uniqueKeysWithValues: tables.map { ($0.entity.name, $0) })
        func names(moreThan count: Int) -> String? {
            guard !tables.isEmpty else { return nil }
            return tables.map { "SELECT '\($0.entity.name)' WHERE \($0.isOutdated(by: count))" }
                .joined(separator: " UNION ALL ")
        }
        outdated = names(moreThan: 0)
        due = names(moreThan: Self.mostWaiting)
    }

    /// Less than every `_pk`.
    private static let first = Int64.min

    /// Updates all indexes; writes nothing if they are up to date.
    func run(_ db: Database) throws { try catchUp(names(outdated, db), db) }

    /// Writes nothing, and returns false, if the outdated entries may wait.
    func runIfDue(_ db: Database) throws -> Bool {
        let entities = try names(due, db)
        try catchUp(entities, db)
        return !entities.isEmpty
    }

    /// How many entries wait, counted by entity and part.
    func waiting(_ db: Database) throws -> Int {
        try tables.values.reduce(0) { sum, table in
            try sum + (Int.fetchOne(db, sql: "SELECT count(*) FROM \(SearchTable.outdated(table.entity.name))") ?? 0)
        }
    }

    private func names(_ sql: String?, _ db: Database) throws -> [String] {
        guard let sql else { return [] }
        return try String.fetchAll(db.cachedStatement(sql: sql))
    }

    private func catchUp(_ entities: [String], _ db: Database) throws {
        for table in entities.compactMap({ tables[$0] }) {
            try SearchIndex(table: table, db: db).catchUp(after: Self.first)
        }
    }
}
