/// A second index in a temporary table, to compare the first one with.
extension SearchTable {
    /// Fills the temporary table `name` with what the part's index should have.
    func fillExpected(_ name: String, _ part: Part) -> String {
        let columns = part.columns.joined(separator: ", ")
        return """
            INSERT INTO temp.\(name) (rowid, \(columns))
              SELECT _pk, \(columns) FROM \(view) now
              WHERE _pk <= \(indexedTo) AND NOT EXISTS (SELECT 1 FROM \(outdated) old WHERE old._pk = now._pk)
              UNION ALL
              SELECT _pk, \(columns) FROM \(outdated) WHERE was_indexed
              ORDER BY _pk
            """
    }
}

extension SearchTable.Part {
    func createExpected(_ name: String) -> String {
        """
        CREATE VIRTUAL TABLE temp.\(name) USING fts5(\(columns.joined(separator: ", ")), content='', columnsize=0, \
        tokenize='\(tokenizer)')
        """
    }
}
