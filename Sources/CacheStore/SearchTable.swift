internal import EntitySchema

/// How one entity's full-text index stands in SQL.
///
/// Two FTS5 tables without text of their own: one of words, one of trigrams for the fields that are found by any part of
/// them, separators aside. What they hold is what readers see: `coalesce(_document, _remote)` of records that are not
/// deleted. Triggers keep what is indexed in step with every change and deletion, whoever makes it, in its own
/// transaction; a change that touches no searched field costs a comparison. New records are added by `SearchIndex`.
struct SearchTable {
    let table: EntityTable
    /// The fields of each kind, in the schema's order.
    let words: [String]
    let fragments: [String]

    /// What people write between the digits of a number: left out of what is indexed and of what is looked for.
    static let separators = " -()./+_:\u{00A0}\u{2009}\u{202F}\u{2010}\u{2011}\u{2013}"

    /// Nil when the schema marks no field of the entity.
    init?(_ entity: Entity) {
        table = EntityTable(entity: entity)
        words = entity.fields.filter { $0.search == .words && !$0.secret }.map(\.name)
        fragments = entity.fields.filter { $0.search == .fragments && !$0.secret }.map(\.name)
        if words.isEmpty && fragments.isEmpty { return nil }
    }

    var entity: Entity { table.entity }

    /// The words that a title is made of, which count for more.
    var titleWords: [String] {
        let holes = Set(entity.titles.flatMap(\.holes))
        return words.filter(holes.contains)
    }

    // MARK: Names

    var wordsName: String { Self.wordsName(entity.name) }
    var fragmentsName: String { Self.fragmentsName(entity.name) }
    var view: String { Self.view(entity.name) }

    static func wordsName(_ entity: String) -> String { "\"sync_\(entity)_words\"" }
    static func fragmentsName(_ entity: String) -> String { "\"sync_\(entity)_fragments\"" }
    static func view(_ entity: String) -> String { "\"sync_\(entity)_searched\"" }

    /// Takes all of it away, whichever parts there are.
    static func drop(_ entity: String) -> String {
        """
        DROP TRIGGER IF EXISTS \(trigger(entity, "changed"));
        DROP TRIGGER IF EXISTS \(trigger(entity, "deleted"));
        DROP TABLE IF EXISTS \(wordsName(entity));
        DROP TABLE IF EXISTS \(fragmentsName(entity));
        DROP VIEW IF EXISTS \(view(entity));
        """
    }

    private static func trigger(_ entity: String, _ event: String) -> String {
        "\"sync_\(entity)_\(event)_for_search\""
    }

    /// A field's column in view and index; FTS5 has words of its own that could be fields' names.
    static func column(_ field: String) -> String { "f_\(field)" }

    // MARK: Making it

    /// The same text, the same index: the statements and the columns that they draw from.
    var definition: String {
        let drawn = table.columns.filter { words.contains($0.name) || fragments.contains($0.name) }
        return ([create] + drawn.map(\.definition)).joined(separator: "\n")
    }

    var create: String {
        ([createView] + parts.map(\.create) + [changed, deleted]).joined(separator: ";\n") + ";"
    }

    /// Adds the records with a `_pk` after ?1 and up to ?2.
    var append: [String] {
        parts.map { part in
            let columns = part.fields.map(Self.column).joined(separator: ", ")
            return """
                INSERT INTO \(part.name) (rowid, \(columns)) SELECT _pk, \(columns) FROM \(view)
                WHERE _pk > ?1 AND _pk <= ?2
                """
        }
    }

    private struct Part {
        var name: String
        var fields: [String]
        var view: String
        var tokenizer: String

        var create: String {
            """
            CREATE VIRTUAL TABLE \(name) USING fts5(\(fields.map(SearchTable.column).joined(separator: ", ")), \
            content=\(view), content_rowid=_pk, tokenize='\(tokenizer)')
            """
        }
    }

    private var parts: [Part] {
        [
            Part(name: wordsName, fields: words, view: view, tokenizer: "unicode61 remove_diacritics 2"),
            Part(name: fragmentsName, fields: fragments, view: view, tokenizer: "trigram"),
        ].filter { !$0.fields.isEmpty }
    }

    private var createView: String {
        let columns = (words + fragments).map { "\(value(of: $0, in: "")) AS \(Self.column($0))" }
        return """
            CREATE VIEW \(view) AS SELECT _pk, \(columns.joined(separator: ", ")) FROM \(table.name) WHERE _deleted = 0
            """
    }

    /// What is indexed of a field; `row` is empty, `OLD.` or `NEW.`.
    private func value(of field: String, in row: String) -> String {
        let column = "\(row)\"\(field)\""
        guard fragments.contains(field) else { return column }
        return Self.separators.unicodeScalars.reduce(column) { "replace(\($0), char(\($1.value)), '')" }
    }

    // MARK: Triggers

    private var indexedTo: String { "(SELECT indexed_to FROM sync_search WHERE entity = '\(entity.name)')" }

    private var changed: String {
        let fields = ["_deleted"] + (words + fragments).map { "\"\($0)\"" }
        let old = fields.map { "OLD.\($0)" }.joined(separator: ", ")
        let new = fields.map { "NEW.\($0)" }.joined(separator: ", ")
        return """
            CREATE TRIGGER \(Self.trigger(entity.name, "changed"))
            AFTER UPDATE OF _key, _remote, _document, _deleted ON \(table.name)
            WHEN OLD._pk <= \(indexedTo) AND (\(old)) IS NOT (\(new)) BEGIN
            \(parts.map(remove).joined())\(parts.map(add).joined())END
            """
    }

    /// A `_pk` is used again once it was the greatest and went, so the index must not claim to go beyond what there is.
    private var deleted: String {
        let greatest = "(SELECT coalesce(max(_pk), 0) FROM \(table.name))"
        return """
            CREATE TRIGGER \(Self.trigger(entity.name, "deleted")) AFTER DELETE ON \(table.name) BEGIN
            \(parts.map { remove($0, where: " AND OLD._pk <= \(indexedTo)") }.joined())\
            UPDATE sync_search SET indexed_to = \(greatest) WHERE entity = '\(entity.name)' AND indexed_to > \(greatest);
            END
            """
    }

    private func remove(_ part: Part) -> String { remove(part, where: "") }

    /// FTS5 must be told to the letter what it indexed (https://sqlite.org/fts5.html#the_delete_command).
    private func remove(_ part: Part, where condition: String) -> String {
        """
        INSERT INTO \(part.name) (\(part.name), rowid, \(part.fields.map(Self.column).joined(separator: ", ")))
          SELECT 'delete', OLD._pk, \(part.fields.map { value(of: $0, in: "OLD.") }.joined(separator: ", "))
          WHERE OLD._deleted = 0\(condition);

        """
    }

    private func add(_ part: Part) -> String {
        """
        INSERT INTO \(part.name) (rowid, \(part.fields.map(Self.column).joined(separator: ", ")))
          SELECT NEW._pk, \(part.fields.map { value(of: $0, in: "NEW.") }.joined(separator: ", "))
          WHERE NEW._deleted = 0;

        """
    }
}
