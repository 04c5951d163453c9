internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore
internal import Secrets

/// Adapts what is stored to the schema's secrets: seals what has become secret, opens what no longer is.
///
/// The sealed places of each entity are recorded, so nothing is guessed from what a value looks like (`SealedPlaces`).
/// Runs in the transaction that opens the cache, and is idempotent.
struct SealingAdapter {
    private static let keySetting = "secrets_key"
    private static let scrubSetting = "secrets_scrub"
    private static let batch = 500

    let records: RecordTransaction
    let sealer: SecretSealer

    private var schema: EntitySchema { records.plans.schema }
    private var db: Database { records.db }
    private var settings: SettingTable { SettingTable(db: db) }

    /// Throws `.incompatible` when the cache was sealed with another key.
    func adapt() throws {
        try requireKey()
        for entity in schema.entities { try adapt(entity) }
    }

    private func requireKey() throws {
        let known = try settings[Self.keySetting]
        guard known == nil || known == sealer.mark else {
            throw CacheError.incompatible(
                """
                the secrets in this cache were sealed with another key; restore secret.key in state_dir, or set \
                secret_key_file to the right one. If the key is lost, docs/guides/securing.md says how to continue without it
                """)
        }
        if known == nil, schema.entities.contains(where: { !$0.secretPlaces.isEmpty }) {
            try settings.set(Self.keySetting, to: sealer.mark)
        }
    }

    // MARK: One entity

    private func adapt(_ entity: Entity) throws {
        var file: [String: String] = [:]
        for name in SealedPlaces.settings(of: entity.name) { file[name] = try settings[name] }
        let known = SealedPlaces(of: entity, in: file)
        // Changes that came while the schema did not have the entity, without a list, are sealed as here.
        let isSealed = try !known.isListed && LateChanges(db).first(of: entity.name) != nil
        if !isSealed, let conversion = try known.conversion(sealer) { try convert(entity, conversion) }
        for (name, value) in known.wanted(sealer) { try settings.set(name, to: value) }
    }

    private func convert(_ entity: Entity, _ conversion: SealedPlaces.Conversion) throws {
        try convertRecords(entity, conversion)
        try convertQueue(entity, conversion)
        try convertConflicts(entity, conversion)
        try db.execute(sql: "DELETE FROM sync_settling WHERE entity = ?", arguments: [entity.name])
        if !conversion.sealing.places.isEmpty {
            // They are truncated and cannot be parsed; they come again if the upstream still has them.
            try db.execute(sql: "DELETE FROM sync_set_aside WHERE entity = ?", arguments: [entity.name])
            try forgetQuotes(entity)
            try requestScrubbing()
        }
    }

    private func convertRecords(_ entity: Entity, _ conversion: SealedPlaces.Conversion) throws {
        let writer = records.writer(EntityTable(entity: entity))
        var last: Int64 = 0
        while true {
            let images = try writer.images(after: last, limit: Self.batch)
            for old in images {
                var new = old
                new.remote = try old.remote.map(conversion.converted)
                new.local = try old.local.map(conversion.converted)
                new.show(try old.shown.map(conversion.converted))
                try writer.update(old, to: new)
            }
            guard let end = images.last else { return }
            last = end.pk
        }
    }

    private func convertQueue(_ entity: Entity, _ conversion: SealedPlaces.Conversion) throws {
        let rows = try Row.fetchAll(
            db, sql: "SELECT id, body, base FROM sync_outbox WHERE entity = ?", arguments: [entity.name])
        for row in rows {
            let body = try JSONText(parsing: row["body"] as String)
            if let field = conversion.unreadable(in: body).first {
                throw CacheError.incompatible(
                    """
                    change \(row["id"] as Int64) of \(entity.name) sets \(field), which cannot be decrypted; \
                    mark \(field) as secret again, then discard the change
                    """)
            }
            try db.execute(
                sql: "UPDATE sync_outbox SET body = ?, base = ?, sent = NULL WHERE id = ?",
                arguments: [
                    conversion.converted(body).text, conversion.converted(row["base"] as String?), row["id"] as Int64,
                ])
        }
    }

    private func convertConflicts(_ entity: Entity, _ conversion: SealedPlaces.Conversion) throws {
        let rows = try Row.fetchAll(
            db, sql: "SELECT id, field, base, local, server FROM sync_conflict WHERE entity = ?",
            arguments: [entity.name])
        for row in rows {
            let field: String? = row["field"]
            let sides = try ["base", "local", "server"].map { column -> String? in
                guard let text: String = row[column], let field else { return try conversion.converted(row[column]) }
                let value = JSONText.object(members: [(key: field, value: try JSONText(parsing: text))])
                return try conversion.converted(value)[field]?.text
            }
            try db.execute(
                sql: "UPDATE sync_conflict SET base = ?, local = ?, server = ? WHERE id = ?",
                arguments: [sides[0], sides[1], sides[2], row["id"] as Int64])
        }
    }

    /// Removes copies of values: errors may quote what was sent, the history has it, stored answers hold records. The
    /// answers' keys stay, so a repeated call still does nothing a second time.
    private func forgetQuotes(_ entity: Entity) throws {
        try db.execute(
            sql: "UPDATE sync_outbox SET error_message = '…' WHERE entity = ? AND error_message IS NOT NULL",
            arguments: [entity.name])
        try db.execute(
            sql: """
                UPDATE sync_change_log SET detail = json_remove(detail, '$.values', '$.error', '$.reminder.text')
                WHERE entity = ? AND detail IS NOT NULL
                """, arguments: [entity.name])
        try db.execute(sql: "UPDATE sync_answer SET answer = '{}'")
    }

    // MARK: Scrubbing the file

    /// A cache that was never used has no old values in its free pages.
    private func requestScrubbing() throws {
        let isUsed = try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM sync_change_log)") ?? false
        if isUsed { try settings.set(Self.scrubSetting, to: "1") }
    }

    /// Rewrites the whole file where clear text may be left in it: in free pages, in the gaps of used ones, and in the
    /// write-ahead log. `secure_delete` would not be enough, since it spares what was freed before.
    ///
    /// If a crash or a reader of the file interrupts it, the next start does it.
    static func scrub(_ pool: DatabasePool) throws {
        do {
            try pool.writeWithoutTransaction { db in
                guard try SettingTable(db: db)[scrubSetting] != nil else { return }
                // The secrets in its temporary copy are sealed.
                try db.vacuum()
                _ = try db.checkpoint(.truncate)
                try SettingTable(db: db).remove(scrubSetting)
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {}
    }
}
