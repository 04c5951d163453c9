internal import CacheStore
internal import EntitySchema
internal import Logging
internal import SQLiteStore
internal import Upstream

/// What the pull loop does besides pulling. Runs on the engine's executor.
protocol RunSteps: Actor {
    /// Asks whether an upstream that is down can be called again.
    func probe() async throws
    /// Sends what is ready, up to this change. `heartbeat` is the calling loop's. Returns whether it has stopped because it took
    /// long.
    func push(_ heartbeat: Heartbeat, through newest: Int64) async throws -> Bool
    /// The same, after the push that is under way.
    func finishPushes(_ heartbeat: Heartbeat, through newest: Int64) async throws -> Bool
}

/// Runs a sync at intervals, on request, and when the upstream is back. Each run pushes, then pulls; one that callers wait for
/// then pushes what came meanwhile.
///
/// Runs on the engine's executor: see `EngineIsolation`.
actor PullLoop: TokenRefusalObserver {
    private nonisolated let environment: SyncEnvironment
    private let monitor: HealthMonitor
    private let account: AccountCheck
    nonisolated let heartbeat: Heartbeat

    nonisolated let shownRun = Published(SyncRun())
    private(set) var run: SyncRun {
        get { shownRun.value }
        set {
            shownRun.value = newValue
            environment.changed()
        }
    }
    nonisolated let shownNextSync = Published<Timestamp?>(nil)
    private var nextSyncAt: Timestamp? {
        get { shownNextSync.value }
        set { shownNextSync.value = newValue }
    }
    /// True while a run pulls the entities whose held edits must be merged before anything is sent.
    private(set) var isPullingForHeldEdits = false
    private var requested: SyncRequest?
    /// How often something was requested.
    private var requests = 0
    private(set) var waiters = SyncWaiters()
    private var drift = DriftWarnings()

    nonisolated var unownedExecutor: UnownedSerialExecutor { environment.isolation.unownedExecutor }

    init(_ environment: SyncEnvironment, monitor: HealthMonitor, account: AccountCheck) {
        self.environment = environment
        self.monitor = monitor
        self.account = account
        heartbeat = Heartbeat(clock: environment.clock, patience: environment.settings.patience)
    }

    private nonisolated var store: CacheStore { environment.store }
    private nonisolated var settings: SyncSettings { environment.settings }

    // MARK: Requests

    /// Starts a run, unless the one under way does what is asked for.
    func request(_ request: SyncRequest) async {
        await monitor.retryAuthorization()
        if !run.takesOn(request) { await requestAfterThisRun(request) }
    }

    /// Starts a run after the one under way, which may have read too early what the request is about.
    func requestAfterThisRun(_ request: SyncRequest) async {
        schedule(request)
        await environment.sleeps.pull.wake()
    }

    /// Adds to what the next run does, which is then due at once.
    func schedule(_ request: SyncRequest) {
        requested = request.merged(with: requested)
        requests += 1
    }

    /// Starts or joins a run and waits for its end; throws why it failed.
    func sync(_ request: SyncRequest) async throws(SyncError) {
        await monitor.retryAuthorization()
        if let ended = waiters.ended { throw ended }
        let joins = run.takesOn(request)
        if !joins { schedule(request) }
        let result = await withCheckedContinuation { continuation in
            waiters.add(continuation, for: joins ? run.number : run.number + 1)
            // Not before: the run could end before its caller waits for it.
            if !joins { Task { await environment.sleeps.pull.wake() } }
        }
        try result.get()
    }

    /// Fails all callers who wait for a run: the engine no longer runs.
    func end(_ reason: SyncError) { waiters.end(reason) }

    func tokenWasRefused() {
        guard !run.isRunning else { return }
        nextSyncAt = environment.monotonicNow() + settings.retry.base
        Task { await environment.sleeps.pull.wake() }
    }

    /// Changes the status of the run under way.
    func updateRun(_ change: @Sendable (inout SyncRun) -> Void) { change(&run) }

    // MARK: The loop

    /// Called once before `loop`. Decides when the first run is due.
    func prepare() throws {
        let isSameSchema = try store.setting(Self.schemaSetting) == settings.schemaHash
        let wait = environment.schedule.firstSync(
            lastSyncedAt: try earliestPull(), isSameSchema: isSameSchema, at: environment.now())
        if wait > .zero {
            nextSyncAt = environment.monotonicNow() + wait
            environment.log.info("the first sync waits for its turn", metadata: ["for": "\(wait)"])
        } else {
            schedule(SyncRequest())
        }
        try drift.skipKnown(in: store)
    }

    /// The earliest of the times at which each entity was last pulled; nil if one never was.
    private func earliestPull() throws -> Timestamp? {
        var earliest: Timestamp?
        for entity in environment.schema.entities where entity.pull != nil {
            guard let last = try store.cursor(of: entity.name).lastSyncedAt else { return nil }
            earliest = min(earliest ?? last, last)
        }
        return earliest
    }

    /// The schema of the last run that pulled all entities.
    private static let schemaSetting = "synced_schema"

    private func rememberSchema(_ request: SyncRequest) async throws {
        guard request.entities == nil, let hash = settings.schemaHash, try store.setting(Self.schemaSetting) != hash
        else { return }
        try await store.setSetting(Self.schemaSetting, to: hash)
    }

    /// The upstream is back: the run that sends what waits and pulls is due after `wait`. A run that someone requested is
    /// due at once.
    func catchUp(in wait: Duration) {
        guard wait > .zero else { return schedule(SyncRequest()) }
        nextSyncAt = environment.monotonicNow() + wait
        if !run.isRunning { run.forgetErrors() }
    }

    /// The upstream wants to be left alone until `end`.
    private func postpone(after end: Timestamp) {
        let time = environment.monotonicNow()
        nextSyncAt = nextSyncAt.map { environment.schedule.due($0, heldUntil: end, at: time) }
    }

    /// Runs until the task is cancelled.
    func loop(_ steps: any RunSteps) async throws {
        while !Task.isCancelled {
            heartbeat.beat()
            let asked = requests
            if await monitor.breaker.isDown, await !monitor.isPaused { try await steps.probe() }
            let time = environment.monotonicNow()
            if let nextSyncAt, nextSyncAt <= time { await monitor.retryAuthorization() }
            let isDue = requested != nil || (nextSyncAt ?? time) <= time
            if isDue, await monitor.canCall {
                // With what was asked for meanwhile: its callers wait for this run.
                let due = requested ?? SyncRequest()
                requested = nil
                let result = try await runOnce(due, steps)
                let wait = environment.schedule.wait(afterFailures: run.error == nil ? 0 : run.failures)
                let next = environment.monotonicNow() + wait
                // Runs for some entities do not put off the one for all.
                nextSyncAt = due.entities == nil ? next : min(nextSyncAt ?? next, next)
                // Not before: the callers may look at the status.
                waiters.finish(result, through: run.number)
            } else if requested != nil, await !monitor.canCall {
                // The probe began before this was asked for: it is no answer to that.
                guard requests == asked else { continue }
                // Callers who are told that it failed confirm deletions again, or not.
                if waiters.isAwaited(run.number + 1) { requested?.deletes = [] }
                waiters.finish(.failure(await monitor.reasonNotToSync), through: run.number + 1)
            }
            if let end = await monitor.heldUntil { postpone(after: end) }
            let wait = await monitor.pullWait(until: nextSyncAt)
            heartbeat.sleep(for: wait)
            await environment.sleeps.pull.sleep(for: wait)
        }
        throw CancellationError()
    }

    private func runOnce(_ request: SyncRequest, _ steps: any RunSteps) async throws -> Result<Void, SyncError> {
        run.begin(request)
        let stopwatch = Stopwatch(environment.clock)
        defer { environment.measure(.sync(duration: stopwatch.duration)) }
        environment.log.info("sync started", metadata: ["full": "\(request.full)"])
        var result: Result<Void, SyncError> = .success(())
        var isHeld = false
        do {
            try await pushAndPull(request, steps)
            if let error = run.error { result = .failure(.upstream(error)) }
        } catch UpstreamError.cancelled {
            throw CancellationError()
        } catch let error as UpstreamError {
            if case .held = error { isHeld = true }
            run.failed(error.message)
            result = .failure(await monitor.canCall ? .upstream(error.message) : await monitor.reasonNotToSync)
        } catch let error as CacheError {
            run.failed("\(error)")
            result = .failure(.cache("\(error)"))
            environment.log.error("the cache could not be written", metadata: ["error": "\(error)"])
        }
        run.end(at: environment.now())
        if let error = run.error {
            // The reason for holding back all requests was logged when it began.
            environment.log.log(level: isHeld ? .info : .warning, "sync failed", metadata: ["error": "\(error)"])
        } else {
            environment.log.info("sync ended")
        }
        return result
    }

    private func pushAndPull(_ request: SyncRequest, _ steps: any RunSteps) async throws {
        try await account.confirm(from: monitor.guardedUpstream(for: heartbeat))
        try await pushAll { try await steps.push(heartbeat, through: $0) }
        try await pulls(request).pull()
        try await rememberSchema(request)
        try drift.warnOfNew(in: store, environment.log)
        try await rememberClockOffset()
        try await pushTheRest(steps)
    }

    /// A caller may have joined this run after it had sent, and a push may have been broken off while lists were served.
    private func pushTheRest(_ steps: any RunSteps) async throws {
        guard waiters.isAwaited(run.number) else { return }
        run.pushesTheRest()
        try await pushAll { try await steps.finishPushes(heartbeat, through: $0) }
    }

    /// Sends what is queued. Held edits are merged first, and again those that are held by the time that a push has taken long.
    private func pushAll(_ push: (_ newest: Int64) async throws -> Bool) async throws {
        try await pullForHeldEdits()
        let newest = try store.newestChange()
        run.phase = "pushing"
        while try await push(newest) {
            try await pullForHeldEdits()
            run.phase = "pushing"
        }
        // Retries, and what was queued meanwhile, are left to the push loop.
        if try store.pendingCount().pending > 0 { await environment.sleeps.push.wake() }
    }

    /// Pulls the entities whose held edits must be merged. No push begins until then; the run pushes next.
    private func pullForHeldEdits() async throws {
        let held = try await monitor.heldEntities()
        guard !held.isEmpty else { return }
        isPullingForHeldEdits = true
        defer { isPullingForHeldEdits = false }
        try await pulls(SyncRequest(entities: held)).pull(onlyChanges: true)
    }

    private func pulls(_ request: SyncRequest) -> EntityPulls {
        EntityPulls(environment: environment, monitor: monitor, heartbeat: heartbeat, request: request) { change in
            await self.updateRun(change)
        }
    }

    // MARK: The server's clock

    /// For edits made after a restart and before the first answer. A small change is not worth a write.
    private func rememberClockOffset() async throws {
        guard let offset = environment.clockOffset()?.milliseconds else { return }
        let known = try store.setting(Self.clockOffsetSetting).flatMap { Int64($0) } ?? 0
        let change = Timestamp(milliseconds: offset).since(Timestamp(milliseconds: known))
        guard !(Duration.seconds(-2)...Duration.seconds(2)).contains(change) else { return }
        try await store.setSetting(Self.clockOffsetSetting, to: "\(offset)")
    }

    static let clockOffsetSetting = "clock_offset_ms"
}
