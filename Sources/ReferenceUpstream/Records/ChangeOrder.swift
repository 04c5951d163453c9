/// The positions of a table's slots by change time, then key: the order of a list of changes.
///
/// Leaves out slots with an unknown change time. A slot is removed before it changes and inserted again after.
struct ChangeOrder: Sendable {
    /// Records with the same key, or none, keep their order of arrival.
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
