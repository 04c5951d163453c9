internal import Synchronization

/// How many event streams may be open at once.
final class StreamLimit: Sendable {
    private let limit: Int
    private let open = Mutex(0)

    init(_ limit: Int) {
        self.limit = limit
    }

    var openCount: Int { open.withLock { $0 } }

    /// A place for one more; nil when there is none.
    func take() -> Place? {
        open.withLock { open in
            guard open < limit else { return nil }
            open += 1
            return Place(self)
        }
    }

    /// Held as long as the stream's answer exists, whether it is ever written or not.
    final class Place: Sendable {
        private let limit: StreamLimit

        fileprivate init(_ limit: StreamLimit) {
            self.limit = limit
        }

        deinit { limit.open.withLock { $0 -= 1 } }
    }
}
