internal import SQLiteStore

/// The last numbers that the change log and the queue have given. A transaction reads them once and counts on from there:
/// each queued change takes one of each.
struct LastNumbers {
    /// Of the log's last entry.
    var entry: Int64
    /// How many entries about changes there have been.
    var steps: Int64
    /// The greatest id that a change has had.
    var change: Int64

    /// Reads them in one row. In the log a row is found by its number, so all its columns are those of the last one.
    static let sql = """
        SELECT coalesce(max(seq), 0), coalesce(steps, 0),
          max(coalesce(last_change, 0), coalesce((SELECT max(id) FROM sync_outbox), 0))
        FROM sync_change_log
        """

    /// A row of `sql`.
    init(reading row: BoundStatement) {
        entry = row.integer(0) ?? 0
        steps = row.integer(1) ?? 0
        change = row.integer(2) ?? 0
    }

    /// The id of the next change.
    mutating func takeChange() throws(CacheError) -> Int64 {
        change = try Self.sum(change, 1)
        return change
    }

    /// Counts an entry with `count` numbers, about `change` if there is one. Returns the last of its numbers.
    mutating func takeEntry(_ count: Int, about change: Int64?) throws(CacheError) -> Int64 {
        entry = try Self.sum(entry, count)
        guard let change else { return entry }
        self.change = max(self.change, change)
        steps = try Self.sum(steps, 1)
        return entry
    }

    private static func sum(_ number: Int64, _ count: Int) throws(CacheError) -> Int64 {
        let (sum, isTooLarge) = number.addingReportingOverflow(Int64(count))
        guard !isTooLarge else { throw .failed("the database has given its last number; please report this") }
        return sum
    }
}
