internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// Changes that were imported while the schema did not have their entity: no record shows them until it does.
extension QueueImport {
    private var late: LateChanges { LateChanges(context.db) }

    /// Notes that this change is queued without a record.
    func noteLate(_ id: Int64, _ entity: String) throws { try late.note(id, of: entity) }

    /// The change without values that are sealed in the database that it comes from and would not be here, or the other way
    /// round. It fails if it sets one: without the schema, nothing can convert it.
    func sealedAsHere(_ given: ExportedChange) throws -> ExportedChange {
        let isNew = try !context.db.tableExists(EntityTable.prefix + given.entity)
        let places = try SealedPlaces.adopt(
            given.entity, from: settings, isNew: isNew, SettingTable(db: context.db), context.sealers.sealer)
        guard !places.isEmpty else { return given }
        let sealer = RecordSealer(places, context.sealers.sealer)
        let (body, base) = (try JSONText(parsing: given.body), try JSONText(parsing: given.base))
        var change = given
        if let field = sealer.fields(in: body).first { fail(&change, .sealed, Self.unproven(field)) }
        change.body = sealer.withoutSealed(body).text
        change.base = sealer.withoutSealed(base).text
        (change.conflicts, change.sent) = (nil, nil)
        return change
    }

    /// Gives such changes their records, and has them wait for what comes before them, if the schema has their entity by
    /// now. Without that, an edit of such a record would know nothing of them, and could be sent first.
    func layLate() throws {
        let known = try late.known(in: context.schema)
        guard !known.isEmpty else { return }
        let changes = try known.flatMap { entity, first in try restored(first, entity) }.sorted { $0.id < $1.id }
        var unmerged = UnmergedRecords()
        for change in changes {
            guard let entity = context.schema[change.entity] else { continue }
            if isForPartners(change, entity) { try merge(&unmerged) }
            // A merge may have dropped it.
            guard try context.queue.entry(change.id) != nil else { continue }
            try depend(change.id, change, entity, isLaid: true)
            unmerged.insert(entity, change.recordKey)
        }
        try merge(&unmerged)
        for (entity, _) in known { try late.forget(entity.name) }
    }

    /// The entity's changes from this one on, as they would be if the schema had had it when they came.
    private func restored(_ first: Int64, _ entity: Entity) throws -> [ExportedChange] {
        let stored = try ExportedChange.fetchAll(
            context.db, sql: "SELECT * FROM sync_outbox WHERE entity = ? AND id >= ? ORDER BY id",
            arguments: [entity.name, first])
        return try zip(stored, Self.withRecords(stored)).map { stored, given in
            var change = try prepared(given, entity)
            try CarriedRecord(of: change, entity, context).keep()
            change.record = stored.record
            if change != stored { try replace(change) }
            return change
        }
    }

    private func replace(_ change: ExportedChange) throws {
        try context.db.execute(sql: "DELETE FROM sync_outbox WHERE id = ?", arguments: [change.id])
        _ = try insert(change, id: change.id)
        // It was counted when it came.
        try ContentTable(db: context.db).countQueued(change.content, -1)
    }
}
