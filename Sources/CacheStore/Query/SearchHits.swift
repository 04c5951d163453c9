internal import EntitySchema
internal import GRDB
internal import GRDBSQLite
internal import JSONText
internal import SQLiteStore

/// Reads what a search shows of the records that it found, in one snapshot.
struct SearchHits {
    let match: SearchMatch
    let connection: ReadConnection

    private var entity: Entity { match.table.entity }

    /// The hits by `_pk`.
    func read(_ pks: [Int64]) throws -> [Int64: SearchHit] {
        guard !pks.isEmpty else { return [:] }
        let records = try records(pks)
        let snippets = try snippets(of: records)
        var hits: [Int64: SearchHit] = [:]
        for (pk, (key, record)) in records {
            let title = entity.title(of: record)
            hits[pk] = SearchHit(
                entity: entity.name, key: key, title: title.isEmpty ? key : title, snippet: snippets[pk] ?? "")
        }
        return hits
    }

    private static func list(_ pks: [Int64]) -> DatabaseValue {
        "[\(pks.map(String.init).joined(separator: ","))]".databaseValue
    }

    private func records(_ pks: [Int64]) throws -> [Int64: (key: String, record: JSONText)] {
        var records: [Int64: (key: String, record: JSONText)] = [:]
        let sql = """
            SELECT _pk, _key, \(EntityTable.document) FROM \(match.table.table.name)
            WHERE _pk IN (SELECT value FROM json_each(?))
            """
        try connection.query(sql, [Self.list(pks)]) { row in
            if let record = JSONText(column: 2, of: row) {
                records[sqlite3_column_int64(row, 0)] = (RecordBytes.text(1, of: row), record)
            }
            return true
        }
        return records
    }

    // MARK: Snippets

    private func snippets(of records: [Int64: (key: String, record: JSONText)]) throws -> [Int64: String] {
        let mark = WordMark(match.query)
        let fields = match.table.words?.fields ?? []
        let finder = JSONMemberFinder(fields)
        var snippets: [Int64: String] = [:]
        for (pk, (_, record)) in records {
            let texts = zip(fields, finder.values(in: record)).compactMap { field, own in
                let value = own?.kind == .null ? nil : own
                return (value ?? entity.value(of: field, in: record))?.plain
            }
            snippets[pk] = mark?.marked(in: texts)
        }
        let others = records.keys.filter { snippets[$0] == nil }
        if let words = match.table.words, !others.isEmpty { try addSnippets(of: words, others, to: &snippets) }
        for (pk, (_, record)) in records where snippets[pk] == nil { snippets[pk] = snippetOfFragment(record) }
        return snippets
    }

    /// Has FTS5 mark the words in these records.
    private func addSnippets(of words: SearchPart, _ pks: [Int64], to snippets: inout [Int64: String]) throws {
        try connection.query(words.snippets, [match.query.expression().databaseValue, Self.list(pks)]) { row in
            snippets[sqlite3_column_int64(row, 0)] = RecordBytes.text(1, of: row)
            return true
        }
    }

    /// The field with the longest match: the whole text if there is one, else the first word.
    private func snippetOfFragment(_ record: JSONText) -> String? {
        let values = (match.table.fragments?.fields ?? []).compactMap { entity.value(of: $0, in: record)?.plain }
        let parts = [match.query.words.joined()] + match.query.numbers.map { match.query.words[$0.index] }
        for part in parts {
            if let marked = values.lazy.compactMap({ FragmentMark.marked($0, part) }).first { return marked }
        }
        return nil
    }
}
