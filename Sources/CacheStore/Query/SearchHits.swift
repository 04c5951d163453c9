internal import EntitySchema
internal import GRDB
internal import GRDBSQLite
internal import JSONText
internal import SQLiteStore

/// One record that a search found.
package struct SearchHit: Sendable, Equatable {
    package var entity: String
    package var key: String
    /// The record's name, as users know it.
    package var title: String
    /// The matching text with the match between « and »; empty when it cannot be shown.
    package var snippet: String
}

/// Reads what a search shows of the records that it found, in one snapshot.
struct SearchHits {
    let match: SearchMatch
    let connection: ReadConnection

    private var entity: Entity { match.table.entity }

    /// The most bytes of a title and of a snippet.
    private static let (longestTitle, longestSnippet) = (200, 1000)
    /// The most bytes of a record's texts of which FTS5 makes a snippet.
    private static let longestTexts = 2048
    /// Once FTS5 has marked so many words in long texts, others are shown from their beginning.
    private static let mostMarks = 10_000

    /// The hits by `_pk`. Holds one record at a time: many large ones would fill the memory.
    func read(_ pks: [Int64]) throws -> [Int64: SearchHit] {
        guard !pks.isEmpty else { return [:] }
        var hits: [Int64: SearchHit] = [:]
        var snippets: [Int64: String] = [:]
        var fragments: [Int64: String] = [:]
        var long: [Int64: MarkedText] = [:]
        let mark = WordMark(match.query)
        let finder = JSONMemberFinder(match.table.words?.fields ?? [])
        let sql = """
            SELECT _pk, _key, \(EntityTable.document) FROM \(match.table.table.name)
            WHERE _pk IN (SELECT value FROM json_each(?))
            """
        try connection.query(sql, [Self.list(pks)]) { row in
            guard let record = JSONText(column: 2, of: row) else { return true }
            let (pk, key) = (sqlite3_column_int64(row, 0), RecordBytes.text(1, of: row))
            let title = entity.title(of: record)
            hits[pk] = SearchHit(
                entity: entity.name, key: key,
                title: (title.isEmpty ? key : title).cut(toBytes: Self.longestTitle), snippet: "")
            let texts = texts(of: record, finder)
            snippets[pk] = mark?.marked(in: texts)
            guard snippets[pk] == nil else { return true }
            fragments[pk] = snippetOfFragment(record)
            if texts.reduce(0, { $0 + $1.utf8.count }) > Self.longestTexts {
                long[pk] = MarkedText((texts.first { !$0.isEmpty } ?? "").cut(toBytes: Self.longestSnippet))
            }
            return true
        }
        let others = hits.keys.filter { snippets[$0] == nil && long[$0] == nil }
        if let words = match.table.words, !others.isEmpty { try addSnippets(of: words, others, to: &snippets) }
        if let words = match.table.words, !long.isEmpty {
            try addHighlights(of: words, Array(long.keys), to: &snippets)
            for (pk, text) in long where snippets[pk] == nil && fragments[pk] == nil { snippets[pk] = text.beginning }
        }
        for pk in pks {
            hits[pk]?.snippet = (snippets[pk] ?? fragments[pk] ?? "").cut(toBytes: Self.longestSnippet)
        }
        return hits
    }

    private static func list(_ pks: [Int64]) -> DatabaseValue {
        "[\(pks.map(String.init).joined(separator: ","))]".databaseValue
    }

    // MARK: Snippets

    /// The searched words of a record; no more of a text than is indexed.
    private func texts(of record: JSONText, _ finder: JSONMemberFinder) -> [String] {
        let fields = match.table.words?.fields ?? []
        return zip(fields, finder.values(in: record)).compactMap { field, own in
            let value = own?.kind == .null ? nil : own
            return (value ?? entity.value(of: field, in: record))?.plain.cut(toBytes: SearchTable.longest)
        }
    }

    /// Has FTS5 mark the words in these records.
    private func addSnippets(of words: SearchPart, _ pks: [Int64], to snippets: inout [Int64: String]) throws {
        try connection.query(words.snippets, [match.query.expression().databaseValue, Self.list(pks)]) { row in
            snippets[sqlite3_column_int64(row, 0)] = RecordBytes.text(1, of: row)
            return true
        }
    }

    /// Has FTS5 mark the words in long texts, and takes the part around the first of them.
    private func addHighlights(of words: SearchPart, _ pks: [Int64], to snippets: inout [Int64: String]) throws {
        var marks = 0
        try connection.query(words.highlights, [match.query.expression().databaseValue, Self.list(pks)]) { row in
            for column in words.fields.indices {
                let text = MarkedText(RecordBytes.text(Int32(column + 1), of: row))
                marks += text.count
                let pk = sqlite3_column_int64(row, 0)
                if snippets[pk] == nil { snippets[pk] = text.part }
            }
            return marks < Self.mostMarks
        }
    }

    /// The field with the longest match: the whole text if there is one, else the first word. Looks no further into a field
    /// than a snippet can show.
    private func snippetOfFragment(_ record: JSONText) -> String? {
        let marks = (match.table.fragments?.fields ?? []).compactMap { field in
            entity.value(of: field, in: record).map { FragmentMark($0.plain.cut(toBytes: Self.longestSnippet)) }
        }
        let parts = [match.query.words.joined()] + match.query.numbers.map { match.query.words[$0.index] }
        for part in parts {
            if let marked = marks.lazy.compactMap({ $0.marked(part) }).first { return marked }
        }
        return nil
    }
}
