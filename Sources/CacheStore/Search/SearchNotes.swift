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

    /// Nil when the schema marks no field of the entity.
    init?(_ entity: Entity) {
        guard let search = SearchTable(entity) else { return nil }
        self.search = search
    }

    var parts: [Part] {
        search.parts.map { Part(fields: $0.fields, note: note($0)) }
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

    private func note(_ part: SearchPart) -> String {
        """
        INSERT INTO \(SearchTable.outdated(search.entity.name)) (part, _pk, was_indexed, \(part.columnList))
        SELECT \(part.kind.rawValue), _pk, _deleted = 0, \(part.fields.map(search.value).joined(separator: ", "))
        FROM \(search.table.name) WHERE _pk = ?1 AND _pk <= \(indexedTo)
        ON CONFLICT DO NOTHING
        """
    }
}
