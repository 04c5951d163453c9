internal import GRDB

/// A condition as SQL, and how SQLite finds the rows that meet it.
struct CompiledFilter {
    var sql: String
    var arguments: [DatabaseValue]
    /// Set if it only compares a field of the list's own table that has an index.
    var lookup: Lookup?
    /// Whether an index finds the rows.
    var isSought = false
    /// What has no index that could find the rows.
    var unindexed: [String] = []
    /// What makes it read the whole table of another entity, however the rows are found.
    var scanned: [String] = []
    /// Whether it goes through values, which can be as long as a record. That takes SQLite long, and few instructions.
    var readsWholeValues = false

    /// A comparison that an index of its column can seek.
    struct Lookup {
        var field: String
        var column: String
        var shape: Shape
    }

    /// What a comparison leaves of the index.
    enum Shape {
        /// The rows with one or several values, or with null.
        case equal
        case below, above
        case notEqual, notNull

        var isRange: Bool { self == .below || self == .above }
        var isNegation: Bool { self == .notEqual || self == .notNull }
    }

    /// What the indexes of fields leave out. SQLite uses such an index for a part of an OR only if the part says so too.
    static let indexed = "_deleted = 0"

    static func all(_ parts: [CompiledFilter]) -> CompiledFilter {
        joined(parts.map(\.sql), by: "AND", parts, isSought: parts.contains(where: \.isSought))
    }

    static func any(_ parts: [CompiledFilter]) -> CompiledFilter {
        let isSought = parts.allSatisfy(\.isSought)
        let alternatives = isSought && parts.count > 1 ? parts.map { "\(indexed) AND \($0.sql)" } : parts.map(\.sql)
        return joined(alternatives, by: "OR", parts, isSought: isSought)
    }

    private static func joined(_ sql: [String], by word: String, _ parts: [CompiledFilter], isSought: Bool)
        -> CompiledFilter
    {
        CompiledFilter(
            sql: "(\(sql.joined(separator: " \(word) ")))", arguments: parts.flatMap(\.arguments), isSought: isSought,
            unindexed: parts.flatMap(\.unindexed), scanned: parts.flatMap(\.scanned),
            readsWholeValues: parts.contains(where: \.readsWholeValues))
    }
}
