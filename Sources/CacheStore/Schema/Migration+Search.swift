extension Migrations {
    static let search = """
        -- The full-text index of each entity that has one: its definition, and the last indexed _pk. Records up to that
        -- _pk are indexed by the transaction that writes them, later ones in batches (SearchIndex).
        CREATE TABLE sync_search (
          entity TEXT PRIMARY KEY,
          definition TEXT NOT NULL,
          indexed_to INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """
}
