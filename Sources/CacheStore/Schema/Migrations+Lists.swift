extension Migrations {
    static let lists = """
        -- The upstream's own mark for what finished pulls brought: a token, or the address of the next request.
        ALTER TABLE sync_cursor ADD COLUMN delta TEXT;
        """
}
