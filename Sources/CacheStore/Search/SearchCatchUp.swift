internal import EntitySchema
internal import GRDB
internal import SQLiteStore

/// Brings the full-text indexes up to date: before a search, or after a transaction that leaves much to do.
///
/// A few changes wait for the next search: one alone costs FTS5 as much as the write that made it, many together hardly
/// more than one. No writer waits for many either. The waiting entries are in a table, so they survive a crash.
struct SearchCatchUp {
    /// When more changed records than this may wait, or more than `SearchIndex.mostBytes` of them, the index is updated: they
    /// delay a search by a few milliseconds, and long texts by a few tenths of a second at most.
    static let mostWaiting = 256

    /// In the schema's order.
    let all: [SearchTable]
    private let tables: [String: SearchTable]
    /// A query for the names of the entities with outdated entries; nil if none is searched.
    let outdated: String?

    init(schema: EntitySchema) {
        let tables = schema.entities.compactMap { SearchTable($0) }
        all = tables
        self.tables = Dictionary(uniqueKeysWithValues: tables.map { ($0.entity.name, $0) })
        let names = tables.map { "SELECT '\($0.entity.name)' WHERE \($0.isOutdated)" }
        outdated = names.isEmpty ? nil : names.joined(separator: " UNION ALL ")
    }

    /// Less than every `_pk`.
    private static let first = Int64.min

    /// Updates all indexes; writes nothing if they are up to date.
    func run(_ db: Database) throws {
        guard let outdated else { return }
        for name in try String.fetchAll(db.cachedStatement(sql: outdated)) {
            guard let table = tables[name] else { continue }
            try SearchIndex(table: table, db: db).catchUp(after: Self.first)
        }
    }

    /// How many entries wait, counted by entity and part.
    func waiting(_ db: Database) throws -> Int {
        try tables.values.reduce(0) { sum, table in
            try sum + (Int.fetchOne(db, sql: "SELECT count(*) FROM \(SearchTable.outdated(table.entity.name))") ?? 0)
        }
    }
}
