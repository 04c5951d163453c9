internal import GRDB
internal import GRDBSQLite
internal import SQLiteStore

/// The records that a search finds, in one snapshot.
struct SearchMatches {
    private let match: SearchMatch
    private let connection: ReadConnection

    init(match: SearchMatch, connection: ReadConnection) {
        self.match = match
        self.connection = connection
    }

    /// Reads no more than that many.
    func areMore(than count: Int) throws -> Bool {
        let all = match.all
        var found = 0
        try connection.query("\(all.sql) LIMIT ?", all.arguments + [(count + 1).databaseValue]) { _ in
            found += 1
            return true
        }
        return found > count
    }

    /// Those of the records that match, in the same order. FTS5 reads only the range of their `_pk`s.
    func among(_ pks: [Int64]) throws -> [Int64] {
        guard let first = pks.min(), let last = pks.max() else { return [] }
        var match = match
        match.span = first...last
        let all = match.all
        var found: [Int64] = []
        try connection.query(all.sql, all.arguments) { row in
            found.append(sqlite3_column_int64(row, 0))
            return true
        }
        // Far fewer are found than asked for, so a look-up in a short list is faster than the hash of each.
        found.sort()
        return pks.filter { Self.contains($0, in: found) }
    }

    /// `numbers`: in ascending order.
    private static func contains(_ number: Int64, in numbers: [Int64]) -> Bool {
        var (low, high) = (0, numbers.count)
        while low < high {
            let middle = (low + high) / 2
            if numbers[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low < numbers.count && numbers[low] == number
    }
}
