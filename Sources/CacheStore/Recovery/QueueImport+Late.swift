internal import EntitySchema
internal import GRDB
internal import SQLiteStore

/// Changes that were imported while the schema did not have their entity: no record shows them until it does.
extension QueueImport {
    private static func setting(_ entity: String) -> String { "late:\(entity)" }

    /// Notes that a change of this entity is queued without a record.
    func noteLate(_ entity: String) throws {
        try SettingTable(db: context.db).set(Self.setting(entity), to: "1")
    }

    /// Gives such changes their records, and has them wait for what comes before them, if the schema has their entity by
    /// now. Without that, an edit of such a record would know nothing of them, and could be sent first.
    func layLate() throws {
        let settings = SettingTable(db: context.db)
        let late = try context.schema.entities.filter { try settings[Self.setting($0.name)] != nil }
        guard !late.isEmpty else { return }
        let entities = Dictionary(uniqueKeysWithValues: late.map { ($0.name, $0) })
        let changes = try ExportedChange.fetchAll(context.db, sql: "SELECT * FROM sync_outbox ORDER BY id")
            .compactMap { change in entities[change.entity].map { (change, $0) } }
        for (change, entity) in changes { try keepRecord(of: change, entity) }
        var merged: Set<[String]> = []
        for (change, entity) in changes where merged.insert([entity.name, change.recordKey]).inserted {
            try Merge(table: EntityTable(entity: entity), context: context).mergeRemote(of: change.recordKey)
        }
        // The merge may have dropped some.
        for (change, entity) in changes where try context.queue.entry(change.id) != nil {
            try depend(change.id, change, entity)
        }
        for entity in late { try settings.remove(Self.setting(entity.name)) }
    }
}
