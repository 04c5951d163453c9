internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// Applies the schema's delete rules to the records that refer to one whose deletion is about to be queued.
///
/// Only references set to null are sent. An upstream deletes the dependent records itself, and here they are hidden for
/// as long as the deletion is queued (`RecordRow.rebuildDocument`). What has been moved or deleted here is still there
/// upstream until its change has been sent: the deletion waits for that.
struct DeleteRules {
    let context: WriteContext

    private func writer(_ table: EntityTable) -> ChangeWriter { ChangeWriter(table: table, context: context) }

    /// Throws `.conflict` when a rule denies the deletion of the record, or of one that is deleted with it, while
    /// others refer to it.
    func requireNoDenial(_ entity: Entity, _ key: String) throws {
        for (entity, key) in try cascade(from: entity, key) {
            for (relation, field, rule, child) in relations(of: entity) where rule == .deny {
                let count = try visible(child, field, key).count
                guard count == 0 else {
                    throw CacheError.conflict(
                        "\(entity.name)/\(key) still has \(count) \(relation); delete or move them first")
                }
            }
        }
    }

    /// Drops the never-sent changes of the records that are deleted with this one. Returns the remaining changes, which
    /// the deletion has to wait for.
    func dropUnsent(_ entity: Entity, _ key: String) throws -> Set<Int64> {
        // Newest first, so that no change ever refers to one that is gone.
        try cascade(from: entity, key).dropFirst().reversed().reduce(into: []) { left, child in
            left.formUnion(try writer(EntityTable(entity: child.entity)).dropUnsent(child.key))
        }
    }

    /// The changes that take other records away from this one, or from one that is deleted with it. Were the deletion sent
    /// before them, the upstream would delete those records too, or refuse.
    func departures(from entity: Entity, _ key: String) throws -> Set<Int64> {
        var changes: Set<Int64> = []
        for (entity, key) in try cascade(from: entity, key) {
            for (_, field, rule, child) in relations(of: entity) where rule != .nullify {
                for childKey in try departed(child, field, key) {
                    let leaving = try context.queue.changes(of: child.entity.name, key: childKey)
                        .filter { $0.operation == .delete || $0.body[field] != nil }
                    changes.formUnion(leaving.map(\.id))
                }
            }
        }
        return changes
    }

    /// The records that the upstream has below `key`, or may have, since their creation was sent so, and readers do not.
    private func departed(_ child: EntityTable, _ field: String, _ key: String) throws -> [String] {
        try String.fetchAll(
            context.db.cachedStatement(
                sql: """
                    \(child.displaced(by: field, "= ?1"))
                    UNION SELECT record_key FROM sync_outbox AS creation
                    WHERE entity = ?2 AND operation = 'create' AND CAST(body ->> '$."\(field)"' AS TEXT) = ?1
                      AND NOT EXISTS (
                        SELECT 1 FROM \(child.name) WHERE _key = creation.record_key AND _deleted = 0
                          AND \(child.sql(for: field)) = ?1)
                    """),
            arguments: [key, child.entity.name])
    }

    /// The record and everything that is deleted with it, parents first, each once even if records refer to one another
    /// in a ring.
    private func cascade(from entity: Entity, _ key: String) throws -> [(entity: Entity, key: String)] {
        var found = [(entity: entity, key: key)]
        var seen: Set<[String]> = [[entity.name, key]]
        var next = 0
        while next < found.count {
            let (entity, key) = found[next]
            next += 1
            for (_, field, rule, child) in relations(of: entity) where rule == .cascade {
                for childKey in try visible(child, field, key)
                where seen.insert([child.entity.name, childKey]).inserted {
                    found.append((entity: child.entity, key: childKey))
                }
            }
        }
        return found
    }

    /// Queues changes that set references to null, if the schema can send them. The deletion has to wait for them.
    func nullify(_ entity: Entity, _ key: String) throws -> Set<Int64> {
        var changes: Set<Int64> = []
        for (_, field, rule, child) in relations(of: entity) where rule == .nullify {
            for childKey in try visible(child, field, key) {
                if let id = try writer(child).nullify(field, of: childKey) { changes.insert(id) }
            }
        }
        return changes
    }

    /// Undoes what was queued for a deletion that will not be sent, except changes that were sent already.
    func restore(after deletion: OutboxTable.Entry) throws {
        guard deletion.operation == .delete, let entity = context.schema[deletion.entity] else { return }
        let ids = try Int64.fetchAll(
            context.db.cachedStatement(sql: "SELECT needs_id FROM sync_dependency WHERE change_id = ?"),
            arguments: [deletion.id])
        for (_, field, rule, child) in relations(of: entity) where rule == .nullify {
            for change in try ids.compactMap({ try context.queue.entry($0) }) {
                guard change.entity == child.entity.name, change.operation == .update, !change.tried,
                    change.body[field]?.kind == .null
                else { continue }
                try writer(child).withdraw(field, from: change)
            }
        }
    }

    private func relations(
        of entity: Entity
    ) -> [(relation: String, field: String, rule: DeleteRule, child: EntityTable)] {
        entity.relations.compactMap { relation in
            guard case .many(let field, let rule) = relation.kind, let child = context.schema[relation.entity] else {
                return nil
            }
            return (relation.name, field, rule, EntityTable(entity: child))
        }
    }

    private func visible(_ child: EntityTable, _ field: String, _ key: String) throws -> [String] {
        try String.fetchAll(
            context.db.cachedStatement(
                sql: """
                    SELECT _key FROM \(child.name) WHERE _deleted = 0 AND \(child.sql(for: field)) = ? ORDER BY _pk
                    """),
            arguments: [key])
    }
}
