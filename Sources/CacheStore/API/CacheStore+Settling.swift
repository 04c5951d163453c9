package import EntitySchema
internal import GRDB
package import JSONText

/// Records whose acknowledged changes the upstream may not show everywhere yet.
extension CacheStore {
    /// A record that has to be read once, because the time to settle is over and the server has not shown its change.
    package struct UnconfirmedRecord: Sendable, Equatable {
        package var entity: String
        package var key: String
        /// When its last change was acknowledged.
        package var at: Timestamp
        /// It was created here, and the server may never have shown it.
        package var isCreated: Bool
        /// It was deleted here, and a list still shows it.
        package var isDeleted: Bool
    }

    /// Up to `limit` such records of each entity, the oldest first: those of one that must wait do not hold up the others.
    /// Forgets those that need no reading any more.
    ///
    /// What the upstream answers is the truth: apply it as a page with the view `.single`, or forget the record. Either
    /// way, call `endSettling` if the upstream cannot be asked for such a record.
    package func unconfirmed(limit: Int, at now: Timestamp) async throws -> [UnconfirmedRecord] {
        let over = (now - schema.upstream.settle).milliseconds
        guard try hasSettled(until: over, at: now) else { return [] }
        return try await change(at: now) { context in
            // A clock that was set back starts the time again.
            try context.db.execute(
                sql: "UPDATE sync_settling SET at = ?1 WHERE at > ?1", arguments: [now.milliseconds])
            // A deletion is also needed by the pulls under way; the next page of its list forgets it.
            try context.db.execute(
                sql: "DELETE FROM sync_settling WHERE at <= ? AND confirmed = 1 AND kind <> 'deleted'",
                arguments: [over])
            let rows = try Row.fetchAll(
                context.db,
                sql: """
                    SELECT entity, record_key, at, kind FROM (
                      SELECT *, row_number() OVER (PARTITION BY entity ORDER BY at) AS place FROM sync_settling
                      WHERE at <= ? AND confirmed = 0)
                    WHERE place <= ? ORDER BY at
                    """,
                arguments: [over, limit])
            return try rows.compactMap { row in
                let (name, key): (String, String) = (row[0], row[1])
                guard context.table(name) != nil else {
                    try SettlingTable(entity: name, db: context.db).remove(key)
                    return nil
                }
                let kind = Settling.Kind(rawValue: row[3])
                return UnconfirmedRecord(
                    entity: name, key: key, at: Timestamp(milliseconds: row[2]), isCreated: kind == .created,
                    isDeleted: kind == .deleted)
            }
        }
    }

    /// The server's last version of such a record without its secrets; only the key if it was deleted. Apart from the list,
    /// because together they can be larger than the memory.
    package func known(of record: UnconfirmedRecord) throws -> JSONText {
        let table = try table(record.entity)
        let remote = try read { db in try RecordRow(table: table, db: db).remote(of: record.key) }
        return remote.map(sealers[record.entity].withoutSealed)
            ?? .object(members: [(table.entity.key, .string(record.key))])
    }

    private func hasSettled(until over: Int64, at now: Timestamp) throws -> Bool {
        try read { db in
            try Bool.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT EXISTS (SELECT 1 FROM sync_settling
                          WHERE at <= ?1 AND (kind <> 'deleted' OR confirmed = 0) OR at > ?2)
                        """),
                arguments: [over, now.milliseconds]) ?? false
        }
    }

    /// Takes the record as it is cached for what the server has, from now on.
    package func endSettling(_ entity: String, key: String, at now: Timestamp) async throws {
        try await change(at: now) { context in try SettlingTable(entity: entity, db: context.db).remove(key) }
    }

    /// Ends settling, and has the next pull of the entity's list read all of it.
    package func leaveToFullPull(_ entity: String, key: String, at now: Timestamp) async throws {
        try await change(at: now) { context in
            try SettlingTable(entity: entity, db: context.db).remove(key)
            try CursorRow(entity: entity, db: context.db).change { $0.lastFullAt = nil }
        }
    }

    /// Notes that a record which was deleted here is not there, whatever a list shows: the time to settle starts again.
    package func stillDeleted(_ entity: String, key: String, at now: Timestamp) async throws {
        try await change(at: now) { context in
            try context.db.cachedStatement(
                sql: """
                    UPDATE sync_settling SET at = ?, confirmed = 1
                    WHERE entity = ? AND record_key = ? AND kind = 'deleted'
                    """
            ).execute(arguments: [now.milliseconds, entity, key])
        }
    }

    /// Whether a record that was just read may show one of these fields as it was before a change from here.
    package func mayBeBehind(
        _ record: JSONText, in fields: [String], of entity: Entity, key: String, at now: Timestamp
    ) throws -> Bool {
        try read { db in
            let row = try SettlingTable(entity: entity.name, db: db).alive(key, at: now, schema.upstream.settle)
            guard let row else { return false }
            let meaning = Meaning(entity, forms: try NormalFormTable(db: db).forms(of: entity.name))
            let comparison = ValueComparison(meaning: meaning, sealer: sealers[entity.name])
            return fields.contains { field in
                guard let part = row.parts[field], let value = entity.value(of: field, in: record) else { return false }
                return part.mayHaveHad(value, of: field, comparison)
            }
        }
    }

    /// Whether the upstream may still show one of these fields of a record as it was before a change from here.
    package func isSettling(_ fields: [String], of entity: String, key: String, at now: Timestamp) throws -> Bool {
        try read { db in
            let row = try SettlingTable(entity: entity, db: db).alive(key, at: now, schema.upstream.settle)
            return fields.contains { row?.parts[$0] != nil }
        }
    }

    /// Whether the record was created here, or moved to another address, so recently that its absence upstream says nothing.
    package func isNew(_ entity: String, key: String, at now: Timestamp) throws -> Bool {
        let created = try read { db in
            try SettlingTable(entity: entity, db: db).created(after: now - schema.upstream.settle)
        }
        if created.contains(key.exact) { return true }
        guard let fields = schema[entity]?.addressFields, !fields.isEmpty else { return false }
        return try isSettling(fields, of: entity, key: key, at: now)
    }

    /// Whether the server's version of the record came so recently that a server which is behind may lack the record.
    package func hasJustCome(_ entity: String, key: String, at now: Timestamp) throws -> Bool {
        let table = try table(entity)
        let cameAt = try read { db in
            try RecordRow(table: table, db: db).syncedAt(of: KeyAlias.current(of: key, entity, db))
        }
        // A clock that was set back makes nothing new.
        return cameAt.map { $0 <= now && now.since($0) < schema.upstream.settle } ?? false
    }
}
