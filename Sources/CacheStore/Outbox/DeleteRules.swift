internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// Applies the schema's delete rules to the records that refer to one whose deletion is about to be queued.
///
/// Only references set to null are sent. An upstream deletes the dependent records itself, and here they are hidden for
/// as long as the deletion is queued (`RecordWriter.rebuildDocument`). What has been moved or deleted here is still there
/// upstream until its change has been sent: the deletion waits for that.
struct DeleteRules {
    let context: WriteContext

    private func writer(_ table: EntityTable) -> ChangeWriter { ChangeWriter(table: table, context: context) }

    /// Throws `.conflict` when a rule denies the deletion of the record, or of one that is deleted with it, while
    /// others refer to it.
    func requireNoDenial(_ entity: Entity, _ key: String) throws {
        let cascade = CascadeStatement(from: entity, in: context.schema)
        guard let sql = cascade.denied,
            let row = try Row.fetchOne(context.db.cachedStatement(sql: sql), arguments: [key])
        else { return }
        let (place, owner, count): (Int, String, Int) = (row[0], row[1], row[2])
        let relation = cascade.relations[place]
        throw CacheError.conflict(
            "\(relation.owner.name)/\(owner) still has \(count) \(relation.name); delete or move them first")
    }

    /// Drops the never-sent changes of the records that are deleted with this one. Returns the remaining changes, which
    /// the deletion has to wait for.
    func dropUnsent(_ entity: Entity, _ key: String) throws -> Set<Int64> {
        guard let sql = CascadeStatement(from: entity, in: context.schema).changed else { return [] }
        let rows = try Row.fetchAll(context.db.cachedStatement(sql: sql), arguments: [key])
        var left: Set<Int64> = []
        // Newest first, so that no change ever refers to one that is gone.
        for row in rows.reversed() {
            let (entity, key): (String, String) = (row[0], row[1])
            guard let table = context.table(entity) else { continue }
            left.formUnion(try writer(table).dropUnsent(key))
        }
        return left
    }

    /// The changes that take other records away from this one, or from one that is deleted with it. Were the deletion sent
    /// before them, the upstream would delete those records too, or refuse.
    func departures(from entity: Entity, _ key: String) throws -> Set<Int64> {
        let cascade = CascadeStatement(from: entity, in: context.schema)
        guard let sql = cascade.departed else { return [] }
        let rows = try Row.fetchCursor(context.db.cachedStatement(sql: sql), arguments: [key])
        var changes: Set<Int64> = []
        while let row = try rows.next() {
            let (place, key): (Int, String) = (row[0], row[1])
            let relation = cascade.relations[place]
            let leaving = try context.queue.changes(of: relation.child.entity.name, key: key)
                .filter { $0.operation == .delete || $0.body[relation.field] != nil }
            changes.formUnion(leaving.map(\.id))
        }
        return changes
    }

    /// Queues changes that set references to null, if the schema can send them. The deletion has to wait for them.
    func nullify(_ entity: Entity, _ key: String) throws -> Set<Int64> {
        var changes: Set<Int64> = []
        for relation in relations(of: entity) where relation.rule == .nullify {
            for childKey in try visible(relation.child, relation.field, key) {
                if let id = try writer(relation.child).nullify(relation.field, of: childKey) { changes.insert(id) }
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
        for relation in relations(of: entity) where relation.rule == .nullify {
            let (child, field) = (relation.child, relation.field)
            for change in try ids.compactMap({ try context.queue.entry($0) }) {
                guard change.entity == child.entity.name, change.operation == .update, !change.tried,
                    change.body[field]?.kind == .null
                else { continue }
                try writer(child).withdraw(field, from: change)
            }
        }
    }

    private func relations(of entity: Entity) -> [CascadeStatement.Relation] {
        CascadeStatement.Relation.all(of: entity, in: context.schema)
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
