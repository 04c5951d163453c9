internal import EntitySchema
internal import GRDB
internal import JSONText

/// Removes records that left their window, inside the caller's transaction. Nothing is sent, and nothing becomes a
/// conflict: the upstream still has them.
struct WindowExit {
    let statement: WindowStatement
    let context: WriteContext
    /// A change that was acknowledged after this may not have settled.
    let settledBefore: Timestamp

    private var table: EntityTable { statement.table }

    /// Removes those of the records that are still outside and held by nothing, and everything that comes only with them.
    /// Returns how many of the records left, and how many of `pks` it has looked at: it ends after `most` rows.
    func leave(_ pks: [Int64], most: Int) throws -> (left: Int, looked: Int) {
        let sql = statement.leaving(among: "record._pk IN (SELECT value FROM json_each(?2))")
        let list = JSONText.array(pks.map { .integer(Int($0)) }).text
        let leaving = try Int64.fetchSet(context.db, sql: sql, arguments: [settledBefore.milliseconds, list])
        var gone: [String: [String]] = [:]
        var looked = 0
        for pk in pks where gone.values.reduce(0, { $0 + $1.count }) < most {
            looked += 1
            guard leaving.contains(pk), let image = try image(pk), let remote = image.remote,
                !statement.test.holds(for: remote, of: table.entity)
            else { continue }
            try remove(image.key, &gone)
        }
        for (entity, keys) in gone.sorted(by: { $0.key < $1.key }) {
            if let table = context.table(entity) { try context.writer(table).tally(-Int64(keys.count)) }
            try context.log.append(.deleted, entity: entity, keys: keys, reason: .window)
        }
        return (gone[table.entity.name]?.count ?? 0, looked)
    }

    private func image(_ pk: Int64) throws -> RecordImage? {
        try context.writer(table).images(after: pk - 1, limit: 1).first.flatMap { $0.pk == pk ? $0 : nil }
    }

    private func remove(_ key: String, _ gone: inout [String: [String]]) throws {
        // Not by recursion: records may refer to one another to any depth.
        var left = [(table: table, keys: [key])]
        while let (table, keys) = left.popLast() {
            let removed = try keys.filter { try remove($0, table) }
            gone[table.entity.name, default: []] += removed
            for child in WindowTies(of: table.entity, in: context.schema).children {
                let keys = try removed.flatMap { key in
                    try String.fetchAll(
                        context.db.cachedStatement(sql: child.table.referring(by: child.field, "= ?1")),
                        arguments: [key])
                }
                if !keys.isEmpty { left.append((table: child.table, keys: keys)) }
            }
        }
    }

    /// False if there is no such record any more.
    private func remove(_ key: String, _ table: EntityTable) throws -> Bool {
        let writer = context.writer(table)
        guard let image = try writer.image(of: key) else { return false }
        try writer.deleteUncounted(image)
        return true
    }
}
