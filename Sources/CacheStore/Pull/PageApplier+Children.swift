internal import EntitySchema
internal import GRDB
internal import JSONText

/// Applies the schema's delete rules to the records that refer to deleted ones. Nothing of it is sent: the server has
/// done the same.
extension PageApplier {
    func applyDeleteRules(of keys: [String]) throws {
        for relation in table.entity.relations {
            guard case .many(let field, let rule) = relation.kind, let child = context.schema[relation.entity] else {
                continue
            }
            switch rule {
            case .keep, .deny: continue
            case .cascade:
                let applier = applier(EntityTable(entity: child))
                _ = try applier.delete(keys: applier.keys(applier.table.referring(by: field, Self.isListed), keys))
            case .nullify: try applier(EntityTable(entity: child)).nullify(field, referringTo: keys)
            }
        }
    }

    private func applier(_ table: EntityTable) -> PageApplier {
        PageApplier(table: table, context: context, ownDeletion: ownDeletion)
    }

    private static let isListed = "IN (SELECT value FROM json_each(?1))"

    private func keys(_ sql: String, _ parents: [String]) throws -> [String] {
        try String.fetchAll(
            db.cachedStatement(sql: sql), arguments: [JSONText.array(parents.map(JSONText.string)).text])
    }

    /// Assumes that the server's version has no reference any more, until the server says otherwise, and rebases local
    /// changes on that.
    private func nullify(_ field: String, referringTo keys: [String]) throws {
        let writer = context.writer(table)
        let queue = context.queue
        var changed: [String] = []
        let here = try self.keys(table.referring(by: field, Self.isListed), keys)
        let there = try self.keys(table.displaced(by: field, Self.isListed), keys)
        for key in here + there.filter({ !here.contains($0) }) {
            guard let remote = try writer.row.remote(of: key), let value = remote[field], keys.contains(value.plain)
            else { continue }
            try writer.assumeRemote(remote.setting(field, to: .null), of: key)
            try noteOwnChange(of: field, from: value, of: key)
            for change in try queue.changes(of: table.entity.name, key: key) where change.base[field] == value {
                try queue.store(
                    change.body, base: change.base.setting(field, to: .null), of: change, makeID: context.makeID)
            }
            try writer.rebuildDocument(over: key)
            changed.append(key)
        }
        try context.log.append(.upserted, entity: table.entity.name, keys: changed)
    }

    private func noteOwnChange(of field: String, from value: JSONText, of key: String) throws {
        guard let ownDeletion else { return }
        let rows = SettlingTable(entity: table.entity.name, db: db)
        var row =
            try rows.alive(key, at: context.now, context.schema.upstream.settle)
            ?? Settling(key: key, kind: .written, at: context.now, position: ownDeletion)
        try row.set(field, to: .null, from: [value], context.comparison(table.entity))
        row.at = context.now
        row.position = ownDeletion
        row.isConfirmed = false
        try rows.save(row)
    }
}
