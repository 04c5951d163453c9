internal import CacheStore
internal import Turns

/// Shares requests for single records: one request at a time for each record, a few at once, and no caller waits for
/// long. Callers take turns.
actor RequestCoalescer {
    /// One caller may have half of them.
    private static let mostWaiting = 100

    private let clock: any Clock<Duration>
    private let parallel: Int
    /// The longest that a caller waits.
    private let patience: Duration
    private var underWay: [RecordName: Task<RefreshOutcome, Never>] = [:]
    private var active = 0
    /// Requests that wait for a place.
    private var waiting = Turns<ReadCaller, CheckedContinuation<Void, Never>>()

    init(clock: any Clock<Duration>, parallel: Int, patience: Duration = .seconds(10)) {
        self.clock = clock
        self.patience = patience
        self.parallel = parallel
    }

    /// Joins a request for the same record that is under way, or starts one with `ask`. The request continues, and
    /// fills the cache, after the caller has stopped waiting.
    func outcome(
        of name: RecordName, for caller: ReadCaller, ask: @escaping @Sendable () async -> RefreshOutcome
    ) async -> RefreshOutcome {
        let task: Task<RefreshOutcome, Never>
        if let running = underWay[name] {
            task = running
        } else {
            guard mayWait(caller) else { return .busy }
            task = Task { await self.run(name, caller, ask) }
            underWay[name] = task
        }
        return await Self.within(patience, clock, task)
    }

    var waitingCount: Int { waiting.count }

    private func mayWait(_ caller: ReadCaller) -> Bool {
        waiting.count < Self.mostWaiting && (caller.mayTakeAll || waiting.count(of: caller) < Self.mostWaiting / 2)
    }

    private func run(
        _ name: RecordName, _ caller: ReadCaller, _ ask: @Sendable () async -> RefreshOutcome
    ) async -> RefreshOutcome {
        if active >= parallel {
            // A request that ends hands its place over.
            await withCheckedContinuation { waiting.add($0, for: caller) }
        } else {
            active += 1
        }
        let outcome = await ask()
        underWay[name] = nil
        if let next = waiting.next() { next.item.resume() } else { active -= 1 }
        return outcome
    }

    private static func within(
        _ patience: Duration, _ clock: any Clock<Duration>, _ task: Task<RefreshOutcome, Never>
    ) async -> RefreshOutcome {
        let (outcomes, continuation) = AsyncStream.makeStream(of: RefreshOutcome.self)
        let answer = Task { continuation.yield(await task.value) }
        let alarm = Task {
            try await clock.sleep(for: patience)
            continuation.yield(.timedOut)
        }
        defer {
            alarm.cancel()
            answer.cancel()
        }
        // A cancelled caller gets no outcome.
        for await outcome in outcomes { return outcome }
        return .timedOut
    }
}
