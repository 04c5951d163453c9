internal import EntitySchema
internal import GRDB

/// Compares the stored counts with the rows that they count.
struct CounterCheck {
    let schema: EntitySchema
    let db: Database

    /// Name → a query for the count.
    private var queries: [(name: String, sql: String)] {
        schema.entities.map { ("rows:\($0.name)", "SELECT count(*) FROM \(EntityTable(entity: $0).name)") } + [
            ("conflicts", "SELECT count(*) FROM sync_conflict WHERE winner IS NULL"),
            ("drift", "SELECT count(*) FROM sync_drift"),
            ("set_aside", "SELECT count(*) FROM sync_set_aside"),
        ]
    }

    func run(_ found: inout Inconsistencies) throws {
        let rows = try Row.fetchAll(db.cachedStatement(sql: "SELECT name, count FROM sync_tally"))
        let stored = rows.reduce(into: [String: Int]()) { stored, row in
            if let name: String = row.readable("name") { stored[name] = row.readable("count") as Int? }
        }
        for (name, sql) in queries {
            let count = try Int.fetchOne(db.cachedStatement(sql: sql)) ?? 0
            guard stored[name] != count else { continue }
            found.add(
                .counter, "count \(name)", "\(stored[name].map(String.init) ?? "nothing") is stored, \(count) are there"
            )
        }
    }
}
