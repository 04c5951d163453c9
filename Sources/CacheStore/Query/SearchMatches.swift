internal import GRDB
internal import GRDBSQLite
internal import SQLiteStore

/// The records that a search finds, in one snapshot.
struct SearchMatches {
    let match: SearchMatch
    let connection: ReadConnection

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
    func among(_ pks: ArraySlice<Int64>) throws -> [Int64] {
        guard let first = pks.min(), let last = pks.max() else { return [] }
        var match = match
        match.span = first...last
        let all = match.all
        var found: [Int64] = []
        try connection.query(all.sql, all.arguments) { row in
            found.append(sqlite3_column_int64(row, 0))
            return true
        }
        return Self.ordered(found, as: pks, from: first, to: last)
    }

    /// The numbers of `all`, which are between `first` and `last`, that are among `some`.
    private static func ordered(
        _ some: [Int64], as all: ArraySlice<Int64>, from first: Int64, to last: Int64
    ) -> [Int64] {
        let width = last &- first
        guard (0..<widest).contains(width) else {
            let some = Set(some)
            return all.filter(some.contains)
        }
        // A mark for each place is found faster than a hash.
        var marks = [Bool](repeating: false, count: Int(width) + 1)
        for number in some { marks[Int(number - first)] = true }
        return all.filter { marks[Int($0 - first)] }
    }

    private static let widest: Int64 = 1 << 16
}
