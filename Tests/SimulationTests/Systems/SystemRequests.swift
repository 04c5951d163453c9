import Synchronization
import Upstream

/// When the requests of all processes of a simulation were over.
final class SystemRequests: RequestJournal {
    private let executor: SimulatedExecutor
    /// Nil while one is under way.
    private let ends = Mutex<[Duration?]>([])

    init(executor: SimulatedExecutor) {
        self.executor = executor
    }

    var ages: [Duration] {
        let now = executor.now
        return ends.withLock { $0.map { now - ($0 ?? now) } }
    }

    func sent() -> Int {
        ends.withLock { ends in
            ends.append(nil)
            return ends.count - 1
        }
    }

    func answered(_ number: Int) {
        let now = executor.now
        ends.withLock { $0[number] = now }
    }
}

extension [Duration] {
    /// The most of these times, which are sorted, within any span of this length.
    func most(within span: Duration) -> Int {
        var (first, most) = (0, 0)
        for (index, time) in enumerated() {
            while self[first] <= time - span { first += 1 }
            most = Swift.max(most, index - first + 1)
        }
        return most
    }
}
