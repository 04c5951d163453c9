internal import Synchronization

/// Limits how many event streams are open at once.
final class StreamLimit: Sendable {
    private let limit: Int
    private let open = Mutex(0)

    init(_ limit: Int) {
        self.limit = limit
    }

    var openCount: Int { open.withLock { $0 } }

    /// A place for one more stream; nil when all are taken.
    func take() -> Place? {
        open.withLock { open in
            guard open < limit else { return nil }
            open += 1
            return Place(self)
        }
    }

    /// Held as long as the stream's response exists, whether or not it is ever written.
    final class Place: Sendable {
        private let limit: StreamLimit

        fileprivate init(_ limit: StreamLimit) {
            self.limit = limit
        }

        deinit { limit.open.withLock { $0 -= 1 } }
    }
}
