import Synchronization
import Upstream

/// When the requests of all processes of a simulation were over, and which of them passed a change that waited.
final class SystemRequests: RequestJournal {
    /// One call of the daemon, which sends requests.
    struct Call: Sendable {
        enum Kind { case pull, change, other }

        var id: Int
        var kind: Kind
    }

    private struct Wait {
        var since: Duration
        var pulls = 0
    }

    private struct State {
        /// Nil while one is under way.
        var ends: [Duration?] = []
        var calls = 0
        var waiting: [Int: Wait] = [:]
        var mostPulls = 0
        var waits = 0
    }

    /// The call that the current task makes.
    @TaskLocal static var call: Call?

    private let executor: SimulatedExecutor
    private let state = Mutex(State())

    init(executor: SimulatedExecutor) {
        self.executor = executor
    }

    var ages: [Duration] {
        let now = executor.now
        return state.withLock { $0.ends.map { now - ($0 ?? now) } }
    }

    /// The most pulls that were sent while one change waited for its turn.
    var mostPulls: Int { state.withLock { $0.mostPulls } }
    /// How many changes have waited for their turn.
    var waits: Int { state.withLock { $0.waits } }

    func newCall(_ kind: Call.Kind) -> Call {
        state.withLock { state in
            state.calls += 1
            return Call(id: state.calls, kind: kind)
        }
    }

    /// A change was not let pass, and waits for its turn.
    func wait(_ call: Call) {
        let now = executor.now
        state.withLock { $0.waiting[call.id] = $0.waiting[call.id] ?? Wait(since: now) }
    }

    func end(_ call: Call) { state.withLock { $0.waiting[call.id] = nil } }

    func sent() -> Int {
        let now = executor.now
        return state.withLock { state in
            switch Self.call?.kind {
            case .pull:
                // One that was let pass before the change came is sent at the same time.
                for (id, wait) in state.waiting where wait.since < now { state.waiting[id]?.pulls += 1 }
            case .change:
                guard let id = Self.call?.id, let wait = state.waiting.removeValue(forKey: id) else { break }
                state.waits += 1
                state.mostPulls = max(state.mostPulls, wait.pulls)
            case .other, nil: break
            }
            state.ends.append(nil)
            return state.ends.count - 1
        }
    }

    func answered(_ number: Int) {
        let now = executor.now
        state.withLock { $0.ends[number] = now }
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
