/// The positions of a table's slots by time of change, then key: what a list of changes goes through.
///
/// Slots whose time of change is not known are not in it. A slot is taken out before it changes and put back after.
struct ChangeOrder: Sendable {
    private var order: [Int]

    init(slots: [Table.Slot]) {
        order = slots.indices.filter { slots[$0].state != .replaced && slots[$0].changed != nil }
        order.sort { Self.isBefore($0, $1, slots) }
    }

    /// All that changed at `time` or later.
    func positions(since time: Int64, slots: [Table.Slot]) -> ArraySlice<Int> {
        order[firstIndex { (slots[$0].changed ?? .min) >= time }...]
    }

    mutating func insert(_ position: Int, slots: [Table.Slot]) {
        guard slots[position].changed != nil else { return }
        order.insert(position, at: firstIndex { !Self.isBefore($0, position, slots) })
    }

    mutating func remove(_ position: Int, slots: [Table.Slot]) {
        guard slots[position].changed != nil else { return }
        let index = firstIndex { !Self.isBefore($0, position, slots) }
        if index < order.count, order[index] == position { order.remove(at: index) }
    }

    /// The first for which `isAtOrBeyond` holds, as it does for all after it.
    private func firstIndex(where isAtOrBeyond: (Int) -> Bool) -> Int {
        var low = 0
        var high = order.count
        while low < high {
            let middle = (low + high) / 2
            if isAtOrBeyond(order[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// Records with the same key, or none, keep the order in which they came.
    private static func isBefore(_ one: Int, _ other: Int, _ slots: [Table.Slot]) -> Bool {
        let (first, second) = (slots[one], slots[other])
        if first.changed != second.changed { return (first.changed ?? .min) < (second.changed ?? .min) }
        return first.key == second.key ? one < other : first.key < second.key
    }
}
