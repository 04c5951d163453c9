internal import EntitySchema
internal import GRDB
internal import GRDBSQLite
internal import SQLiteStore

/// Compares an entity's full-text index with the texts that it should have: builds the index a second time in a
/// temporary table, then reads the terms of both side by side.
///
/// What should be indexed: the saved texts of records that changed since (`SearchTable.outdated`), and the present ones
/// of all other records up to `indexed_to`.
struct SearchCheck {
    let table: SearchTable
    let db: Database

    func run(_ found: inout Inconsistencies) throws {
        for part in table.parts where !found.isFull {
            try drop()
            try db.execute(sql: part.createExpected(Self.expected))
            try db.execute(sql: table.fillExpected(Self.expected, part))
            try db.execute(
                sql: """
                    CREATE VIRTUAL TABLE temp.\(Self.indexTerms) USING fts5vocab(main, \(part.name), instance);
                    CREATE VIRTUAL TABLE temp.\(Self.expectedTerms) USING fts5vocab(temp, \(Self.expected), instance);
                    """)
            try compare(part, &found)
        }
        try drop()
    }

    private static let expected = "check_expected"
    private static let indexTerms = "check_index_terms"
    private static let expectedTerms = "check_expected_terms"

    private func drop() throws {
        for name in [Self.indexTerms, Self.expectedTerms, Self.expected] {
            try db.execute(sql: "DROP TABLE IF EXISTS temp.\(name)")
        }
    }

    private func compare(_ part: SearchPart, _ found: inout Inconsistencies) throws {
        var index = try TermCursor(Self.indexTerms, columns: part.columns, db)
        var expected = try TermCursor(Self.expectedTerms, columns: part.columns, db)
        var records: Set<Int64> = []
        while !found.isFull {
            switch try index.place(beside: expected) {
            case .end: return
            case .same:
                try index.advance()
                try expected.advance()
            case .before:
                try add(index.record, "the search index has a term that is not in its text", &records, &found)
                try index.advance()
            case .after:
                try add(expected.record, "the search index lacks a term of its text", &records, &found)
                try expected.advance()
            }
        }
    }

    private func add(
        _ pk: Int64, _ problem: String, _ records: inout Set<Int64>, _ found: inout Inconsistencies
    ) throws {
        guard records.insert(pk).inserted else { return }
        let key = try String.fetchOne(
            db.cachedStatement(sql: "SELECT _key FROM \(table.table.name) WHERE _pk = ?"), arguments: [pk])
        found.add(.search, "\(table.entity.name)/\(key ?? "row \(pk)")", problem)
    }
}
