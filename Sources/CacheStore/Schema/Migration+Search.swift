extension Migrations {
    static let search = """
        -- The full-text index of each entity that has one: what it was made for, and up to which _pk it goes. Records
        -- up to there are indexed by the transaction that writes them, those after it in batches (SearchIndex).
        CREATE TABLE sync_search (
          entity TEXT PRIMARY KEY,
          definition TEXT NOT NULL,
          indexed_to INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """
}
