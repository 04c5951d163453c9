package import EntitySchema
internal import GRDB
internal import SQLiteStore

/// The database's settings, account and origin.
extension CacheStore {
    package func setting(_ name: String) throws -> String? {
        try readers.read { connection in
            var value: String?
            try connection.query(queries.setting, [name.databaseValue]) { row in
                value = BoundStatement(row).text(0)
                return false
            }
            return value
        }
    }

    package func setSetting(_ name: String, to value: String) async throws {
        try await writer.write { db in try SettingTable(db: db).set(name, to: value) }
    }

    /// Stores the origin of the records, unless the file has one already or the address is not known.
    package func claim(for origin: CacheOrigin) async throws {
        guard let upstream = origin.upstream, try setting("upstream") == nil else { return }
        try await setSetting("schema", to: origin.schema)
        try await setSetting("upstream", to: upstream)
    }

    /// The id of the upstream's account whose records these are; nil while it is not known.
    package func account() throws -> String? { try setting("account") }

    /// Stores the account. Fields that depend on it are computed again.
    package func setAccount(_ account: String, at now: Timestamp) async throws {
        try await change(at: now) { [self] context in
            try SettingTable(db: context.db).set("account", to: account)
            let refresh = DerivedRefresh(records: context.records, now: now)
            for entity in schema.entities where !entity.derivedFields.isEmpty { try refresh.recomputeAll(of: entity) }
        }
    }

    /// For the defaults of records that are created from now on.
    package func setAccountName(_ name: String) async throws {
        guard try setting(SettingTable.accountName) != name else { return }
        try await setSetting(SettingTable.accountName, to: name)
    }

    // MARK: Rescue

    /// See `QueueRescue.note`.
    package func rescueNote() throws -> QueueRescue.Report? {
        QueueRescue.note(try setting(QueueRescue.noteSetting), at: pool.path)
    }
}
