import CLinux
import Glibc
import Synchronization
import SystemCalls

/// An object with a descriptor that an event loop watches; all methods are called on the loop's thread.
protocol EventSource: AnyObject, Sendable {
    var descriptor: Int32 { get }
    /// With whom it shares its turns; nil for no caller.
    var turnTaker: ConnectionHolder? { get }
    /// The descriptor became readable, writable or broken (`EPOLLIN` and so on).
    func ready(_ events: UInt32)
    /// Called at or after the last announced deadline; returns the next deadline.
    func expire(at now: ContinuousClock.Instant) -> ContinuousClock.Instant?
    /// Finish requests in flight and accept nothing new.
    func drain()
    /// Stop immediately.
    func abort()
}

/// A thread that waits in epoll and runs the jobs of the tasks and actors assigned to it.
///
/// A handler that waits for nothing else runs from request to response without leaving the thread.
final class EventLoop: SerialExecutor, TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isAsleep = false
        var sources: [UInt64: any EventSource] = [:]
        var late = LateEvents()
        /// Jobs have taken longer than their turn, and some are left.
        var isBehind = false
        var soonest: ContinuousClock.Instant?
        var drainStarted = false
        var drainLimit: ContinuousClock.Instant?
        var drainWaiter: CheckedContinuation<Void, Never>?

        var nextDeadline: ContinuousClock.Instant? {
            guard let drainLimit else { return soonest }
            return min(soonest ?? drainLimit, drainLimit)
        }
    }

    private enum Next {
        case wait(milliseconds: Int32)
        case end
    }

    /// How long jobs may keep the sockets waiting, and these the jobs: with many connections, one request of each can take long
    /// together.
    private static let turn: Duration = .milliseconds(2)
    /// Once so many jobs wait, one event is handled at a time: it may add a job, and for jobs callers take no turns.
    private static let manyJobs = 8

    private let epoll: Int32
    private let wakeup: Int32
    private let state = Mutex(State())
    private let thread = Atomic<UInt>(0)
    private let turnCount = Atomic<UInt64>(0)
    /// Memory for what is read from a socket; one for all, because allocating it takes longer than reading.
    private let scratch = Mutex<[UInt8]>([])

    /// The number of rounds so far; increases while the loop is awake and not stuck in a handler.
    var turns: UInt64 { turnCount.load(ordering: .relaxed) }

    init() throws(ServerError) {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        wakeup = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard epoll >= 0, wakeup >= 0 else {
            throw .system("Cannot create an event loop (\(SystemError.last)); raise the limit of open files.")
        }
        var event = epoll_event()
        event.events = EPOLLIN.rawValue | EPOLLET.rawValue
        guard epoll_ctl(epoll, EPOLL_CTL_ADD, wakeup, &event) == 0 else {
            throw .system("Cannot watch the event loop's wake-up descriptor (\(SystemError.last)).")
        }
    }

    deinit {
        close(epoll)
        close(wakeup)
    }

    /// Starts the thread; call it once. The thread ends after `stop`, when the last source has been removed.
    func start() throws(ServerError) {
        var id = pthread_t()
        let body = Unmanaged.passRetained(self)
        let result = pthread_create(
            &id, nil,
            { pointer in
                guard let pointer else { return nil }
                Unmanaged<EventLoop>.fromOpaque(pointer).takeRetainedValue().run()
                return nil
            }, body.toOpaque())
        guard result == 0 else {
            body.release()
            throw .system("Cannot start a server thread (error \(result)).")
        }
        pthread_detach(id)
    }

    /// Gives every source `limit` to finish, then aborts the rest; returns when no source is left or all are aborted.
    func stop(within limit: Duration) async {
        await withCheckedContinuation { continuation in
            state.withLock {
                $0.drainLimit = .now + limit
                $0.drainWaiter = continuation
            }
            wake()
        }
    }

    /// Aborts every source and ends.
    func stop() {
        state.withLock { $0.drainLimit = .now }
        wake()
    }

    /// Makes the loop run one round; call it from any thread.
    func wake() { eventfd_write(wakeup, 1) }

    // MARK: Sources

    /// Watches a source and keeps it until it is removed; throws when the system limit is reached.
    func add(_ source: any EventSource, events: UInt32) throws(ServerError) {
        try state.withLock { state throws(ServerError) in
            var event = epoll_event()
            event.events = events
            event.data.u64 = Self.token(source)
            guard epoll_ctl(epoll, EPOLL_CTL_ADD, source.descriptor, &event) == 0 else {
                throw .system("Cannot watch a socket (\(SystemError.last)); raise the limit of epoll watches.")
            }
            state.sources[Self.token(source)] = source
        }
    }

    /// Removes a source; the caller closes the descriptor.
    func remove(_ source: any EventSource) {
        state.withLock { state in
            guard state.sources.removeValue(forKey: Self.token(source)) != nil else { return }
            state.late.forget(Self.token(source))
            epoll_ctl(epoll, EPOLL_CTL_DEL, source.descriptor, nil)
        }
        wake()
    }

    private static func token(_ source: any EventSource) -> UInt64 {
        UInt64(UInt(bitPattern: ObjectIdentifier(source)))
    }

    /// Announces a source's deadline.
    func announce(_ deadline: ContinuousClock.Instant) {
        state.withLock { $0.soonest = min($0.soonest ?? deadline, deadline) }
    }

    /// Gives `body` `byteCount` bytes of memory, with any content, and returns what it returns.
    func withScratch(byteCount: Int, _ body: (UnsafeMutableRawBufferPointer) -> Int) -> Int {
        scratch.withLock { scratch in
            if scratch.count < byteCount { scratch = [UInt8](repeating: 0, count: byteCount) }
            return scratch.withUnsafeMutableBytes { body(UnsafeMutableRawBufferPointer(rebasing: $0[..<byteCount])) }
        }
    }

    /// Whether a task had better wait for its caller's turn before it does what takes long.
    var isBehind: Bool { state.withLock { $0.isBehind || !$0.late.isEmpty } }

    /// Calls the source's `ready` without an event, when it is its caller's turn.
    func awaitTurn(of source: any EventSource) {
        let turnTaker = source.turnTaker
        state.withLock { $0.late.add(0, of: Self.token(source), by: turnTaker) }
    }

    // MARK: Executor

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let wasAsleep = state.withLock { state in
            state.jobs.append(job)
            defer { state.isAsleep = false }
            return state.isAsleep
        }
        if wasAsleep { wake() }
    }

    func isIsolatingCurrentContext() -> Bool? { pthread_self() == thread.load(ordering: .relaxed) }

    func checkIsolated() {
        precondition(pthread_self() == thread.load(ordering: .relaxed), "this may only run on the event loop's thread")
    }

    // MARK: The loop

    private func run() {
        thread.store(pthread_self(), ordering: .relaxed)
        var batch: [UnownedJob] = []
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 128) { events in
            while case .wait(let milliseconds) = next() {
                let count = epoll_wait(epoll, events.baseAddress, Int32(events.count), milliseconds)
                turnCount.add(1, ordering: .relaxed)
                dispatch(UnsafeBufferPointer(rebasing: events[..<Int(max(count, 0))]), until: .now + Self.turn)
                let now = ContinuousClock.now
                expireSources(at: now)
                drainSources()
                runJobs(&batch, until: now + Self.turn)
            }
        }
    }

    /// How long to sleep: not at all while jobs are queued, otherwise until the next deadline.
    private func next() -> Next {
        let ended: CheckedContinuation<Void, Never>?
        let result: Next
        (result, ended) = state.withLock { state in
            if state.drainStarted, state.sources.isEmpty, state.jobs.isEmpty {
                return (.end, state.drainWaiter.take())
            }
            if !state.jobs.isEmpty || !state.late.isEmpty { return (.wait(milliseconds: 0), nil) }
            state.isAsleep = true
            guard let soonest = state.nextDeadline else { return (.wait(milliseconds: -1), nil) }
            let rest = (soonest - .now) / .milliseconds(1)
            return (.wait(milliseconds: Int32(min(max(rest.rounded(.up), 0), 3_600_000))), nil)
        }
        ended?.resume()
        return result
    }

    /// Usually all events have their turn in the order in which they came. When they take long together, callers take turns, and
    /// what is left waits for the next round.
    private func dispatch(_ events: UnsafeBufferPointer<epoll_event>, until end: ContinuousClock.Instant) {
        var count = 0
        if state.withLock({ $0.late.isEmpty }) {
            for event in events {
                let (source, isBusy) = source(of: event.data.u64)
                guard count == 0 || !isBusy && ContinuousClock.now < end else { break }
                source?.ready(event.events)
                count += 1
            }
            guard count < events.count else { return }
        }
        for event in events[count...] {
            guard let source = source(of: event.data.u64).source else { continue }
            let turnTaker = source.turnTaker
            state.withLock { $0.late.add(event.events, of: event.data.u64, by: turnTaker) }
        }
        while let (token, events) = state.withLock({ $0.late.next() }) {
            let (source, isBusy) = source(of: token)
            source?.ready(events)
            guard !isBusy, ContinuousClock.now < end else { return }
        }
    }

    /// The source of this token, unless it has been removed, and whether many jobs wait.
    private func source(of token: UInt64) -> (source: (any EventSource)?, isBusy: Bool) {
        state.withLock { state in
            state.isAsleep = false
            return (state.sources[token], state.isBehind || state.jobs.count >= Self.manyJobs)
        }
    }

    private func expireSources(at now: ContinuousClock.Instant) {
        let due = state.withLock { state -> [any EventSource] in
            guard let soonest = state.soonest, soonest <= now else { return [] }
            state.soonest = nil
            return Array(state.sources.values)
        }
        for source in due {
            if let deadline = source.expire(at: now) { announce(deadline) }
        }
    }

    /// Starts or ends the drain period of `stop`.
    private func drainSources() {
        guard state.withLock({ $0.drainLimit != nil }) else { return }
        let (drained, aborted, waiter) = state.withLock { state in
            guard let limit = state.drainLimit else { return ([], [], nil) as Draining }
            let all = Array(state.sources.values)
            let begins = !state.drainStarted
            state.drainStarted = true
            guard limit <= .now else { return (begins ? all : [], [], nil) }
            state.drainLimit = nil
            return ([], all, state.drainWaiter.take())
        }
        drained.forEach { $0.drain() }
        aborted.forEach { $0.abort() }
        waiter?.resume()
    }

    private typealias Draining = ([any EventSource], [any EventSource], CheckedContinuation<Void, Never>?)

    /// Runs queued jobs and the jobs that they queue. For fairness to the sockets it returns after 16 rounds, or when jobs have
    /// taken long. `batch` is reusable memory.
    private func runJobs(_ batch: inout [UnownedJob], until end: ContinuousClock.Instant) {
        for round in 1...16 {
            state.withLock { state in
                swap(&state.jobs, &batch)
                if batch.isEmpty { state.isBehind = false }
            }
            if batch.isEmpty { return }
            let ran = run(batch, until: end)
            if ran < batch.count {
                state.withLock { state in
                    state.jobs.insert(contentsOf: batch[ran...], at: 0)
                    state.isBehind = true
                }
                return batch.removeAll(keepingCapacity: true)
            }
            batch.removeAll(keepingCapacity: true)
            // Asking for the time takes about as long as a short job.
            if round.isMultiple(of: 4), ContinuousClock.now >= end { return }
        }
    }

    /// Returns how many jobs it has run: at least one, and all unless they take long.
    private func run(_ jobs: [UnownedJob], until end: ContinuousClock.Instant) -> Int {
        for (index, job) in jobs.enumerated() {
            job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
            if index + 1 < jobs.count, ContinuousClock.now >= end { return index + 1 }
        }
        return jobs.count
    }
}
