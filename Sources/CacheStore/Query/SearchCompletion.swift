internal import GRDB
internal import GRDBSQLite
internal import SQLiteStore

/// Looks up the indexed terms that a prefix stands for.
///
/// FTS5 finds a prefix that has no index of its own by reading all records of all its terms, which takes long for a
/// common name; a term by itself has its place in the index, wherever the search continues. Nearly all words that
/// people write out stand for one or a few terms. For more, FTS5 is left to do it.
struct SearchCompletion {
    let table: SearchTable
    let connection: ReadConnection

    /// Each term looked up costs as much as a small search.
    private static let mostTerms = 4

    /// The query with the terms of its last word, or as it is.
    func completed(_ query: SearchQuery) throws -> SearchQuery {
        guard table.words != nil, let prefix = query.prefix else { return query }
        var query = query
        var terms: [String] = []
        var next = try term(from: prefix)
        while let term = next, term.utf8.starts(with: prefix.utf8) {
            guard terms.count < Self.mostTerms else { return query }
            terms.append(term)
            // No term has this character, so this is the place after all occurrences of the term.
            next = try self.term(from: term + "\u{1}")
        }
        query.completions = terms
        return query
    }

    /// The first term that is not before `place`.
    private func term(from place: String) throws -> String? {
        try connection.first("SELECT term FROM \(table.terms) WHERE term >= ? LIMIT 1", [place.databaseValue]) { row in
            RecordBytes.text(0, of: row)
        }
    }
}
