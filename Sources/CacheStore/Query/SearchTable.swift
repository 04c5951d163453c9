internal import EntitySchema
internal import SQLiteStore

/// One entity's full-text index in SQL.
///
/// Two FTS5 tables without text of their own: one of words, and one of trigrams for the fields that are found by any
/// part of them, ignoring separators. They index what readers see: `coalesce(_document, _remote)` of records that are
/// not deleted. When an indexed record changes or is deleted, triggers save its indexed values in a table of outdated
/// entries, and `SearchCatchUp` updates the index before the next search; a change that touches no searched field costs
/// a comparison. `SearchIndex` adds new records.
///
/// Why not at once: FTS5 writes its terms at the end of every statement and whenever rows come out of order, so each of
/// many changes in one transaction would cost as much as all of them together.
struct SearchTable {
    let table: EntityTable
    /// The fields of each kind, in the schema's order.
    let words: [String]
    let fragments: [String]

    /// What people write between the digits of a number: removed from indexed values and from search texts.
    static let separators = " -()./+_:\u{00A0}\u{2009}\u{202F}\u{2010}\u{2011}\u{2013}"

    /// Nil when the schema marks no field of the entity.
    init?(_ entity: Entity) {
        table = EntityTable(entity: entity)
        words = entity.fields.filter { $0.search == .words && !$0.secret }.map(\.name)
        fragments = entity.fields.filter { $0.search == .fragments && !$0.secret }.map(\.name)
        if words.isEmpty && fragments.isEmpty { return nil }
    }

    var entity: Entity { table.entity }

    /// The word fields used in a title, which rank higher.
    var titleWords: [String] {
        let placeholders = Set(entity.titles.flatMap(\.placeholders))
        return words.filter(placeholders.contains)
    }

    // MARK: Names

    var wordsName: String { Self.wordsName(entity.name) }
    var fragmentsName: String { Self.fragmentsName(entity.name) }
    var view: String { Self.view(entity.name) }
    var outdated: String { Self.outdated(entity.name) }

    static func wordsName(_ entity: String) -> String { "\"sync_\(entity)_words\"" }
    static func fragmentsName(_ entity: String) -> String { "\"sync_\(entity)_fragments\"" }
    static func view(_ entity: String) -> String { "\"sync_\(entity)_searched\"" }
    private static func outdated(_ entity: String) -> String { "\"sync_\(entity)_outdated\"" }

    /// Drops all parts of the index, whichever exist.
    static func drop(_ entity: String) -> String {
        """
        DROP TABLE IF EXISTS \(wordsName(entity));
        DROP TABLE IF EXISTS \(fragmentsName(entity));
        DROP VIEW IF EXISTS \(view(entity));
        DROP TABLE IF EXISTS \(outdated(entity));
        """
    }

    /// A field's column in view and index, prefixed because FTS5 reserves names that could be fields.
    static func column(_ field: String) -> String { "f_\(field)" }

    // MARK: Definition

    /// Identical text means an identical index.
    var definition: String {
        let searched = Set(words + fragments)
        let sources = table.storedFields.filter { searched.contains($0.name) }.map { "\($0.name) \($0.source ?? "")" }
        return ([create] + sources).joined(separator: "\n")
    }

    var create: String {
        ([createView, createOutdated] + parts.map(\.create)).joined(separator: ";\n") + ";"
    }

    /// Adds the records with a `_pk` after ?1 and up to ?2.
    var append: [String] {
        parts.map { part in
            let columns = part.columns.joined(separator: ", ")
            return """
                INSERT INTO \(part.name) (rowid, \(columns)) SELECT _pk, \(columns) FROM \(view)
                WHERE _pk > ?1 AND _pk <= ?2
                """
        }
    }

    // MARK: Updating

    /// True when there is an outdated entry with a `_pk` after ?1.
    var isOutdated: String { isOutdated(by: 0) }

    /// True if there are more than `count` of them.
    func isOutdated(by count: Int) -> String {
        "EXISTS (SELECT 1 FROM \(outdated) WHERE _pk > ?1 LIMIT 1 OFFSET \(count))"
    }

