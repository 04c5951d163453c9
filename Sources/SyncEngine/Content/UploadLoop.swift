internal import CacheStore
internal import EntitySchema
internal import SQLiteStore
internal import Upstream

/// Sends the contents of records, separately from their fields, so that a large picture does not delay them.
///
/// Runs on the engine's executor: see `EngineIsolation`.
actor UploadLoop {
    private nonisolated let environment: SyncEnvironment
    private let monitor: HealthMonitor
    private let account: AccountCheck
    private let unwritten: UnwrittenOutcomes

    nonisolated var unownedExecutor: UnownedSerialExecutor { environment.isolation.unownedExecutor }

    init(
        _ environment: SyncEnvironment, monitor: HealthMonitor, account: AccountCheck, unwritten: UnwrittenOutcomes
    ) {
        self.environment = environment
        self.monitor = monitor
        self.account = account
        self.unwritten = unwritten
    }

    /// Whether the schema has contents that can be sent.
    nonisolated var isNeeded: Bool {
        environment.contents != nil
            && environment.schema.entities.contains {
                $0.content?.upload != nil || $0.content?.delete != nil || $0.isCreatedWithContent
            }
    }

    /// Runs until the task is cancelled. Several run in parallel, each with its own `sleep`, and send one content at a
    /// time.
    func loop(_ sleep: WakeableSleep) async throws {
        while !Task.isCancelled {
            if await monitor.canPush { try await uploadOnce() }
            await sleep.sleep(for: wait())
        }
        throw CancellationError()
    }

    /// Until the next waiting upload is due; nil until the loop is woken.
    private func wait() async -> Duration? {
        let time = environment.monotonicNow()
        guard environment.mayPush() else { return nil }
        guard await monitor.canCall else { return await monitor.heldUntil?.since(time) }
        if await unwritten.isFailing(.content) { return UnwrittenOutcomes.wait }
        let barWait = await monitor.barWait ?? .zero
        do {
            if let next = try environment.store.nextAttempt(in: .content) {
                return max(next.since(time), barWait, .seconds(1))
            }
            let ready = try environment.store.readyChanges(limit: 1, at: time, in: .content)
            guard !ready.isEmpty else { return nil }
            return barWait > .zero ? min(barWait, PushLoop.longestWait) : PushLoop.longestWait
        } catch {
            return UnwrittenOutcomes.wait
        }
    }

    private func uploadOnce() async throws {
        try await unwritten.send(in: .content) {
            let ready = try environment.store.readyChanges(limit: 1, at: environment.monotonicNow(), in: .content)
            guard !ready.isEmpty else { return }
            let upstream = monitor.guardedUpstream()
            try await account.require(from: upstream)
            let pusher = await Pusher(environment, by: upstream, monitor, lane: .content)
            // Changes of fields may have waited for a record that is created with its content. The queue need not be
            // shorter: others may have been made meanwhile. While all contents have to wait, nothing has changed, and
            // the two loops would wake each other without end.
            if try await pusher.drain(through: .contents(monitor, unwritten)) {
                await environment.sleeps.push.wake()
            }
        }
    }
}
