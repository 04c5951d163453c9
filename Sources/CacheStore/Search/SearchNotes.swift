internal import EntitySchema
internal import SQLiteStore

/// What a writer of records notes for an entity's full-text index, in SQL.
///
/// Before it changes or deletes a row that is indexed, the writer runs `note` of each part that has one of the changed
/// fields, or of all parts if `_deleted` changes or the row goes; after a deletion it runs `afterDeletion`. An insertion
/// needs no note: `SearchIndex` finds new records by their `_pk`.
struct SearchNotes {
    /// One part of the index.
    struct Part {
        /// The names of the fields that it indexes.
        var fields: [String]
        /// Saves the indexed values of the row with the `_pk` ?1, which is indexed. The index has the values from before
        /// the first change, so later notes of the same row are ignored.
        var reading: String
        /// The same with `was_indexed` as ?2 and the values as the parameters from ?3 on.
        var taking: String
        /// Whether the values are without the separators of numbers (`FragmentMark.bare`).
        var leavesOutSeparators: Bool
    }

    let search: SearchTable

    /// Nil when the schema marks no field of the entity.
    init?(_ entity: Entity) {
        guard let search = SearchTable(entity) else { return nil }
        self.search = search
    }

    var parts: [Part] {
        search.parts.map { part in
            let record = part.fields.map(search.value).joined(separator: ", ")
            let values = part.fields.indices.map { "?\($0 + 3)" }.joined(separator: ", ")
            let kind = part.kind.rawValue
            return Part(
                fields: part.fields,
                reading: note(
                    part, "SELECT \(kind), _pk, _deleted = 0, \(record) FROM \(search.table.name) WHERE _pk = ?1"),
                taking: note(part, "VALUES (\(kind), ?1, ?2, \(values))"), leavesOutSeparators: part.kind == .fragments)
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

    /// How far the index is (`RecordTransaction.indexedTo`).
    var indexedTo: String { "SELECT indexed_to FROM sync_search WHERE entity = '\(search.entity.name)'" }

    private func note(_ part: SearchPart, _ values: String) -> String {
        """
        INSERT INTO \(SearchTable.outdated(search.entity.name)) (part, _pk, was_indexed, \(part.columnList))
        \(values) ON CONFLICT DO NOTHING
        """
    }
}
