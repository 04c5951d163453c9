internal import CacheStore
internal import EntitySchema
internal import Logging
internal import SQLiteStore
internal import Upstream

/// Sends local changes as they come.
///
/// Runs on the engine's executor: see `EngineIsolation`.
actor PushLoop {
    private nonisolated let environment: SyncEnvironment
    private let monitor: HealthMonitor
    private let account: AccountCheck
    private let pull: PullLoop
    private let unwritten: UnwrittenOutcomes
    nonisolated let heartbeat: Heartbeat

    nonisolated let shownPushing = Published(false)
    private var isPushing: Bool {
        get { shownPushing.value }
        set {
            shownPushing.value = newValue
            environment.changed()
        }
    }
    /// The newest change that may be begun while a caller waits for the changes before it.
    private var newestToPush = Int64.max
    /// Of what was sent since they were last read again.
    private var changedParents = ChangedParents()
    /// Callers that wait for the end of the push under way.
    private(set) var waiters: [CheckedContinuation<Void, Never>] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { environment.isolation.unownedExecutor }

    init(
        _ environment: SyncEnvironment, monitor: HealthMonitor, account: AccountCheck, pull: PullLoop,
        unwritten: UnwrittenOutcomes
    ) {
        self.environment = environment
        self.monitor = monitor
        self.account = account
        self.pull = pull
        self.unwritten = unwritten
        heartbeat = Heartbeat(clock: environment.clock, patience: environment.settings.patience)
    }

    private nonisolated var store: CacheStore { environment.store }

    /// How long the loop sleeps at most while a ready change was not sent, for whichever reason.
    static let longestWait = Duration.seconds(60)

    /// Runs until the task is cancelled.
    func loop() async throws {
        while !Task.isCancelled {
            heartbeat.beat()
            let wait = try await pushAndSchedule()
            heartbeat.sleep(for: wait)
            await environment.sleeps.push.sleep(for: wait)
            guard !Task.isCancelled else { break }
            // A burst of writes goes out together.
            try await environment.clock.sleep(for: environment.settings.writeDelay)
        }
        throw CancellationError()
    }

    /// Sends what can be sent; returns how long to sleep.
    private func pushAndSchedule() async throws -> Duration? {
        do {
            if await monitor.canPush, await !pull.isPullingForHeldEdits {
                // A run pulls the entities whose held edits must be merged, then pushes. Another one may take long.
                let held = try await monitor.heldEntities()
                if !held.isEmpty { await pull.request(SyncRequest(entities: held)) }
                if try await push(heartbeat, besides: held) { return .zero }
            }
            return try await wait()
        } catch let error as CacheError {
            await unwritten.noteFailure(error, of: .fields)
            return UnwrittenOutcomes.wait
        }
    }

    /// Until the next waiting change is due; nil until the loop is woken.
    private func wait() async throws -> Duration? {
        let time = environment.monotonicNow()
        guard environment.mayPush() else { return nil }
        guard await monitor.canCall else { return await monitor.heldUntil?.since(time) }
        if await unwritten.isFailing(.fields) { return UnwrittenOutcomes.wait }
        if let wait = await monitor.barWait {
            if try store.pendingCount().pending == 0 { await monitor.clearBar() }
            if wait > .zero { return max(wait, .seconds(1)) }
        }
        if let wait = await monitor.retryWait, try store.leastTriedChange(at: time) != nil {
            return max(wait, .seconds(1))
        }
        guard let next = try store.nextAttempt() else {
            return try store.readyChanges(limit: 1, at: time).isEmpty ? nil : Self.longestWait
        }
        // What is due and still queued cannot be sent now, so there is no hurry.
        return next > time ? next.since(time) : .seconds(1)
    }

    /// Sends what is ready, up to this change: a run pulls after sending what was queued when it began, however fast
    /// callers write. Changes of the `held` entities are left out. `heartbeat` is the calling loop's.
    ///
    /// Returns whether it has stopped because it took long: some edits may have to be merged by now.
    func push(
        _ heartbeat: Heartbeat, through newest: Int64 = .max, besides held: Set<String> = []
    ) async throws -> Bool {
        // A run pushes before it pulls; one push at a time is enough.
        guard !isPushing, environment.mayPush() else { return false }
        isPushing = true
        newestToPush = newest
        defer { endPush() }
        let end = environment.monotonicNow() + Self.longestPush
        try await unwritten.send(in: .fields) {
            guard try store.pendingCount().pending > 0 else { return }
            let upstream = monitor.guardedUpstream(for: heartbeat)
            try await account.require(from: upstream)
            var pusher = await Pusher(environment, by: upstream, monitor)
            pusher.changedParents = changedParents
            try await pusher.drain(
                through: .fields(monitor, unwritten, besides: held, until: end) { await self.newestToPush })
        }
        // A content may have waited for the creation of its record, or for the upstream.
        await environment.sleeps.wakeUploads()
        guard environment.monotonicNow() < end else { return true }
        await readAgain(isInRun: newest != .max)
        return false
    }

    /// Half of the time after which an edit is no longer fresh.
    private static let longestPush = Duration.seconds(30)

    /// Pulls the entities whose records are outdated since their children were sent. A run that sends does it itself, if it
    /// pulls them.
    private func readAgain(isInRun: Bool) async {
        let entities = changedParents.all
        guard !entities.isEmpty else { return }
        changedParents = ChangedParents()
        let request = SyncRequest(entities: entities)
        if isInRun { await pull.request(request) } else { await pull.requestAfterThisRun(request) }
    }

    private func endPush() {
        isPushing = false
        newestToPush = .max
        for waiter in waiters { waiter.resume() }
        waiters = []
    }

    /// Returns when every change up to this one that need not wait has been tried: a push under way may have passed it over, or may
    /// be broken off. As `push` otherwise.
    func finish(_ heartbeat: Heartbeat, through newest: Int64) async throws -> Bool {
        // The push under way has a heartbeat of its own.
        heartbeat.sleep(for: nil)
        while isPushing {
            newestToPush = min(newestToPush, newest)
            await withCheckedContinuation { waiters.append($0) }
        }
        heartbeat.beat()
        return try await push(heartbeat, through: newest)
    }
}
