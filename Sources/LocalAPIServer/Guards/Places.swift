internal import SocketServer
internal import Synchronization

/// Limits how many long calls of each kind run at once.
package struct Places: Sendable {
    /// Event streams.
    let streams: PlaceLimit
    /// Callers that wait for the next version of a record.
    let waiting: PlaceLimit
    /// Lists that are sent as a whole.
    let wholeLists: PlaceLimit
    /// Batches whose callers wait for the upstream.
    let waitingBatches: PlaceLimit
    /// Contents that are being received: each may take as much of the disk as the largest.
    let uploads: PlaceLimit

    package init(ofEach limit: Int) {
        streams = PlaceLimit(limit)
        waiting = PlaceLimit(limit)
        wholeLists = PlaceLimit(limit)
        waitingBatches = PlaceLimit(limit)
        uploads = PlaceLimit(limit)
    }
}

/// A number of places, of which one user gets at most half, and all users leave some to root and the daemon's.
final class PlaceLimit: Sendable {
    private let limit: Int
    private let open = Mutex<[RateLimit.Key: Int]>([:])

    init(_ limit: Int) {
        self.limit = limit
    }

    var openCount: Int { open.withLock { $0.values.reduce(0, +) } }

    /// A place for one more; nil when all are taken, or the caller's share of them.
    func take(for request: Request) -> Place? {
        let caller = RateLimit.Key(request)
        let isOwner = request.caller.access == .owner
        let room = isOwner ? limit : limit - limit / 16
        let share = isOwner ? limit : max(limit / 2, 1)
        return open.withLock { open in
            guard open.values.reduce(0, +) < room, open[caller, default: 0] < share else { return nil }
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
        private let limit: PlaceLimit
        private let caller: RateLimit.Key

        fileprivate init(_ limit: PlaceLimit, _ caller: RateLimit.Key) {
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
