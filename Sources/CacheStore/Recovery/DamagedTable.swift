internal import GRDB

/// Reads as much of a table as SQLite can reach, in a file that may be damaged.
struct DamagedTable {
    let name: String
    /// The integer key; nil if there is none to seek by, in which case the table is read up to the first damage.
    let key: String?
    let db: Database

    /// After this many missing keys in a row, the search stops.
    private static let mostMisses = 1000

    /// Calls `body` with each row that can be reached, in no particular order. Returns true if there was no damage.
    func forEachRow(where condition: String = "true", _ body: (Row) -> Void) -> Bool {
        let sql = "SELECT * FROM \(name) WHERE \(condition)"
        guard let key else { return scan(sql, [], body) }
        var front: Int64 = 0
        let isWhole = scan("\(sql) ORDER BY \(key)", []) { row in
            front = row[key] ?? front
            body(row)
        }
        guard !isWhole else { return true }
        // Rows behind the damage are reached from the other end, rows in between by their own keys.
        var back = Int64.max
        _ = scan("\(sql) AND \(key) > ? ORDER BY \(key) DESC", [front]) { row in
            back = row[key] ?? back
            body(row)
        }
        var (id, misses) = (front, 0)
        while id < back - 1, misses < Self.mostMisses {
            id += 1
            misses += 1
            _ = scan("\(sql) AND \(key) = ?", [id]) { row in
                misses = 0
                body(row)
            }
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
