/// The memory that all large answers of one transport may take together, and the exchanges that wait for some of it, in
/// turn.
///
/// Small answers do not count: there are never more than requests in flight.
struct AnswerQueue {
    /// What an answer may have before it counts.
    static let uncounted = 1 << 20

    private let limit: Int
    private var free: Int
    private var waiting: [(id: UInt64, bytes: Int)] = []

    init(limit: Int) {
        self.limit = limit
        free = limit
    }

    /// How much an exchange gets: nil if it has to wait until `giveBack` returns it. One that wants more than there is in
    /// all gets all, so that each gets its turn.
    mutating func take(_ bytes: Int, for id: UInt64) -> Int? {
        let bytes = min(bytes, limit)
        guard waiting.isEmpty, bytes <= free else {
            waiting.append((id, bytes))
            return nil
        }
        free -= bytes
        return bytes
    }

    /// Returns those whose turn it is, with how much each gets.
    mutating func giveBack(_ bytes: Int) -> [(id: UInt64, bytes: Int)] {
        free += bytes
        return next()
    }

    /// The exchange no longer waits. Returns those whose turn it is then.
    mutating func leave(_ id: UInt64) -> [(id: UInt64, bytes: Int)] {
        waiting.removeAll { $0.id == id }
        return next()
    }

    private mutating func next() -> [(id: UInt64, bytes: Int)] {
        var ready: [(id: UInt64, bytes: Int)] = []
        while let first = waiting.first, first.bytes <= free {
            free -= first.bytes
            ready.append(waiting.removeFirst())
        }
        return ready
    }
}
