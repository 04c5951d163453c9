internal import EntitySchema
internal import SQLiteStore

/// One entity's full-text index in SQL.
///
/// Its parts (`SearchPart`) index what readers see: `EntityTable.document` of records that are not deleted.
/// Before an indexed record changes or is deleted, its indexed values are saved as outdated entries (`noteReading`), for
/// the parts whose fields change, and `SearchCatchUp` updates the index before the next search. `SearchIndex` adds new
/// records.
///
/// Why not at once: FTS5 writes its terms at the end of every statement and whenever rows come out of order, so each of
/// many changes in one transaction would cost as much as all of them together.
struct SearchTable {
    let table: EntityTable
    /// Never empty.
    let parts: [SearchPart]
    private let hasTitleWords: Bool

    /// What people write between the digits of a number: removed from indexed values and from search texts.
    static let separators = " -()./+_:\u{00A0}\u{2009}\u{202F}\u{2010}\u{2011}\u{2013}"

    /// Nil when the schema marks no field of the entity.
    init?(_ entity: Entity) {
        table = EntityTable(entity: entity)
        func fields(_ search: Field.Search) -> [String] {
            entity.fields.filter { $0.search == search && !$0.isStoredSealed }.map(\.name)
        }
        let words = fields(.words)
        let placeholders = Set(entity.titles.flatMap(\.placeholders))
        let titles = words.filter(placeholders.contains)
        let kinds: [(SearchPart.Kind, [String])] = [
            (.words, words), (.titles, titles == words ? [] : titles), (.fragments, fields(.fragments)),
        ]
        parts = kinds.filter { !$0.1.isEmpty }.map { kind, fields in
            SearchPart(kind: kind, entity: entity.name, fields: fields)
        }
        hasTitleWords = !titles.isEmpty
        if parts.isEmpty { return nil }
    }

    var entity: Entity { table.entity }
    var words: SearchPart? { self[.words] }
    /// The words of titles, which rank higher; the same part as `words` if there are no others.
    var titles: SearchPart? { hasTitleWords ? self[.titles] ?? words : nil }
    var fragments: SearchPart? { self[.fragments] }

    subscript(kind: SearchPart.Kind) -> SearchPart? { parts.first { $0.kind == kind } }

    /// The searched fields, in the order of their columns.
    var fields: [String] { (words?.fields ?? []) + (fragments?.fields ?? []) }

    // MARK: Names

    // Also work for a name that was not validated by a schema.
    static func view(_ entity: String) -> String { "sync_\(entity)_searched".quoted(by: "\"") }
    static func outdated(_ entity: String) -> String { "sync_\(entity)_outdated".quoted(by: "\"") }
    private static func terms(_ entity: String) -> String { "sync_\(entity)_terms".quoted(by: "\"") }
    /// The terms of the words, one row for each place where one occurs.
    var terms: String { Self.terms(entity.name) }

    /// A field's column in view and index, prefixed because FTS5 reserves names that could be fields.
    static func column(_ field: String) -> String { "f_\(field)" }

    /// The greatest `_pk` that is indexed.
    static func indexedTo(_ entity: String) -> String {
        "(SELECT indexed_to FROM sync_search WHERE entity = '\(entity)')"
    }

    // MARK: Definition

    /// Identical text means an identical index: the statements, and where the columns that they read come from.
    var definition: String {
        let sources = table.storedFields.filter { fields.contains($0.name) }.map { field in
            "\(field.name) \(field.source ?? "")\(table.computation(of: field))"
        }
        return ([create] + sources).joined(separator: "\n")
    }

    var create: String {
        let vocabulary = words.map { "CREATE VIRTUAL TABLE \(terms) USING fts5vocab(\($0.name), 'instance')" }
        let statements = [createView, createOutdated] + parts.map(\.create) + [vocabulary].compactMap(\.self)
        return statements.joined(separator: ";\n") + ";"
    }

    /// The names of the views and virtual tables that an entity's index can have.
    static func names(_ entity: String) -> Set<String> {
        Set(([view(entity), terms(entity)] + parts(entity)).map { $0.filter { $0 != "\"" } })
    }

    private static func parts(_ entity: String) -> [String] {
        SearchPart.Kind.allCases.map { SearchPart(kind: $0, entity: entity, fields: []).name }
    }

    /// The names of the tables that hold an entity's index: those of FTS5, and that of the outdated entries.
    static func storage(_ entity: String) -> Set<String> {
        let parts = SearchPart.Kind.allCases.map { "sync_\(entity)_\($0.name)" }
        let tables = parts.flatMap { part in ["data", "idx", "content", "docsize", "config"].map { "\(part)_\($0)" } }
        return Set(tables + ["sync_\(entity)_outdated"])
    }

