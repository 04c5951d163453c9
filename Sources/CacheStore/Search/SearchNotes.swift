internal import EntitySchema
internal import SQLiteStore

/// What a writer of records notes for an entity's full-text index, in SQL.
///
/// Before it changes or deletes a row, the writer runs `note` of each part that has one of the changed fields, or of all
/// parts if `_deleted` changes or the row goes; after a deletion it runs `afterDeletion`. An insertion needs no note:
/// `SearchIndex` finds new records by their `_pk`.
struct SearchNotes {
    /// One part of the index.
    struct Part {
        /// The names of the fields that it indexes.
        var fields: [String]
        /// Saves the indexed values of the row with the `_pk` ?1. The index has the values from before the first
        /// change, so later notes of the same row are ignored, as are those of rows that are not indexed yet.
        var note: String
    }

    let search: SearchTable

    init(search: SearchTable) {
        self.search = search
    }

    /// Nil when the schema marks no field of the entity.
    init?(_ entity: Entity) {
        guard let search = SearchTable(entity) else { return nil }
        self.init(search: search)
    }

    var parts: [Part] {
        search.parts.map { part in
            Part(
                fields: part.fields,
                note: note(part, "", "FROM \(search.table.name) WHERE _pk = ?1 AND _pk <= \(indexedTo)"))
        }
    }

    /// SQLite reuses the greatest `_pk` once its row is deleted, so `indexed_to` must not exceed the greatest that
    /// exists.
    var afterDeletion: String {
        let greatest = "(SELECT coalesce(max(_pk), 0) FROM \(search.table.name))"
        return """
            UPDATE sync_search SET indexed_to = \(greatest)
            WHERE entity = '\(search.entity.name)' AND indexed_to > \(greatest)
            """
    }

    private var indexedTo: String { SearchTable.indexedTo(search.entity.name) }

    /// `row` is empty or `OLD.`; `rows` are those to save.
    private func note(_ part: SearchPart, _ row: String, _ rows: String) -> String {
        let values = part.fields.map { search.value(of: $0, in: row) }.joined(separator: ", ")
        return """
            INSERT INTO \(SearchTable.outdated(search.entity.name)) (part, _pk, was_indexed, \(part.columnList))
            SELECT \(part.kind.rawValue), \(row)_pk, \(row)_deleted = 0, \(values)
            \(rows)
            ON CONFLICT DO NOTHING
            """
    }

    // MARK: Triggers

    /// The same for every writer, as triggers on the table of records.
    var triggers: [String] { [changed, deleted] }

    static func dropTriggers(_ entity: String) -> String {
        ["changed", "deleted"].map { "DROP TRIGGER IF EXISTS \(trigger(entity, $0));" }.joined(separator: "\n")
    }

    private static func trigger(_ entity: String, _ event: String) -> String {
        "\"sync_\(entity)_\(event)_for_search\""
    }

    /// True if one of the fields has changed, or `_deleted` has.
    private func differ(_ fields: [String]) -> String {
        func row(_ name: String) -> String {
            (["\(name)_deleted"] + fields.map { search.source(of: $0, in: name) }).joined(separator: ", ")
        }
        return "(\(row("OLD."))) IS NOT (\(row("NEW.")))"
    }

    private var changed: String {
        let notes = search.parts.map { note($0, "OLD.", "WHERE \(differ($0.fields))") + ";" }
        return """
            CREATE TRIGGER \(Self.trigger(search.entity.name, "changed"))
            AFTER UPDATE OF _key, _remote, _document, _deleted ON \(search.table.name)
            WHEN OLD._pk <= \(indexedTo) AND \(differ(search.fields)) BEGIN
            \(notes.joined(separator: "\n"))
            END
            """
    }

    private var deleted: String {
        let notes = search.parts.map { note($0, "OLD.", "WHERE OLD._pk <= \(indexedTo)") + ";" }
        return """
            CREATE TRIGGER \(Self.trigger(search.entity.name, "deleted")) AFTER DELETE ON \(search.table.name) BEGIN
            \(notes.joined(separator: "\n"))
            \(afterDeletion);
            END
            """
    }
}
