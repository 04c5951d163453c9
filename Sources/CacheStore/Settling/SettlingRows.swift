internal import EntitySchema
internal import JSONText

/// The settling rows that a page may meet, read once for all of its records.
struct SettlingRows {
    private let table: SettlingTable
    private let now: Timestamp
    private let settle: Duration
    private var rows: [ExactText: Settling]
    /// They are too many or too long to be held at once, so each is looked up.
    private let hasMore: Bool

    private static let most = 500

    init(_ table: SettlingTable, now: Timestamp, settle: Duration) throws {
        self.table = table
        self.now = now
        self.settle = settle
        let all = try table.all(atMost: Self.most)
        hasMore = all == nil
        rows = Dictionary((all ?? []).map { ($0.key.exact, $0) }) { first, _ in first }
    }

    var isEmpty: Bool { rows.isEmpty && !hasMore }

    subscript(key: String) -> Settling? {
        get throws {
            if isEmpty { return nil }
            return try hasMore ? table.row(of: key) : rows[key.exact]
        }
    }

    func isAlive(_ row: Settling) -> Bool { row.isAlive(at: now, settle) }

    /// Whether a list may still show what was deleted, though the time to settle is over.
    func isDoubtful(_ row: Settling) -> Bool { row.kind == .deleted && row.at > now - Self.longestLag }

    private static let longestLag = Duration.seconds(3600)

    mutating func save(_ row: Settling) throws {
        try table.save(row)
        if !hasMore { rows[row.key.exact] = row }
    }

    mutating func remove(_ key: String) throws {
        try table.remove(key)
        rows[key.exact] = nil
    }

    /// Removes what is over and was confirmed before the page was requested. A clock that was set back starts the time of
    /// a row again.
    mutating func clean(before position: Int64) throws {
        if hasMore { try table.clean(before: position, until: now - settle, deletions: now - Self.longestLag) }
        for (key, row) in rows {
            if row.at > now {
                var row = row
                row.at = now
                try save(row)
            } else if row.isConfirmed, row.position <= position, !isAlive(row), !isDoubtful(row) {
                try remove(key.text)
            }
        }
    }
}
