package import CacheStore
package import ContentStore
package import EntitySchema
package import Logging
package import Upstream

/// Keeps cache and upstream in step: pushes local changes as they come, pulls at intervals and on request, waits out
/// what cannot be helped.
///
/// Two loops run side by side, so that a local write need not wait for a long pull; each runs one piece of work at a
/// time, so there are never two syncs at once. What both must agree on is this actor's state.
package actor SyncEngine {
    let schema: EntitySchema
    let store: CacheStore
    let upstream: any Upstream
    let settings: SyncSettings
    nonisolated let now: @Sendable () -> Timestamp
    /// The time of day as it was at the start and has passed since. What is to come is scheduled by it, so that a clock
    /// that is set makes nothing early and nothing late.
    nonisolated let monotonicNow: @Sendable () -> Timestamp
    let random: @Sendable () -> Double
    /// How far the server's clock is ahead of `now`, as far as is known: the last write wins by the server's.
    package nonisolated let clockOffset: @Sendable () -> Duration?
    /// Told of each piece of work that was done.
    nonisolated let measure: @Sendable (SyncMeasurement) -> Void
    /// Told when `status` may have become another.
    nonisolated let changed: @Sendable () -> Void
    let log: Logger
    let pushSleep: WakeableSleep
    let pullSleep: WakeableSleep
    let pushHeartbeat: Heartbeat
    let pullHeartbeat: Heartbeat
    let uploadSleeps: [WakeableSleep]
    let refreshes: RequestCoalescer
    let fetches: RequestCoalescer
    /// The files of what records have besides their fields; nil where none do.
    package nonisolated let contents: ContentFolder?
    let clock: any Clock<Duration>

    var health = CircuitBreaker() {
        didSet {
            if oldValue.isBlocked, !health.isBlocked { noteCallable(from: monotonicNow()) }
            changed()
        }
    }
    /// A run pulls what held edits must meet before they are sent.
    var isMeeting = false
    /// Anew whenever the upstream can be called again.
    var freshness: Freshness
    var budget = RetryBudget()
    var isLookingElsewhere = false
    var isPaused = false {
        didSet {
            if oldValue, !isPaused { noteCallable(from: monotonicNow()) }
            changed()
        }
    }
    var accountIsKnown = false
    var run = SyncRun() { didSet { changed() } }
    var requested: SyncRequest?
    var waiters: [Waiter] = []
    var nextSyncAt: Timestamp?
    /// Why the engine runs no more.
    private var ended: SyncError?
    var isPushing = false { didSet { changed() } }
    /// The newest change that may be begun while somebody waits for those before it.
    var newestToPush = Int64.max
    var pushWaiters: [CheckedContinuation<Void, Never>] = []
    /// What the database refused to note, and is noted when it takes writes again.
    var unwritten = UnwrittenOutcomes()
    /// When the last pull of each entity began, well or badly ended.
    var pullsBegun: [String: Timestamp] = [:]
    /// Where the drift that was warned of ends.
    var driftMark: Int64 = 0

    struct Waiter {
        /// The run under way when that covers what was asked for, else the next one.
        var run: Int
        var continuation: CheckedContinuation<Result<Void, SyncError>, Never>
    }

    /// `random` yields numbers in 0..<1; `clock` measures waits, `now` tells the time of day.
    package init(
        store: CacheStore, contents: ContentFolder? = nil, schema: EntitySchema, upstream: any Upstream,
        settings: SyncSettings, clock: any Clock<Duration>, now: @escaping @Sendable () -> Timestamp,
        random: @escaping @Sendable () -> Double, clockOffset: @escaping @Sendable () -> Duration? = { nil },
        measure: @escaping @Sendable (SyncMeasurement) -> Void = { _ in },
        changed: @escaping @Sendable () -> Void = {}, log: Logger
    ) {
        self.store = store
        self.contents = contents
        self.schema = schema
        self.upstream = upstream
        self.settings = settings
        self.clock = clock
        self.now = now
        self.random = random
        self.clockOffset = clockOffset
        self.measure = measure
        self.changed = changed
        self.log = log
        let (start, stopwatch) = (now(), Stopwatch(clock))
        monotonicNow = { start + stopwatch.duration }
        freshness = Freshness(callableSince: start)
        pushSleep = WakeableSleep(clock: clock)
        pullSleep = WakeableSleep(clock: clock)
        pushHeartbeat = Heartbeat(clock: clock, patience: settings.patience)
        pullHeartbeat = Heartbeat(clock: clock, patience: settings.patience)
        uploadSleeps = (0..<Self.uploads).map { _ in WakeableSleep(clock: clock) }
        refreshes = RequestCoalescer(clock: clock, parallel: settings.parallel)
        fetches = RequestCoalescer(clock: clock, parallel: 2, patience: .seconds(30))
    }

    /// Runs until the task is cancelled, beginning with a sync. Throws `SyncError.otherAccount` when the token turns out
    /// to belong to another account than the cache, which this process must not touch then.
    package func run() async throws {
        let interrupted = try await recoverInterrupted()
        if interrupted > 0 {
            log.notice("requeued changes whose sending was cut short", metadata: ["count": "\(interrupted)"])
        }
        requested = SyncRequest().merged(with: requested)
        driftMark = try store.drift(after: 0).mark
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await self.pushLoop() }
                group.addTask { try await self.pullLoop() }
                for rest in uploadSleeps where takesUploads { group.addTask { try await self.uploadLoop(rest) } }
                try await group.next()
                group.cancelAll()
            }
        } catch is CancellationError {
            end(.cancelled)
        } catch {
            end(error as? SyncError ?? .cancelled)
            throw error
        }
    }

    /// Nobody waits any more for what will not come.
    private func end(_ reason: SyncError) {
        ended = reason
        finishWaiters(.failure(reason), through: .max)
    }

    // MARK: For callers

    /// Tells that the queue has something new; it is sent a moment later, so that a burst goes together.
    package nonisolated func noteLocalWrite() {
        Task {
            await pushSleep.call()
            await callUploads()
        }
    }

    /// Tells that a person wants changes tried again: they need not wait for the budget of repetitions.
    package func noteRetry() async {
        budget.fill()
        await pushSleep.call()
        await callUploads()
    }

    /// Starts a sync, or joins the one under way.
    package func requestSync(_ request: SyncRequest) async {
        health.retryAuthorization()
        if run.isRunning, run.request.covers(request) { return }
        requested = request.merged(with: requested)
        await pullSleep.call()
    }

    /// Starts or joins a sync and waits for its end, and for the changes that are on their way by then; throws why it did
    /// not end well.
    package func sync(_ request: SyncRequest) async throws(SyncError) {
        guard !isPaused else { throw .paused }
        await requestSync(request)
        if let ended { throw ended }
        let joins = run.isRunning && run.request.covers(request)
        let result = await withCheckedContinuation { continuation in
            waiters.append(Waiter(run: joins ? run.number : run.number + 1, continuation: continuation))
        }
        try result.get()
        await waitForPushes()
    }

    package func pause() {
        isPaused = true
    }

    package func resume() async {
        isPaused = false
        await pushSleep.call()
        await pullSleep.call()
    }

    /// Whether both loops move: each rests as long as it meant to, or has begun or ended something within
    /// `SyncSettings.patience`. For a watchdog.
    package func isMoving() -> Bool { pushHeartbeat.isMoving && pullHeartbeat.isMoving }

    /// What a person must still give before the upstream can be used; nil where nothing is known to be missing.
    private func missing() async -> String? {
        // An upstream that has given records lacks nothing, be it that it wants no token.
        guard run.failures > 0, run.entities.values.allSatisfy({ $0.lastSyncedAt == nil }) else { return nil }
        return await upstream.missing
    }

    /// The status, with what `missing` tells.
    package func report() async -> (status: SyncStatus, missing: String?) { (status(), await missing()) }

    package func status() -> SyncStatus {
        let time = now()
        // How far the clock has been set since the start.
        let set = time.since(monotonicNow())
        let state: SyncStatus.State
        if isPaused {
            state = .paused
        } else if health.offline != nil {
            state = .offline
        } else if run.isRunning || isPushing {
            state = .syncing
        } else if health.unauthorized != nil || health.outage != nil || run.error != nil {
            state = .error
        } else if let ended = run.lastEndedAt, time < ended + .seconds(3) {
            state = .completed
        } else {
            state = .idle
        }
        return SyncStatus(
            state: state, progress: run.progress, phase: run.phase ?? (isPushing ? "pushing" : nil),
            lastSyncAt: run.lastSucceededAt, nextSyncAt: nextSyncAt.map { $0 + set },
            error: health.unauthorized ?? health.offline ?? health.outage ?? run.error,
            isReachable: health.offline == nil, clockOffset: clockOffset(),
            retryAfter: health.hold(at: monotonicNow()).map { $0 + set }, entities: run.entities)
    }
}
