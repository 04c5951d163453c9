/// What happens to the machines of a fleet, by time: a binary heap.
struct FleetQueue {
    enum Kind {
        /// The pull loop's sleep ends.
        case wake
        /// A local write.
        case write
        /// The push loop's sleep ends: the upstream no longer asks to be left alone.
        case push
    }

    struct Event {
        var at: Int64
        var machine: Int
        var kind: Kind
        /// Of the machine when the event was planned: a later plan replaces an earlier one.
        var plan: Int
    }

    private var heap: [Event] = []

    var next: Int64? { heap.first?.at }

    mutating func add(_ event: Event) {
        heap.append(event)
        var child = heap.count - 1
        while child > 0, heap[child].at < heap[(child - 1) / 2].at {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func removeFirst() -> Event? {
        guard let last = heap.popLast() else { return nil }
        guard let first = heap.first else { return last }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child].at < heap[least].at {
                least = child
            }
            if least == parent { return first }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
