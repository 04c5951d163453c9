/// The positions of a table's slots by time of change, then key: what a list of changes goes through.
///
/// Slots whose time of change is not known are not in it. A slot is taken out before it changes and put back after.
struct ChangeOrder: Sendable {
    /// Records with the same key, or none, keep the order in which they came.
    private(set) var order: [Int]

    init(slots: [Table.Slot]) {
        order = slots.indices.filter { slots[$0].state != .replaced && slots[$0].changed != nil }
        order.sort { slots[$0].mark(at: $0).isBefore(slots[$1].mark(at: $1)) }
    }

    /// All that changed at `time` or later.
    func positions(since time: Int64, slots: [Table.Slot]) -> ArraySlice<Int> {
        order[order.partitioningIndex { (slots[$0].changed ?? .min) >= time }...]
    }

    mutating func insert(_ position: Int, slots: [Table.Slot]) {
        guard slots[position].changed != nil else { return }
        order.insert(position, at: index(of: position, slots))
    }

    mutating func remove(_ position: Int, slots: [Table.Slot]) {
        guard slots[position].changed != nil else { return }
        let index = index(of: position, slots)
        if index < order.count, order[index] == position { order.remove(at: index) }
    }

    private func index(of position: Int, _ slots: [Table.Slot]) -> Int {
        let mark = slots[position].mark(at: position)
        return order.partitioningIndex { !slots[$0].mark(at: $0).isBefore(mark) }
    }
}
