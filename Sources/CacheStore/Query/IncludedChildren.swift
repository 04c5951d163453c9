internal import GRDB
internal import JSONText

/// The children that records include through one to-many relation, collected while their rows are read. A parent's list
/// ends at a maximum number of rows, or once it is large.
struct IncludedChildren {
    struct Row {
        var parent: ExactText
        /// From 1, in the list's order.
        var number: Int
        var position: [DatabaseValue]
    }

    /// The rows that are shown.
    private var rows: [Row] = []
    /// How many rows were read.
    private(set) var read = 0
    /// The bytes of the rows that are shown.
    private(set) var size = 0
    /// For each parent, the number of the first row that is not shown.
    private var ends: [ExactText: Int] = [:]
    private var sizes: [ExactText: Int] = [:]

    /// Whether the row is shown.
    mutating func takes(_ number: Int, of parent: ExactText) -> Bool {
        read += 1
        // A list has at least one record.
        if number == 1 { return true }
        if number <= Includer.mostChildren, sizes[parent, default: 0] < ListPage.mostBytes { return true }
        ends[parent] = min(ends[parent] ?? number, number)
        return false
    }

    mutating func add(_ row: Row, bytes: Int) {
        rows.append(row)
        size += bytes
        sizes[row.parent, default: 0] += bytes
    }

    /// The children of each parent as a JSON list.
    ///
    /// `records` are those of the rows, and `counts` says how many others each includes. `cursor` continues a parent's
    /// list.
    func lists(
        of records: [Includer.Open], including counts: [Int], cursor: (String, [DatabaseValue]) throws -> String
    ) throws -> [ExactText: Includer.Part] {
        var parts: [ExactText: Includer.Part] = [:]
        var last: [ExactText: [DatabaseValue]] = [:]
        for index in rows.indices.sorted(by: { rows[$0].number < rows[$1].number }) {
            let row = rows[index]
            if let end = ends[row.parent] {
                guard row.number < end else { continue }
                last[row.parent] = row.position
            }
            parts[row.parent, default: Includer.Part(bytes: [])].bytes += [UInt8(ascii: row.number == 1 ? "[" : ",")]
            parts[row.parent, default: Includer.Part(bytes: [])].bytes += records[index].bytes
            parts[row.parent, default: Includer.Part(bytes: [])].count += counts[index] + 1
        }
        for (parent, position) in last { parts[parent]?.next = try cursor(parent.text, position) }
        for parent in parts.keys { parts[parent]?.bytes.append(UInt8(ascii: "]")) }
        return parts
    }
}
