internal import GRDBSQLite

/// The first column, an integer, of the rows of a query, read piece by piece.
package struct WalkedRows {
    /// What a walk has read.
    struct Numbers {
        var all: [Int64] = []
        /// Whether the query has no more.
        var isWhole = false
    }

    private let query: BoundSQL
    private let connection: ReadConnection
    /// Nil until a row must be read.
    private var statement: BoundStatement?
    private var numbers: Numbers
    private var given = 0
    /// The number of rows that the statement has passed.
    private var stepped = 0

    /// 64 KiB of memory.
    private static let mostKept = 8192

    /// `kept`: what an earlier walk with the same query on the same data has read.
    init(of query: BoundSQL, _ connection: ReadConnection, kept: Numbers?) {
        self.query = query
        self.connection = connection
        numbers = kept ?? Numbers()
    }

    /// What the next walk can start with; nil if it is too much to keep.
    var kept: Numbers? { numbers.all.count > Self.mostKept ? nil : numbers }

    /// The next `count` rows; fewer only at the end.
    package mutating func next(_ count: Int) throws -> ArraySlice<Int64> {
        let start = given
        if start + count > numbers.all.count, !numbers.isWhole { try read(upTo: start + count) }
        given = min(start + count, numbers.all.count)
        return numbers.all[start..<given]
    }

    private mutating func read(upTo count: Int) throws {
        let statement = try self.statement ?? connection.begun(query)
        self.statement = statement
        numbers.all.reserveCapacity(count)
        while numbers.all.count < count {
            guard try statement.step() else {
                end()
                return numbers.isWhole = true
            }
            stepped += 1
            if stepped > numbers.all.count { numbers.all.append(sqlite3_column_int64(statement.handle, 0)) }
        }
    }

    /// Call this when no more rows are needed: a statement in the middle of its rows keeps its snapshot.
    mutating func end() {
        if let statement { sqlite3_reset(statement.handle) }
        statement = nil
    }
}
