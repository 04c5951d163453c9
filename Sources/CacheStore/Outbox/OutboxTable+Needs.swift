internal import EntitySchema
internal import GRDB
internal import JSONText

/// Which changes must be acknowledged before another is sent.
extension OutboxTable {
    /// `id` is the change's own, if it has one: only older changes come before it. `isFirst`: its record has no others.
    func needs(of change: NewChange, before id: Int64 = .max, isFirst: Bool = false) throws -> Set<Int64> {
        var needs = try referenceNeeds(of: change).union(partnerNeeds(of: change, before: id))
        if !isFirst { try needs.formUnion(recordNeeds(of: change, before: id)) }
        if let group = try groupNeed(of: change, before: id) { needs.insert(group) }
        needs.remove(id)
        return needs
    }

    /// The last change of the same group, which waits for those before it.
    private func groupNeed(of change: NewChange, before id: Int64) throws -> Int64? {
        try orderedTogether(with: change.entity).compactMap { try last(of: $0, in: change.group, before: id) }.max()
    }

    /// Whether a change that joined the change `id` would overtake one of another entity in its group.
    func isOvertaking(_ change: NewChange, joining id: Int64) throws -> Bool {
        try orderedTogether(with: change.entity).contains { entity in
            guard entity != change.entity.name, let last = try last(of: entity, in: change.group) else { return false }
            return last > id
        }
    }

    private func orderedTogether(with entity: Entity) -> [String] {
        records.plans[entity.name]?.orderedTogether ?? [entity.name]
    }

    /// Leaves out the failed changes of an entity that holds up no others when it has failed, and those that wait for a failed
    /// one.
    private func last(of entity: String, in group: String?, before id: Int64 = .max) throws -> Int64? {
        guard let group else { return nil }
        let holdsUp = schema[entity]?.holdsUpWhenFailed != false
        let condition = holdsUp ? "" : "AND state <> \(OutboxState.failed.sql)"
        var before = id
        while true {
            let last = try Int64.fetchOne(
                db.cachedStatement(
                    sql: "SELECT max(id) FROM sync_outbox WHERE entity = ? AND order_group = ? AND id < ? \(condition)"),
                arguments: [entity, group, before])
            guard let last, !holdsUp, try isHeldUp(last) else { return last }
            before = last
        }
    }

    /// The changes of the same record that come before it. Content and fields wait for each other only if they must, so
    /// that an edit does not wait for a large picture: content waits for the record's creation, a deletion for
    /// everything.
    private func recordNeeds(of change: NewChange, before id: Int64) throws -> [Int64] {
        // Backwards from the newest, so that an edit after thousands of others looks at one of them.
        func last(_ condition: String) throws -> Int64? {
            try Int64.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT id FROM sync_outbox WHERE entity = ? AND record_key = ? AND id < ? AND (\(condition))
                        ORDER BY id DESC LIMIT 1
                        """),
                arguments: [change.entity.name, change.key, id])
        }
        let content = "content IS NOT NULL AND operation <> 'create'"
        if change.content != nil, change.operation == .update {
            return try [last("operation = 'create'"), last(content)].compactMap(\.self)
        }
        let fields = try last("content IS NULL OR operation = 'create'")
        return try [fields, change.operation == .delete ? last(content) : nil].compactMap(\.self)
    }

    /// The creations of the records that the change refers to.
    func referenceNeeds(of change: NewChange) throws -> Set<Int64> {
        try creations(in: change.body, of: change.entity) { _ in true }
    }

    /// The creations of the records to which a body refers, in the fields that are asked for.
    func creations(in body: JSONText, of entity: Entity, where isAsked: (String) -> Bool) throws -> Set<Int64> {
        var creations: Set<Int64> = []
        for (field, target) in records.plans[entity.name]?.referring ?? [] where isAsked(field) {
            guard let key = body[field]?.plain else { continue }
            let creation = try Int64.fetchOne(
                db.cachedStatement(
                    sql: "SELECT id FROM sync_outbox WHERE entity = ? AND record_key = ? AND operation = 'create'"),
                arguments: [target, key])
            if let creation { creations.insert(creation) }
        }
        return creations
    }

    /// The creations of records that the server joins with this new one by a value (`waits_for`), but for those that it refused
    /// because it has the record. Upper and lower case count as the same, because servers compare email addresses so.
    func partnerNeeds(of change: NewChange, before id: Int64) throws -> [Int64] {
        guard change.operation == .create else { return [] }
        return try change.entity.fields.flatMap { field -> [Int64] in
            guard let other = field.waitsFor, let partner = schema[other.entity],
                let value = change.body[field.name], value != .null, !value.plain.isEmpty
            else { return [] }
            let table = EntityTable(entity: partner)
            return try Int64.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT change.id FROM \(table.name) AS record CROSS JOIN sync_outbox AS change
                          ON change.entity = ?1 AND change.record_key = record._key AND change.operation = 'create'
                        WHERE record._deleted = 0 AND \(table.sql(for: other.field, of: "record.")) = ?2 COLLATE NOCASE
                          AND change.id < ?3
                          AND NOT (change.state = \(OutboxState.failed.sql) AND change.error_class IS ?4)
                        """),
                arguments: [partner.name, value.plain, id, ErrorClass.conflict.rawValue])
        }
    }

    /// Lets a change that was edited wait for these alone: it may refer to other records, or be in another group. Those behind it
    /// in its former group go on waiting for those before it.
    func depend(_ id: Int64, onlyOn needs: Set<Int64>) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO sync_dependency
                SELECT waiting.change_id, needed.needs_id FROM sync_dependency AS waiting
                  JOIN sync_dependency AS needed ON needed.change_id = waiting.needs_id
                  JOIN sync_outbox AS later ON later.id = waiting.change_id
                  JOIN sync_outbox AS ahead ON ahead.id = needed.needs_id
                WHERE waiting.needs_id = ? AND later.order_group = ahead.order_group
                ON CONFLICT DO NOTHING
                """
        ).execute(arguments: [id])
        try db.cachedStatement(sql: "DELETE FROM sync_dependency WHERE change_id = ?").execute(arguments: [id])
        try depend(id, on: needs)
    }

    func depend(_ id: Int64, on needs: Set<Int64>) throws {
        for need in needs where need != id {
            try db.cachedStatement(sql: "INSERT INTO sync_dependency VALUES (?, ?) ON CONFLICT DO NOTHING")
                .execute(arguments: [id, need])
        }
    }
}
