internal import EntitySchema

/// A second index in a temporary table, to compare the first one with.
extension SearchTable {
    /// Fills the temporary table `name` with what the part's index should have.
    func fillExpected(_ name: String, _ part: SearchPart) -> String {
        let outdated = Self.outdated(entity.name)
        return """
            INSERT INTO temp.\(name) (rowid, \(part.columnList))
              SELECT _pk, \(part.columnList) FROM (\(searched)) now
              WHERE _pk <= \(Self.indexedTo(entity.name)) AND NOT EXISTS (
                SELECT 1 FROM \(outdated) old WHERE old.part = \(part.kind.rawValue) AND old._pk = now._pk)
              UNION ALL
              SELECT _pk, \(part.columnList) FROM \(outdated) WHERE part = \(part.kind.rawValue) AND was_indexed
              ORDER BY _pk
            """
    }
}

extension SearchPart {
    func createExpected(_ name: String) -> String {
        """
        CREATE VIRTUAL TABLE temp.\(name) USING fts5(\(columnList), content='', columnsize=0, \(tokenizer))
        """
    }
}
