internal import EntitySchema
internal import GRDB
internal import JSONText

/// Applies the schema's delete rules to the records that refer to deleted ones. Nothing of it is sent: the server has
/// done the same.
extension RecordDeletion {
    /// What is left to do. It names entities, because there may be as many steps as there are records.
    private enum Step {
        /// What a relation's rule does to the records that refer to deleted ones.
        case rule(DeleteRule, entity: String, field: String, parents: [String])
        /// The deletion of these rows, and all that follows from it.
        case deletion(entity: String, pks: ArraySlice<Int64>)
    }

    /// The rows that are deleted before their own delete rules are applied.
    private static let batch = 1000

    func applyDeleteRules(of keys: [String]) throws {
        // Not by recursion: records may refer to one another to any depth.
        var left = rules(after: keys)
        while let step = left.popLast() { left += try perform(step) }
    }

    /// The steps after the deletion of records of this entity, the first one last.
    private func rules(after keys: [String]) -> [Step] {
        guard !keys.isEmpty else { return [] }
        let details = (table.entity.pull?.details ?? []).compactMap { detail -> Step? in
            guard detail.goesAlong, let field = detail.by else { return nil }
            return .rule(.cascade, entity: detail.entity, field: field, parents: keys)
        }
        return details
            + table.entity.relations.reversed().compactMap { relation -> Step? in
                guard case .many(let field, let rule) = relation.kind, rule == .cascade || rule == .nullify else {
                    return nil
                }
                return .rule(rule, entity: relation.entity, field: field, parents: keys)
            }
    }

    /// Returns the steps that follow, the first one last.
    private func perform(_ step: Step) throws -> [Step] {
        switch step {
        case .rule(let rule, let entity, let field, let parents):
            guard let deletion = deletion(of: entity) else { return [] }
            guard rule == .cascade else {
                try deletion.nullify(field, referringTo: parents)
                return []
            }
            let sql = deletion.table.referring(by: field, Self.isListed, "_pk")
            let pks = try Int64.fetchAll(db.cachedStatement(sql: sql), arguments: [Self.list(parents)])
            return [.deletion(entity: entity, pks: pks[...])]
        case .deletion(let entity, let pks):
            guard !pks.isEmpty, let deletion = deletion(of: entity) else { return [] }
            let deleted = try deletion.deleteAlone(deletion.keys(of: pks.prefix(Self.batch)))
            return [Step.deletion(entity: entity, pks: pks.dropFirst(Self.batch))]
                + deletion.rules(after: deleted.cascading)
        }
    }

    private func deletion(of entity: String) -> RecordDeletion? {
        context.table(entity).map { RecordDeletion(table: $0, context: context, ownDeletion: ownDeletion) }
    }

    private static let isListed = "IN (SELECT value FROM json_each(?1))"

    private static func list(_ keys: [String]) -> String { JSONText.array(of: keys).text }

    private func keys(_ sql: String, _ parents: [String]) throws -> [String] {
        try String.fetchAll(db.cachedStatement(sql: sql), arguments: [Self.list(parents)])
    }

    private func keys(of pks: ArraySlice<Int64>) throws -> [String] {
        try String.fetchAll(
            db.cachedStatement(sql: "SELECT _key FROM \(table.name) WHERE _pk \(Self.isListed)"),
            arguments: [JSONText.array(pks.map { .integer(Int($0)) }).text])
    }

    /// Assumes that the server's version has no reference any more, until the server says otherwise, and rebases local
    /// changes on that.
    private func nullify(_ field: String, referringTo keys: [String]) throws {
        let writer = context.writer(table)
        let queue = context.queue
        var changed: [String] = []
        let here = try self.keys(table.referring(by: field, Self.isListed), keys)
        let there = try self.keys(table.displaced(by: field, Self.isListed), keys)
        let (parents, known) = (keys.exactSet, here.exactSet)
        for key in here + there.filter({ !known.contains($0.exact) }) {
            guard let remote = try writer.row.remote(of: key), let value = remote[field],
                parents.contains(value.plain.exact)
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
        var row =
            try context.settling(of: key, table.entity)
            ?? Settling(key: key, kind: .written, at: context.now, position: ownDeletion)
        try row.set(field, to: .null, from: [value], context.comparison(table.entity))
        row.at = context.now
        row.position = ownDeletion
        row.isConfirmed = false
        try SettlingTable(entity: table.entity.name, db: db).save(row)
    }
}