    /// Drops all parts of the index, whichever exist.
    static func drop(_ entity: String) -> String {
        """
        DROP TABLE IF EXISTS \(terms(entity));
        \(parts(entity).map { "DROP TABLE IF EXISTS \($0);" }.joined(separator: "\n"))
        DROP VIEW IF EXISTS \(view(entity));
        DROP TABLE IF EXISTS \(outdated(entity));
        """
    }

    private var createView: String { "CREATE VIEW \(Self.view(entity.name)) AS\n\(searched)" }

    /// What the view shows. Only FTS5 reads the view itself: another program could have put another one in its place.
    var searched: String {
        let columns = fields.map { "\(value(of: $0)) AS \(Self.column($0))" }
        return "SELECT _pk, \(columns.joined(separator: ", ")) FROM \(table.name) WHERE _deleted = 0"
    }

    /// Adds the records with a `_pk` after ?1 and up to ?2 to a part.
    func append(to part: SearchPart) -> String {
        """
        INSERT INTO \(part.name) (rowid, \(part.columnList)) SELECT _pk, \(part.columnList) FROM (\(searched))
        WHERE _pk > ?1 AND _pk <= ?2
        """
    }

    /// The values of a record as a part indexed them. The columns have no type, so that each value stays exactly as it
    /// was indexed; `was_indexed` is false for a record that readers did not see.
    private var createOutdated: String {
        """
        CREATE TABLE \(Self.outdated(entity.name)) (
          part INTEGER, _pk INTEGER, was_indexed, \(fields.map(Self.column).joined(separator: ", ")),
          PRIMARY KEY (part, _pk)
        ) WITHOUT ROWID
        """
    }

    // MARK: Values

    /// At most this many characters of a field are indexed: for its words FTS5 takes sixty times the memory of a text.
    static let longest = 1 << 16

    /// A field of a record as it is indexed.
    func value(of field: String) -> String { indexed(table.plain(for: field), of: field) }

    private func indexed(_ value: String, of field: String) -> String {
        let source = "substr(\(value), 1, \(Self.longest))"
        guard fragments?.fields.contains(field) ?? false else { return source }
        return Self.separators.unicodeScalars.reduce(source) { "replace(\($0), char(\($1.value)), '')" }
    }

    // MARK: Updating

    /// For each part whether it needs updating, and the update.
    var catchUp: [(isNeeded: String, sql: String)] { parts.map { ($0.isOutdated, catchUp(of: $0)) } }

    /// Deletes the outdated entries with a `_pk` after ?1 from the index, and indexes the current values of the records
    /// that are still indexed.
    ///
    /// FTS5 must get the indexed values byte for byte (https://sqlite.org/fts5.html#the_delete_command). In the order
    /// of the rows, the old before the new, it collects all terms and writes them once. The current values are those of
    /// the view, read in less time.
    private func catchUp(of part: SearchPart) -> String {
        let outdated = Self.outdated(entity.name)
        let current = part.fields.map { indexed(table.plainAlone(for: $0, of: "now."), of: $0) }
        return """
            INSERT INTO \(part.name) (\(part.name), rowid, \(part.columnList))
              SELECT 'delete' AS command, _pk, \(part.columnList) FROM \(outdated)
              WHERE part = \(part.kind.rawValue) AND _pk > ?1 AND was_indexed
              UNION ALL
              SELECT NULL, now._pk, \(current.joined(separator: ", "))
              FROM \(outdated) old CROSS JOIN \(table.name) now ON now._pk = old._pk AND now._deleted = 0
              WHERE old.part = \(part.kind.rawValue) AND old._pk > ?1 AND old._pk <= \(Self.indexedTo(entity.name))
              ORDER BY _pk, command DESC
            """
    }

    /// Forgets the outdated entries with a `_pk` after ?1.
    var forgetOutdated: String { "DELETE FROM \(Self.outdated(entity.name)) WHERE _pk > ?1" }

    /// True if a part has outdated entries.
    var isOutdated: String { "EXISTS (SELECT 1 FROM \(Self.outdated(entity.name)))" }
}

extension SearchTable {
    /// The error of a search in an entity that has no searched fields.
    static func missing(in entity: String) -> CacheError {
        .badQuery(field: "q", message: "the schema marks no field of \(entity) with search, so nothing can be found")
    }
}
