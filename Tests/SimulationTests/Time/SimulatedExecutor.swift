import ReferenceUpstream
import Synchronization

/// Runs all tasks of a simulation on one thread: holds the ready jobs and the timers, and picks the next one.
///
/// Jobs run only within `run`, one at a time. The seed picks the next of the ready jobs, so every interleaving is
/// possible and each can be replayed. Time advances only when nothing is ready.
final class SimulatedExecutor: SerialExecutor {
    private enum Work: Sendable {
        case job(UnownedJob)
        case action(@Sendable () -> Void)
    }

    private struct Timer: Sendable {
        var id: Int
        var time: Duration
        var action: @Sendable () -> Void
    }

    private struct State {
        var ready: [Work] = []
        /// Sorted by time; timers of the same time in the order they were set.
        var timers: [Timer] = []
        var now = Duration.zero
        var lastTimer = 0
        var jobs = 0
        var random: SplitMix64
    }

    private let state: Mutex<State>

    init(seed: UInt64) {
        state = Mutex(State(random: SplitMix64(seed: seed)))
    }

    /// Since the simulation began.
    var now: Duration { state.withLock { $0.now } }
    /// Jobs run so far.
    var jobs: Int { state.withLock { $0.jobs } }

    /// Draws from the seed. All randomness of a simulation comes from here, except its script.
    func random<Result: Sendable>(_ draw: (inout SplitMix64) -> Result) -> Result {
        state.withLock { draw(&$0.random) }
    }

    /// Continues with other numbers, so that a shortened script behaves the same in its remaining steps.
    func reseed(_ seed: UInt64) { state.withLock { $0.random = SplitMix64(seed: seed) } }

    // MARK: Work

    func enqueue(_ job: UnownedJob) { state.withLock { $0.ready.append(.job(job)) } }
    func enqueue(_ job: consuming ExecutorJob) { enqueue(UnownedJob(job)) }
    func enqueue(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.ready.append(.action(action)) } }

    /// Calls `action` after `delay`; returns the id that `cancel` takes.
    @discardableResult
    func after(_ delay: Duration, _ action: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.lastTimer += 1
            let timer = Timer(id: state.lastTimer, time: state.now + max(delay, .zero), action: action)
            let index = state.timers.lastIndex { $0.time <= timer.time }.map { $0 + 1 } ?? 0
            state.timers.insert(timer, at: index)
            return timer.id
        }
    }

    /// Returns false when the action was called already.
    func cancel(timer id: Int) -> Bool {
        state.withLock { state in
            guard let index = state.timers.firstIndex(where: { $0.id == id }) else { return false }
            state.timers.remove(at: index)
            return true
        }
    }

    // MARK: Running

    /// Runs everything that is or becomes ready within `duration`, then sets the time to its end.
    func run(for duration: Duration) {
        let end = now + duration
        repeat { runReady() } while fireNextTimer(before: end)
        state.withLock { $0.now = end }
    }

    /// Stops after `jobs` jobs, even if others are ready, or after `limit` at the latest.
    func run(jobs: Int, within limit: Duration) {
        let end = now + limit
        for _ in 0..<jobs {
            while !runOne() { guard fireNextTimer(before: end) else { return } }
        }
    }

    /// Runs until nothing is ready and no timer is left. Returns false when that takes longer than `limit`.
    func drain(within limit: Duration) -> Bool {
        let end = now + limit
        repeat { runReady() } while fireNextTimer(before: end)
        return state.withLock { $0.timers.isEmpty }
    }

    private func runReady() { while runOne() {} }

    private func runOne() -> Bool {
        let work = state.withLock { state -> Work? in
            guard !state.ready.isEmpty else { return nil }
            state.jobs += 1
            let index = state.random.below(state.ready.count)
            state.ready.swapAt(index, state.ready.count - 1)
            return state.ready.removeLast()
        }
        switch work {
        case nil: return false
        case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
        case .action(let action): action()
        }
        return true
    }

    private func fireNextTimer(before end: Duration) -> Bool {
        let timer = state.withLock { state -> Timer? in
            guard let first = state.timers.first, first.time <= end else { return nil }
            state.now = max(state.now, first.time)
            return state.timers.removeFirst()
        }
        timer?.action()
        return timer != nil
    }
}
