internal import GRDB

/// The changes of the queue that only this database has, by their ids: those that were queued while nothing was stored for a
/// standby, and those that were imported.
struct UnsharedChanges: Equatable {
    private static let setting = "standby_kept"

    /// The last one has no end while nothing is stored for a standby.
    private(set) var ranges: [ClosedRange<Int64>]

    /// All, until the database is shared for the first time.
    static let all = UnsharedChanges(ranges: [1...Int64.max])

    private init(ranges: [ClosedRange<Int64>]) { self.ranges = ranges }

    init(_ ids: [Int64]) {
        ranges = []
        for id in ids.sorted() { add(id...id) }
    }

    init(_ db: Database) throws {
        self = try SettingTable(db: db)[Self.setting].map(UnsharedChanges.init(text:)) ?? .all
    }

    /// Whatever cannot be read is kept.
    private init(text: String) {
        let ends = text.split(separator: " ").map { $0.split(separator: "-").map { Int64($0) } }
        let ranges = ends.compactMap { ends -> ClosedRange<Int64>? in
            guard let first = ends.first ?? nil, let last = ends.last ?? nil, first <= last else { return nil }
            return first...last
        }
        self.ranges = ranges.count == ends.count ? ranges : Self.all.ranges
    }

    func save(_ db: Database) throws {
        let text = ranges.map { "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: " ")
        try SettingTable(db: db).set(Self.setting, to: text)
    }

    func contains(_ id: Int64) -> Bool { ranges.contains { $0.contains(id) } }

    /// Those after `newest` are stored for a standby.
    mutating func end(at newest: Int64) {
        ranges = ranges.compactMap { range in
            guard range.upperBound == .max else { return range }
            return range.lowerBound <= newest ? range.lowerBound...newest : nil
        }
    }

    mutating func add(_ range: ClosedRange<Int64>) {
        guard let last = ranges.last else { return ranges.append(range) }
        guard last.upperBound != .max else { return }
        if last.upperBound + 1 == range.lowerBound {
            ranges[ranges.count - 1] = last.lowerBound...range.upperBound
        } else {
            ranges.append(range)
        }
    }
}
