package import CacheStore
package import ContentStore
package import EntitySchema
package import JSONText
package import Logging
internal import SQLiteStore
package import Upstream

/// Keeps cache and upstream in sync: sends local changes as they come, pulls at intervals and on request, and waits out
/// outages.
///
/// The engine starts, stops and wires its parts. `PullLoop` and `PushLoop` run side by side, so that a local write does
/// not wait for a long pull; each does one thing at a time, so there are never two syncs at once. `HealthMonitor`
/// decides whether the upstream may be called. Each part owns its state, and all of them share one executor: see
/// `EngineIsolation`.
package actor SyncEngine: RunSteps {
    private nonisolated let environment: SyncEnvironment
    private let account: AccountCheck
    private let monitor: HealthMonitor
    private let unwritten: UnwrittenOutcomes
    let pull: PullLoop
    let push: PushLoop
    private let recovery: RecoveryProbe
    private let uploads: UploadLoop
    private nonisolated let refresher: RecordRefresher
    private nonisolated let fetcher: ContentFetcher
    private nonisolated let signals: Signals

    package nonisolated var unownedExecutor: UnownedSerialExecutor { environment.isolation.unownedExecutor }

    /// `contents` holds the content files of records; nil if the schema has none. `random` returns numbers in 0..<1.
    package init(
        store: CacheStore, contents: ContentFolder? = nil, upstream: any Upstream,
        settings: SyncSettings = SyncSettings(), time: SyncTime, random: @escaping @Sendable () -> Double,
        callbacks: SyncCallbacks = SyncCallbacks(), log: Logger
    ) {
        environment = SyncEnvironment(
            store: store, contents: contents, upstream: upstream, settings: settings, time: time, random: random,
            callbacks: callbacks, log: log)
        account = AccountCheck(environment)
        monitor = HealthMonitor(environment, account: account)
        unwritten = UnwrittenOutcomes(environment)
        pull = PullLoop(environment, monitor: monitor, account: account)
        push = PushLoop(environment, monitor: monitor, account: account, pull: pull, unwritten: unwritten)
        recovery = RecoveryProbe(environment, monitor: monitor, account: account, pull: pull, unwritten: unwritten)
        uploads = UploadLoop(environment, monitor: monitor, account: account, unwritten: unwritten)
        refresher = RecordRefresher(environment, monitor: monitor, account: account)
        fetcher = ContentFetcher(environment, monitor: monitor, account: account, refresher: refresher)
        signals = Signals(environment, monitor: monitor, account: account, pull: pull)
    }

    /// The content files of records; nil if the schema has no contents.
    package nonisolated var contents: ContentFolder? { environment.contents }

    /// How far the server's clock is ahead; nil while unknown.
    package nonisolated var clockOffset: @Sendable () -> Duration? { environment.clockOffset }

    /// How far the server's clock was ahead when the last process ran.
    package static func rememberedClockOffset(in store: CacheStore) throws -> Duration? {
        try store.setting(PullLoop.clockOffsetSetting).flatMap { Int64($0) }.map { .milliseconds($0) }
    }

    // MARK: Running

    /// Runs until the task is cancelled, starting with a sync. Throws `SyncError.otherAccount` when the token belongs
    /// to another account than the cache, which this process must then leave alone.
    package func run() async throws {
        do {
            try await start()
            try await runLoops()
        } catch is CancellationError {
            await pull.end(.cancelled)
        } catch {
            await pull.end(error as? SyncError ?? .cancelled)
            throw error
        }
    }

    private func start() async throws {
        await account.setObserver(pull)
        let interrupted = try await unwritten.recoverInterrupted()
        if interrupted > 0 {
            environment.log.notice(
                "requeued changes whose sending was interrupted", metadata: ["count": "\(interrupted)"])
        }
        try await pull.prepare()
    }

    /// Runs until one of them ends, as all do when the task is cancelled.
    private func runLoops() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.push.loop() }
            group.addTask { try await self.pull.loop(self) }
            for sleep in environment.sleeps.uploads where uploads.isNeeded {
                group.addTask { try await self.uploads.loop(sleep) }
            }
            if !environment.schema.upstream.signals.isEmpty {
                group.addTask { await self.signals.run() }
            }
            try await group.next()
            group.cancelAll()
        }
    }

    func probe() async throws {
        do {
            try await recovery.probe()
        } catch let error as CacheError {
            await unwritten.noteFailure(error, of: .fields)
        }
    }

    func push(_ heartbeat: Heartbeat, through newest: Int64) async throws -> Bool {
        try await push.push(heartbeat, through: newest)
    }

    func finishPushes(_ heartbeat: Heartbeat, through newest: Int64) async throws -> Bool {
        try await push.finish(heartbeat, through: newest)
    }

    // MARK: For callers

    /// Call it when the queue has a new change; the change is sent a moment later, so that a burst goes out together.
    package nonisolated func noteLocalWrite() {
        Task { [sleeps = environment.sleeps] in await sleeps.wakeSenders() }
    }

    /// Call it when a person wants changes retried: they need not wait for the retry budget.
    package func noteRetry() async {
        await monitor.refillBudget()
        await environment.sleeps.wakeSenders()
    }

    /// Starts a sync, or joins the one under way.
    package func requestSync(_ request: SyncRequest) async {
        await monitor.hurryTrials()
        await pull.request(request)
    }

    /// Starts or joins a sync and waits for its end; throws why it failed. Changes of fields that were queued before the call, and
    /// need not wait, have been tried by then.
    package func sync(_ request: SyncRequest) async throws(SyncError) {
        guard await !monitor.isPaused else { throw .paused }
        await monitor.hurryTrials()
        try await pull.sync(request)
    }

    package func pause() async { await monitor.pause() }

    package func resume() async {
        await monitor.resume()
        await environment.sleeps.push.wake()
        await environment.sleeps.pull.wake()
    }

    /// Call it when this machine's links, addresses or routes have changed: finds out at once whether the upstream can
    /// still be reached. Returns before long.
    package func networkChanged() async { await recovery.networkChanged() }

    /// Brings the upstream's version of one record into the cache, or says why that cannot be done.
    ///
    /// Returns after ten seconds at the latest. The request is refused when any other request would be. Callers take turns.
    package nonisolated func refresh(
        _ entity: Entity, key: String, for caller: ReadCaller = .daemon
    ) async -> RefreshOutcome {
        await refresher.refresh(entity, key: key, for: caller)
    }

    /// Fetches the content that the record names into the cache, or says why that cannot be done; `.stored` once it is
    /// cached.
    ///
    /// Callers who want the same content share one fetch. Returns after half a minute at the latest; fetching goes on.
    package nonisolated func fetchContent(
        of key: String, _ entity: Entity, for caller: ReadCaller = .daemon
    ) async -> RefreshOutcome {
        await fetcher.fetch(key, entity, for: caller)
    }

    // MARK: Status

    /// Whether both loops move: each sleeps no longer than it meant to, and otherwise began or ended something within
    /// `SyncSettings.patience`. For a watchdog.
    package func isMoving() -> Bool { push.heartbeat.isMoving && pull.heartbeat.isMoving }

    /// What a person must still provide before the upstream can be used, when this is its status; nil if nothing is known to
    /// be missing.
    package nonisolated func missing(_ status: SyncStatus) async -> String? {
        status.isUnproven ? await environment.upstream.missing : nil
    }

    package nonisolated func status() -> SyncStatus {
        let (run, isPushing) = (pull.shownRun.value, push.shownPushing.value)
        let (breaker, bar) = (monitor.shownBreaker.value, monitor.shownBar.value)
        let time = environment.monotonicNow()
        // How far the clock has been set since the start.
        let set = environment.now().since(time)
        return SyncStatus(
            state: state(run, isPushing: isPushing, breaker, bar), progress: run.progress,
            phase: run.phase ?? (isPushing ? "pushing" : nil),
            lastSyncAt: run.lastSucceededAt, nextSyncAt: pull.shownNextSync.value.map { $0 + set },
            error: breaker.unauthorized ?? breaker.offline ?? breaker.outageStatus ?? bar.status ?? run.error,
            isReachable: breaker.offline == nil,
            isUnproven: (run.failures > 0 || breaker.isBlocked)
                && run.entities.values.allSatisfy { $0.lastSyncedAt == nil },
            needsSignIn: breaker.unauthorized != nil || bar.refusesToken,
            refusesAccount: bar.refusesAccount && breaker.unauthorized == nil && breaker.offline == nil,
            clockOffset: environment.clockOffset(),
            retryAfter: breaker.hold(at: time).map { $0 + set },
            budget: environment.upstream.budget.map(SyncStatus.Budget.init),
            batches: environment.batches.restriction(at: time),
            entities: run.entities, signals: signals.status)
    }

    private nonisolated func state(
        _ run: SyncRun, isPushing: Bool, _ breaker: CircuitBreaker, _ bar: AccountBar
    ) -> SyncStatus.State {
        if environment.pause.value { return .paused }
        if breaker.offline != nil { return .offline }
        if run.isRunning || isPushing { return .syncing }
        if breaker.unauthorized != nil || breaker.outage != nil || bar.status != nil || run.error != nil {
            return .error
        }
        guard let ended = run.lastEndedAt, environment.now() < ended + .seconds(3) else { return .idle }
        return .completed
    }
}

/// Signals that reach this machine by themselves.
extension SyncEngine {
    /// A message of the upstream that came to this machine, whose signature was checked. Returns at once.
    package nonisolated func take(_ message: JSONText, from source: SignalSource) {
        signals.take(message, from: source)
    }

    /// A call without a valid signature came. It has no effect but being counted.
    package nonisolated func refuseSignal(from source: SignalSource) { signals.refuse(source) }
}
