internal import GRDB

/// Reads a table of a file that may be damaged: as much of it as SQLite can reach.
struct DamagedTable {
    let name: String
    /// The integer key; nil where there is none to seek by, and a table is read as far as it goes.
    let key: String?
    let db: Database

    /// Behind so many keys in a row that lead nowhere no more are tried.
    private static let mostMisses = 1000

    /// Calls `body` with each row that can be reached, in no certain order. Returns whether nothing was in the way.
    func forEachRow(where condition: String = "true", _ body: (Row) -> Void) -> Bool {
        let sql = "SELECT * FROM \(name) WHERE \(condition)"
        guard let key else { return scan(sql, [], body) }
        var front: Int64 = 0
        let isWhole = scan("\(sql) ORDER BY \(key)", []) { row in
            front = row[key]
            body(row)
        }
        guard !isWhole else { return true }
        // What lies behind the damage is reached from the other end, and what lies between by its own key.
        var back = Int64.max
        _ = scan("\(sql) AND \(key) > ? ORDER BY \(key) DESC", [front]) { row in
            back = row[key]
            body(row)
        }
        var (id, misses) = (front + 1, 0)
        while id < back, misses < Self.mostMisses {
            misses += 1
            _ = scan("\(sql) AND \(key) = ?", [id]) { row in
                misses = 0
                body(row)
            }
            id += 1
        }
        return false
    }

    private func scan(_ sql: String, _ arguments: StatementArguments, _ body: (Row) -> Void) -> Bool {
        do {
            let cursor = try Row.fetchCursor(db.cachedStatement(sql: sql), arguments: arguments)
            while let row = try cursor.next() { body(row) }
            return true
        } catch {
            return false
        }
    }
}
