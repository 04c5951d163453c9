/// Shares requests for single records: one request at a time for each record, a few at once, and no caller waits for
/// long.
actor RequestCoalescer {
    private static let mostWaiting = 100

    private let clock: any Clock<Duration>
    private let parallel: Int
    /// The longest that a caller waits.
    private let patience: Duration
    private var underWay: [RecordName: Task<RefreshOutcome, Never>] = [:]
    private var active = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(clock: any Clock<Duration>, parallel: Int, patience: Duration = .seconds(10)) {
        self.clock = clock
        self.patience = patience
        self.parallel = parallel
    }

    /// Joins a request for the same record that is under way, or starts one with `ask`. The request continues, and
    /// fills the cache, after the caller has stopped waiting.
    func outcome(of name: RecordName, ask: @escaping @Sendable () async -> RefreshOutcome) async -> RefreshOutcome {
        let task: Task<RefreshOutcome, Never>
        if let running = underWay[name] {
            task = running
        } else {
            guard waiting.count < Self.mostWaiting else { return .busy }
            task = Task { await self.run(name, ask) }
            underWay[name] = task
        }
        return await Self.within(patience, clock, task)
    }

    private func run(_ name: RecordName, _ ask: @Sendable () async -> RefreshOutcome) async -> RefreshOutcome {
        if active >= parallel {
            // A request that ends hands its place over.
            await withCheckedContinuation { waiting.append($0) }
        } else {
            active += 1
        }
        let outcome = await ask()
        underWay[name] = nil
        if waiting.isEmpty { active -= 1 } else { waiting.removeFirst().resume() }
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
