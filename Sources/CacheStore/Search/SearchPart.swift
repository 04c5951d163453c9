internal import EntitySchema
internal import SQLiteStore

/// One FTS5 table of an entity's index, without text of its own: it reads the records through the index's view.
struct SearchPart {
    enum Kind: Int, CaseIterable {
        /// All fields that are searched by words.
        case words
        /// Those of them that make up the title, once more: in the table of words, a title that matches would be found
        /// only by reading every record that has the word.
        case titles
        /// Trigrams of the fields that are found by any part of them, ignoring separators.
        case fragments

        var name: String {
            switch self {
            case .words: "words"
            case .titles: "titles"
            case .fragments: "fragments"
            }
        }
    }

    let kind: Kind
    let entity: String
    /// In the schema's order; never empty.
    let fields: [String]

    var name: String { "sync_\(entity)_\(kind.name)".quoted(by: "\"") }
    /// The columns in view and index.
    var columns: [String] { fields.map(SearchTable.column) }
    var columnList: String { columns.joined(separator: ", ") }

    /// Sizes of columns serve only `bm25`, which no search uses. The prefixes of two letters have an index, since they
    /// stand for many words; the few words of a longer one are looked up (`SearchCompletion`).
    var create: String {
        """
        CREATE VIRTUAL TABLE \(name) USING fts5(\(columnList), \
        content=\(SearchTable.view(entity)), content_rowid=_pk, columnsize=0, \(tokenizer))
        """
    }

    var tokenizer: String {
        switch kind {
        case .words, .titles: "prefix='2', tokenize='unicode61 remove_diacritics 2'"
        case .fragments: "tokenize='trigram'"
        }
    }

    /// Merges up to ?1 pages of segments, of all segments when ?1 is negative
    /// (https://sqlite.org/fts5.html#the_merge_command).
    var merge: String { "INSERT INTO \(name) (\(name), rank) VALUES ('merge', ?1)" }

    /// The records of the JSON array ?2 that match ?1, each with the text around the match.
    var snippets: String {
        """
        SELECT rowid, snippet(\(name), -1, '\(FragmentMark.open)', '\(FragmentMark.close)', '…', 12) FROM \(name)
        WHERE \(name) MATCH ?1 AND rowid IN (SELECT value FROM json_each(?2))
        """
    }

    /// The records of the JSON array ?2 that match ?1, each with the whole text of each field, marked.
    ///
    /// For long texts: `snippet` compares each place of a match with all others, and so takes five seconds for 64 KiB of one
    /// word. This takes a tenth of a second.
    var highlights: String {
        let texts = fields.indices.map { "highlight(\(name), \($0), '\(FragmentMark.open)', '\(FragmentMark.close)')" }
        return """
            SELECT rowid, \(texts.joined(separator: ", ")) FROM \(name)
            WHERE \(name) MATCH ?1 AND rowid IN (SELECT value FROM json_each(?2))
            """
    }

    /// True when there is an outdated entry with a `_pk` after ?1.
    var isOutdated: String {
        "EXISTS (SELECT 1 FROM \(SearchTable.outdated(entity)) WHERE part = \(kind.rawValue) AND _pk > ?1)"
    }
}
