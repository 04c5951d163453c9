internal import EntitySchema

/// What a writer of records notes for an entity's full-text index, in SQL.
///
/// Before it changes or deletes a row that is indexed, the writer saves the values of each part that has one of the changed
/// fields, or of all parts if `_deleted` changes or the row goes; after a deletion it runs `afterDeletion`. An insertion
/// needs no note: `SearchIndex` finds new records by their `_pk`.
extension SearchTable {
    /// Saves what a part has of the row with the `_pk` ?1, which is indexed. The index has the values from before the first
    /// change, so later notes of the same row are ignored.
    func noteReading(_ part: SearchPart) -> String {
        let record = part.fields.map(value).joined(separator: ", ")
        let columns = "\(part.kind.rawValue), _pk, _deleted = 0, \(record)"
        return note(part, "SELECT \(columns) FROM \(table.name) WHERE _pk = ?1")
    }

    /// The same with `was_indexed` as ?2 and the values as the parameters from ?3 on.
    func noteTaking(_ part: SearchPart) -> String {
        let values = part.fields.indices.map { "?\($0 + 3)" }.joined(separator: ", ")
        return note(part, "VALUES (\(part.kind.rawValue), ?1, ?2, \(values))")
    }

    private func note(_ part: SearchPart, _ values: String) -> String {
        """
        INSERT INTO \(Self.outdated(entity.name)) (part, _pk, was_indexed, \(part.columnList))
        \(values) ON CONFLICT DO NOTHING
        """
    }

    /// SQLite reuses the greatest `_pk` once its row is deleted, so `indexed_to` must not exceed the greatest that
    /// exists.
    var afterDeletion: String {
        """
        UPDATE sync_search SET indexed_to = \(greatestPK)
        WHERE entity = '\(entity.name)' AND indexed_to > \(greatestPK)
        """
    }

    /// How far the index is (`RecordTransaction.indexedTo`).
    var end: String { "SELECT indexed_to FROM sync_search WHERE entity = '\(entity.name)'" }

    /// The most records that the index can be behind; null without an index.
    var lag: String { "SELECT \(greatestPK) - \(Self.indexedTo(entity.name))" }

    private var greatestPK: String { "(SELECT coalesce(max(_pk), 0) FROM \(table.name))" }
}
