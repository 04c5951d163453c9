package import CacheStore
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
    let random: @Sendable () -> Double
    let log: Logger
    private let pushRest: Rest
    private let pullRest: Rest
    let clock: any Clock<Duration>

    private var health = UpstreamHealth()
    private var isPaused = false
    private var accountIsKnown = false
    var run = SyncRun()
    private var requested: SyncRequest?
    private var waiters: [Waiter] = []
    private var nextSyncAt: Timestamp?
    private var isPushing = false

    private struct Waiter {
        /// The run under way when that covers what was asked for, else the next one.
        var run: Int
        var continuation: CheckedContinuation<Result<Void, SyncError>, Never>
    }

    /// `random` yields numbers in 0..<1; `clock` measures waits, `now` tells the time of day.
    package init(
        store: CacheStore, schema: EntitySchema, upstream: any Upstream, settings: SyncSettings,
        clock: any Clock<Duration>, now: @escaping @Sendable () -> Timestamp,
        random: @escaping @Sendable () -> Double, log: Logger
    ) {
        self.store = store
        self.schema = schema
        self.upstream = upstream
        self.settings = settings
        self.clock = clock
        self.now = now
        self.random = random
        self.log = log
        pushRest = Rest(clock: clock)
        pullRest = Rest(clock: clock)
    }

    /// Runs until the task is cancelled, beginning with a sync. Throws `SyncError.otherAccount` when the token turns out
    /// to belong to another account than the cache, which this process must not touch then.
    package func run() async throws {
        let interrupted = try await store.recoverInterrupted()
        if interrupted > 0 {
            log.notice("requeued changes whose sending was cut short", metadata: ["count": "\(interrupted)"])
        }
        requested = SyncRequest().merged(with: requested)
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await self.pushLoop() }
                group.addTask { try await self.pullLoop() }
                try await group.next()
                group.cancelAll()
            }
        } catch is CancellationError {}
        finishWaiters(.failure(.cancelled), through: .max)
    }

    // MARK: For callers

    /// Tells that the queue has something new; it is sent a moment later, so that a burst goes together.
    package nonisolated func noteLocalWrite() {
        Task { await pushRest.call() }
    }

    /// Starts a sync, or joins the one under way.
    package func requestSync(_ request: SyncRequest) async {
        health.retryAuthorization()
        if run.isRunning, run.request.covers(request) { return }
        requested = request.merged(with: requested)
        await pullRest.call()
    }

    /// Starts or joins a sync and waits for its end; throws why it did not end well.
    package func sync(_ request: SyncRequest) async throws(SyncError) {
        guard !isPaused else { throw .paused }
        await requestSync(request)
        let joins = run.isRunning && run.request.covers(request)
        let result = await withCheckedContinuation { continuation in
            waiters.append(Waiter(run: joins ? run.number : run.number + 1, continuation: continuation))
        }
        try result.get()
    }

    package func pause() {
        isPaused = true
    }

    package func resume() async {
        isPaused = false
        await pushRest.call()
        await pullRest.call()
    }

    package func status() -> SyncStatus {
        let time = now()
        let state: SyncStatus.State
        if isPaused {
            state = .paused
        } else if health.offline != nil {
            state = .offline
        } else if run.isRunning || isPushing {
            state = .syncing
        } else if health.unauthorized != nil || run.error != nil {
            state = .error
        } else if let ended = run.lastEndedAt, time < ended + .seconds(3) {
            state = .completed
        } else {
            state = .idle
        }
        return SyncStatus(
            state: state, progress: run.progress, phase: run.phase ?? (isPushing ? "pushing" : nil),
            lastSyncAt: run.lastSucceededAt, nextSyncAt: nextSyncAt,
            error: health.unauthorized ?? health.offline ?? run.error, isReachable: health.offline == nil,
            retryAfter: health.hold(at: time), entities: run.entities)
    }

    // MARK: The push loop

    private func pushLoop() async throws {
        while !Task.isCancelled {
            if canCall { try await pushOnce() }
            await pushRest.rest(for: try pushWait())
            guard !Task.isCancelled else { break }
            // A burst of writes goes together.
            try await clock.sleep(for: settings.writeDelay)
        }
        throw CancellationError()
    }

    /// Until the next waiting change is due; nil until somebody calls.
    private func pushWait() throws -> Duration? {
        let time = now()
        guard canCall else { return health.hold(at: time)?.since(time) }
        // What is due and still here cannot be sent, so it does not hurry.
        return try store.nextAttempt().map { $0 > time ? $0.since(time) : .seconds(1) }
    }

    private var canCall: Bool { !isPaused && health.mayCall(at: now()) }

    func pushOnce() async throws {
        // The pull loop pushes before it pulls; one at a time is enough, since one sends all there is.
        guard !isPushing else { return }
        isPushing = true
        defer { isPushing = false }
        do {
            guard try store.pendingCount().pending > 0 else { return }
            try await requireAccount()
            try await Pusher(
                schema: schema, store: store, upstream: upstream, settings: settings, now: now, random: random
            ).drain()
        } catch let error as UpstreamError {
            try note(error)
        } catch let error as CacheError {
            log.error("the queue could not be read or written", metadata: ["error": "\(error)"])
        }
    }

    // MARK: The pull loop

    private func pullLoop() async throws {
        while !Task.isCancelled {
            let time = now()
            if health.offline != nil, !isPaused { await probe() }
            if let nextSyncAt, nextSyncAt <= time { health.retryAuthorization() }
            let due = requested ?? ((nextSyncAt ?? time) <= time ? SyncRequest() : nil)
            if let due, canCall {
                requested = nil
                try await runOnce(due)
                nextSyncAt = now() + waitAfterRun()
            } else if requested != nil, !canCall {
                finishWaiters(.failure(reasonNotToCall), through: run.number + 1)
            }
            await pullRest.rest(for: pullWait())
        }
        throw CancellationError()
    }

    /// The interval, give or take; after a run that failed, sooner: as soon as a change would be tried again.
    private func waitAfterRun() -> Duration {
        let interval = settings.interval * (0.9 + 0.2 * random())
        guard run.error != nil else { return interval }
        return min(interval, max(settings.retry.delay(attempt: run.failures, random: random()), .seconds(1)))
    }

    private var reasonNotToCall: SyncError {
        if isPaused { return .paused }
        if let offline = health.offline { return .offline(offline) }
        return .upstream(health.unauthorized ?? "the upstream asked to be left alone for a while")
    }

    private func pullWait() -> Duration? {
        let time = now()
        if isPaused { return nil }
        if health.offline != nil { return health.probeDelay }
        if let until = health.hold(at: time) { return until.since(time) }
        return nextSyncAt.map { max($0.since(time), .zero) }
    }

    private func probe() async {
        health.probed()
        do {
            try await upstream.probe()
            health.reached()
            log.notice("the upstream can be reached again")
            requested = SyncRequest().merged(with: requested)
            try await store.hastenWaiting(at: now())
            await pushRest.call()
        } catch {
            log.debug("still offline", metadata: ["error": "\(error)"])
        }
    }

    private func runOnce(_ request: SyncRequest) async throws {
        run.begin(request)
        log.info("sync started", metadata: ["full": "\(request.full)"])
        var result: Result<Void, SyncError> = .success(())
        do {
            try await requireAccount()
            run.phase = "pushing"
            try await pushOnce()
            try await pullEntities(request)
            if let error = run.error { result = .failure(.upstream(error)) }
        } catch let error as UpstreamError {
            run.error = error.message
            try note(error)
            result = .failure(health.offline == nil ? .upstream(error.message) : .offline(error.message))
        } catch let error as CacheError {
            run.error = "\(error)"
            result = .failure(.cache("\(error)"))
            log.error("the cache could not be written", metadata: ["error": "\(error)"])
        }
        run.end(at: now())
        if let error = run.error {
            log.warning("sync failed", metadata: ["error": "\(error)"])
        } else {
            log.info("sync ended")
        }
        finishWaiters(result, through: run.number)
    }

    private func finishWaiters(_ result: Result<Void, SyncError>, through number: Int) {
        for waiter in waiters where waiter.run <= number { waiter.continuation.resume(returning: result) }
        waiters.removeAll { $0.run <= number }
    }

    // MARK: What went wrong

    /// Takes note of what concerns the whole upstream.
    private func note(_ error: UpstreamError) throws {
        switch error {
        case .offline(let message):
            if health.offline == nil {
                log.warning("the upstream cannot be reached", metadata: ["error": "\(message)"])
            }
            health.lost(message)
            Task { await pullRest.call() }
        case .throttled(let delay, let message):
            log.warning("the upstream asks to wait", metadata: ["for": "\(delay)", "error": "\(message)"])
            health.hold(until: now() + delay)
        case .unauthorized(let message):
            log.error("the upstream does not accept the token", metadata: ["error": "\(message)"])
            health.refuse(message)
        case .cancelled: throw CancellationError()
        case .unclear, .changed, .gone, .refused, .malformed: break
        }
    }

    /// Makes sure, once, that the cache belongs to the account whose token we have.
    private func requireAccount() async throws {
        guard !accountIsKnown else { return }
        if let account = try await upstream.account() {
            let known = try store.setting("account")
            guard known == nil || known == account else { throw SyncError.otherAccount(account) }
            if known == nil { try await store.setSetting("account", to: account) }
        }
        accountIsKnown = true
    }
}
