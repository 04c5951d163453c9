package import EntitySchema
internal import GRDB
internal import SQLiteStore

/// What the database says of itself: settings, account, origin.
extension CacheStore {
    package func setting(_ name: String) throws -> String? {
        try read { db in
            try String.fetchOne(
                db.cachedStatement(sql: "SELECT value FROM sync_setting WHERE name = ?"), arguments: [name])
        }
    }

    package func setSetting(_ name: String, to value: String) async throws {
        try await writer.write { db in
            try db.execute(
                sql: "INSERT INTO sync_setting VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
                arguments: [name, value])
        }
    }

    /// Writes down whose records these are, unless the file says so already or the address is not known.
    package func claim(for origin: CacheOrigin) async throws {
        guard let upstream = origin.upstream, try setting("upstream") == nil else { return }
        try await setSetting("schema", to: origin.schema)
        try await setSetting("upstream", to: upstream)
    }

    /// Writes down whose records these are. What depends on the account is worked out anew.
    package func setAccount(_ account: String, at now: Timestamp) async throws {
        try await setSetting("account", to: account)
        try await change(at: now) { db in
            for entity in schema.entities where !entity.derivedFields.isEmpty {
                try DerivedRefresh.noteAll(of: entity, db)
            }
        }
    }

    // MARK: Rescue

    /// See `QueueRescue.note`.
    package func rescueNote() throws -> QueueRescue.Report? {
        QueueRescue.note(try setting(QueueRescue.noteSetting), at: pool.path)
    }
}
