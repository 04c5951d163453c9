internal import SocketServer
internal import Synchronization

/// Limits how many event streams are open at once, how many whole lists are being sent, or how many callers wait. One user
/// gets at most half of the places, unless it is root or the daemon's.
final class StreamLimit: Sendable {
    private let limit: Int
    private let open = Mutex<[RateLimit.Key: Int]>([:])

    init(_ limit: Int) {
        self.limit = limit
    }

    var openCount: Int { open.withLock { $0.values.reduce(0, +) } }

    /// A place for one more; nil when all are taken, or the caller's share of them.
    func take(for request: Request) -> Place? {
        let caller = RateLimit.Key(request)
        let share = request.caller.access == .owner ? limit : max(limit / 2, 1)
        return open.withLock { open in
            guard open.values.reduce(0, +) < limit, open[caller, default: 0] < share else { return nil }
            open[caller, default: 0] += 1
            return Place(self, caller)
        }
    }

    private func release(_ caller: RateLimit.Key) {
        open.withLock { open in
            let left = open[caller, default: 1] - 1
            open[caller] = left > 0 ? left : nil
        }
    }

    /// Held as long as the response of the stream or list exists, whether or not it is ever written.
    final class Place: Sendable {
        private let limit: StreamLimit
        private let caller: RateLimit.Key

        fileprivate init(_ limit: StreamLimit, _ caller: RateLimit.Key) {
            self.limit = limit
            self.caller = caller
        }

        deinit { limit.release(caller) }
    }
}

/// How many callers wait for something of one kind.
final class CallerCount: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }

    func add() { count.add(1, ordering: .relaxed) }
    func remove() { count.subtract(1, ordering: .relaxed) }
}
