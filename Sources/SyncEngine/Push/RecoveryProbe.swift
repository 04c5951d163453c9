internal import CacheStore
internal import EntitySchema
internal import Logging
internal import SQLiteStore
internal import Upstream

/// Finds out whether the upstream can be called: at intervals while it is down, and when this machine's network
/// changes.
///
/// Runs on the engine's executor: see `EngineIsolation`.
actor RecoveryProbe {
    private nonisolated let environment: SyncEnvironment
    private let monitor: HealthMonitor
    private let account: AccountCheck
    private let pull: PullLoop
    private let unwritten: UnwrittenOutcomes
    private var networkChangedAt: Timestamp?

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
    }

    // MARK: Probing

    /// Asks whether the upstream can be reached. An upstream that was down and is back gets one probe, after an outage
    /// also one trial request, then everything.
    func probe() async throws {
        let wasDown = await monitor.breaker.isDown
        let began = await monitor.downSince
        await monitor.noteProbe()
        var takesChanges = true
        do {
            try await reach()
            let breaker = await monitor.breaker
            guard breaker.isDown else { return }
            if breaker.outage == nil { await monitor.noteReachable() } else { takesChanges = try await trial() }
        } catch let error as UpstreamError {
            if case .cancelled = error { throw CancellationError() }
            if case .offline = error { await monitor.note(error) }
            // An upstream that was not down answers, if only with an error: its requests will show that.
            guard wasDown else { return }
            if case .unclear(_, let message) = error { await monitor.noteFailure(message, RequestOrigin()) }
            environment.log.debug("still down", metadata: ["error": "\(error.message)"])
        }
        guard await !monitor.breaker.isDown else { return }
        let wait = max(catchUpWait(since: began), await monitor.breaker.relapseWait)
        environment.log.notice("the upstream is back", metadata: ["sync_in": "\(wait)"])
        await pull.catchUp(in: wait)
        // If changes still fail, each keeps its own wait.
        if takesChanges { try await environment.store.hastenWaiting(at: environment.monotonicNow()) }
        // Otherwise the next local write or the run sends what waits.
        if wait == .zero { await environment.sleeps.push.wake() }
    }

    /// The probe's own path may fail for good, like the root of an API that serves nothing there. So a list is asked for
    /// as well once probes are rare: one that is served shows that the upstream works.
    private func reach() async throws(UpstreamError) {
        do throws(UpstreamError) {
            try await monitor.probeUpstream.probe()
        } catch {
            guard case .unclear = error, await monitor.breaker.isProbedRarely else { throw error }
            guard try await monitor.servesList() else { throw error }
        }
    }

    /// How long the run waits that catches up. An outage of this machine's network concerns no other machine.
    private func catchUpWait(since began: Timestamp?) -> Duration {
        let time = environment.monotonicNow()
        if let networkChangedAt, networkChangedAt + Self.localOutage >= time { return .zero }
        return environment.schedule.catchUpWait(after: began.map { time.since($0) } ?? .zero)
    }

    /// An upstream that is back so soon after a change of this machine's network was away because of that.
    private static let localOutage = Duration.seconds(60)

    /// Sends one change, or a harmless request if there is none to send. False when the change failed again, also if what was read
    /// before it, or another entity, has ended the outage.
    private func trial() async throws -> Bool {
        let upstream = monitor.trialUpstream
        let store = environment.store
        try await account.require(from: upstream)
        let ready = try store.readyChanges(limit: 1, at: environment.monotonicNow()).first
        guard environment.mayPush(), let change = try ready ?? store.leastTriedChange(at: environment.monotonicNow())
        else {
            _ = try await upstream.account()
            return true
        }
        let isSent = Published(false)
        do {
            var pusher = await Pusher(environment, by: upstream, monitor)
            pusher.isTrial = true
            pusher.passage.begins = { [begins = pusher.passage.begins] change in
                isSent.value = true
                await begins(change)
            }
            _ = try await pusher.send(change)
        } catch {
            await unwritten.add(change)
            throw error
        }
        // `failing` is empty once anything was answered, unless the change has failed after that.
        let breaker = await monitor.breaker
        guard !breaker.failing.isEmpty else { return true }
        // Perhaps only that entity is broken, or, if the change was not even sent, the reading of that record; then it
        // must not hold up all others.
        if breaker.outage != nil {
            try await monitor.askElsewhere(than: change.entity, mayAskItself: !isSent.value, by: upstream)
        }
        return false
    }

    // MARK: The network

    /// How long an upstream may take to answer after a network change before it counts as offline.
    private static let patience = Duration.milliseconds(400)

    /// Call it when links, addresses or routes have changed. Returns before long.
    ///
    /// While the upstream is down it is probed, and the waits between probes start over. Otherwise one probe that does
    /// not reach it is enough to be offline, so no request has to wait for its deadline.
    func networkChanged() async {
        environment.upstream.networkChanged()
        networkChangedAt = environment.monotonicNow()
        guard await !monitor.isPaused else { return }
        if await monitor.breaker.isDown {
            environment.log.debug("the network has changed; probing")
            await monitor.hurryProbes()
            // A run that hangs on a dead connection must not keep the pull loop from probing.
            if await pull.run.isRunning { await probeSoon() } else { await environment.sleeps.pull.wake() }
        } else if await monitor.heldUntil == nil {
            await probeSoon()
        }
    }

    /// Probes. A dead route may just stay silent: after a moment that counts as offline, until an answer comes.
    private func probeSoon() async {
        let (first, event) = AsyncStream<Void>.makeStream()
        let doubting = Task {
            try await environment.clock.sleep(for: Self.patience)
            guard !Task.isCancelled else { return }
            await monitor.note(.offline("no answer since this machine's network has changed"))
            event.finish()
        }
        Task {
            do {
                try await probe()
            } catch is CancellationError {
            } catch {
                environment.log.error(
                    "the network change could not be handled", metadata: ["error": "\(error)"])
            }
            doubting.cancel()
            event.finish()
        }
        for await _ in first {}
    }
}
