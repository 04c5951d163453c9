internal import EntitySchema
internal import GRDB
internal import JSONText

/// What the schema's delete rules do to the records that refer to those that are gone. None of it is sent: the server
/// has done the same.
extension PageApplier {
    func settleChildren(of keys: [String]) throws {
        for relation in table.entity.relations {
            guard case .many(let field, let rule) = relation.kind, let child = context.schema[relation.entity] else {
                continue
            }
            switch rule {
            case .keep, .deny: continue
            case .cascade:
                let applier = applier(EntityTable(entity: child))
                _ = try applier.delete(keys: applier.referring(to: keys, by: applier.table.sql(for: field)))
            case .nullify: try applier(EntityTable(entity: child)).nullify(field, referringTo: keys)
            }
        }
    }

    private func applier(_ table: EntityTable) -> PageApplier {
        PageApplier(table: table, context: context)
    }

    /// `reference`: an indexed column or expression. Those out of sight too, be it with their owner.
    private func referring(to keys: [String], by reference: String) throws -> [String] {
        // Each condition is that of an index.
        let parts = ["_deleted = 0", EntityTable.differs].map { rows in
            "SELECT _key FROM \(table.name) WHERE \(rows) AND \(reference) IN (SELECT value FROM json_each(?1))"
        }
        return try String.fetchAll(
            db.cachedStatement(sql: parts.joined(separator: " UNION ")),
            arguments: [JSONText.array(keys.map(JSONText.string)).text])
    }

    /// The server's version is taken to have no reference any more, until the server says otherwise; a change made here is
    /// taken to be made on that.
    private func nullify(_ field: String, referringTo keys: [String]) throws {
        let row = context.row(table)
        let queue = context.queue
        var changed: [String] = []
        guard let reference = table.entity[field: field] else { return }
        let here = try referring(to: keys, by: table.sql(for: field))
        let there = try referring(to: keys, by: table.expression(for: reference, in: "_remote"))
        for key in here + there.filter({ !here.contains($0) }) {
            guard let remote = try row.remote(of: key), let value = remote[field], keys.contains(value.plain) else {
                continue
            }
            try db.cachedStatement(sql: "UPDATE \(table.name) SET _remote = ? WHERE _key = ?")
                .execute(arguments: [remote.setting(field, to: .null).text, key])
            for change in try queue.changes(of: table.entity.name, key: key) where change.base[field] == value {
                try queue.store(
                    change.body, base: change.base.setting(field, to: .null), of: change, makeID: context.makeID)
            }
            try row.rebuildDocument(over: key)
            changed.append(key)
        }
        try context.log.append(.upserted, entity: table.entity.name, keys: changed)
    }
}
