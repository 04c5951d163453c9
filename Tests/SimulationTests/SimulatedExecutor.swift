import ReferenceUpstream
import Synchronization

/// One thread's whole world of concurrency: what is ready to run, what waits for its time, and which of them is next.
///
/// Nothing runs but in `run`, one job at a time; which of the ready ones is next is decided by the seed, so that every
/// interleaving can come up and each comes up again with its seed. Time moves only when nothing is ready.
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
        /// In the order of their times; equal ones in the order they were set.
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

    /// Draws from the seed; all that is random in a simulation comes from here, except its script.
    func random<Result: Sendable>(_ draw: (inout SplitMix64) -> Result) -> Result {
        state.withLock { draw(&$0.random) }
    }

    /// Goes on with other numbers, so that a script with fewer steps behaves alike in those that are left.
    func reseed(_ seed: UInt64) { state.withLock { $0.random = SplitMix64(seed: seed) } }

    // MARK: Work

    func enqueue(_ job: UnownedJob) { state.withLock { $0.ready.append(.job(job)) } }
    func enqueue(_ job: consuming ExecutorJob) { enqueue(UnownedJob(job)) }
    func enqueue(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.ready.append(.action(action)) } }

    /// Calls `action` when the time has come; returns what `cancel` takes.
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

    /// False when it has been called already.
    func cancel(timer id: Int) -> Bool {
        state.withLock { state in
            guard let index = state.timers.firstIndex(where: { $0.id == id }) else { return false }
            state.timers.remove(at: index)
            return true
        }
    }

    // MARK: Running

    /// Runs all that is ready and that becomes ready until so much time has passed; then it is that late.
    func run(for duration: Duration) {
        let end = now + duration
        repeat { runReady() } while fireNextTimer(before: end)
        state.withLock { $0.now = end }
    }

    /// Stops after so many jobs, whatever is ready then; at the latest when so much time has passed.
    func run(jobs: Int, within limit: Duration) {
        let end = now + limit
        for _ in 0..<jobs {
            while !runOne() { guard fireNextTimer(before: end) else { return } }
        }
    }

    /// Runs until nothing is ready and nothing waits. False when that has not come about within `limit`.
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