    /// Deletes the outdated entries with a `_pk` after ?1 from the index, and indexes the current values of the records
    /// that are still indexed.
    ///
    /// FTS5 must get the indexed values byte for byte (https://sqlite.org/fts5.html#the_delete_command). In the order
    /// of the rows, the old before the new, it collects all terms and writes them once.
    var catchUp: [String] {
        let statements = parts.map { part in
            let columns = part.columns.joined(separator: ", ")
            return """
                INSERT INTO \(part.name) (\(part.name), rowid, \(columns))
                  SELECT 'delete' AS command, _pk, \(columns) FROM \(outdated) WHERE _pk > ?1 AND was_indexed
                  UNION ALL
                  SELECT NULL, now._pk, \(part.columns.map { "now.\($0)" }.joined(separator: ", "))
                  FROM \(outdated) old CROSS JOIN \(view) now ON now._pk = old._pk
                  WHERE old._pk > ?1 AND old._pk <= \(indexedTo)
                  ORDER BY _pk, command DESC
                """
        }
        return statements + ["DELETE FROM \(outdated) WHERE _pk > ?1"]
    }

    struct Part {
        var name: String
        var fields: [String]
        var view: String
        var tokenizer: String

        var columns: [String] { fields.map(SearchTable.column) }

        var create: String {
            """
            CREATE VIRTUAL TABLE \(name) USING fts5(\(columns.joined(separator: ", ")), \
            content=\(view), content_rowid=_pk, tokenize='\(tokenizer)')
            """
        }
    }

    var parts: [Part] {
        [
            Part(name: wordsName, fields: words, view: view, tokenizer: "unicode61 remove_diacritics 2"),
            Part(name: fragmentsName, fields: fragments, view: view, tokenizer: "trigram"),
        ].filter { !$0.fields.isEmpty }
    }

    private var createView: String {
        let columns = (words + fragments).map { "\(value(of: $0)) AS \(Self.column($0))" }
        return """
            CREATE VIEW \(view) AS SELECT _pk, \(columns.joined(separator: ", ")) FROM \(table.name) WHERE _deleted = 0
            """
    }

    /// The values of a record as indexed; none for a record that readers did not see. The columns have no type, so that
    /// each value stays exactly as it was indexed.
    private var createOutdated: String {
        let columns = (words + fragments).map(Self.column).joined(separator: ", ")
        return "CREATE TABLE \(outdated) (_pk INTEGER PRIMARY KEY, was_indexed, \(columns))"
    }

    /// The indexed value of a field.
    private func value(of field: String) -> String {
        let column = table.plain(for: field)
        guard fragments.contains(field) else { return column }
        return Self.separators.unicodeScalars.reduce(column) { "replace(\($0), char(\($1.value)), '')" }
    }

    // MARK: Records that change

    var indexedTo: String { "(SELECT indexed_to FROM sync_search WHERE entity = '\(entity.name)')" }

    /// Run this before the record in row ?1 changes or is deleted. The index has the values from before the first
    /// change, so later ones are ignored.
    var noteOutdated: String {
        """
        INSERT INTO \(outdated)
        SELECT _pk, _deleted = 0, \((words + fragments).map(value).joined(separator: ", ")) FROM \(table.name)
        WHERE _pk = ?1 AND _pk <= \(indexedTo)
        ON CONFLICT DO NOTHING
        """
    }

    /// Run this after records were deleted. SQLite reuses the greatest `_pk` once its row is deleted, so `indexed_to`
    /// must not exceed the greatest that exists.
    var noteDeleted: String {
        let greatest = "(SELECT coalesce(max(_pk), 0) FROM \(table.name))"
        return """
            UPDATE sync_search SET indexed_to = \(greatest) WHERE entity = '\(entity.name)' AND indexed_to > \(greatest)
            """
    }
}

extension SearchTable {
    /// The error of a search in an entity that has no searched fields.
    static func missing(in entity: String) -> CacheError {
        .badQuery(field: "q", message: "the schema marks no field of \(entity) with search, so nothing can be found")
    }
}
