internal import CacheStore
internal import EntitySchema
internal import Upstream

/// Sends queued changes, one attempt of one change at a time. `PushDrain` says which, `BatchPusher` sends several at once.
struct Pusher {
    let environment: SyncEnvironment
    /// The upstream, guarded for sending changes.
    let upstream: any Upstream
    let freshness: Freshness
    let lane: PushLane
    /// Learns which changes get through.
    var passage: PushPassage
    /// Called when an attempt has ended.
    var noteEnd: @Sendable (OutboxChange, PushOutcome) -> Void
    var changedParents = ChangedParents()
    /// True for the one change that finds out whether an outage is over: no pull precedes it.
    var isTrial = false
    /// When the current attempt began.
    var begunAt: Timestamp?
    /// The slot of the current attempt.
    var slot: AsyncSemaphore.Slot?

    init(
        _ environment: SyncEnvironment, upstream: any Upstream, freshness: Freshness, lane: PushLane = .fields,
        passage: PushPassage = PushPassage()
    ) {
        self.environment = environment
        self.upstream = upstream
        self.freshness = freshness
        self.lane = lane
        self.passage = passage
        noteEnd = environment.noteEnd
    }

    /// As the engine sends: the monitor learns which changes get through.
    init(
        _ environment: SyncEnvironment, by upstream: any Upstream, _ monitor: isolated HealthMonitor,
        lane: PushLane = .fields
    ) {
        self.init(
            environment, upstream: upstream, freshness: monitor.freshness, lane: lane, passage: PushPassage(monitor))
    }

    var schema: EntitySchema { environment.schema }
    var store: CacheStore { environment.store }
    var now: @Sendable () -> Timestamp { environment.now }
    /// Schedules attempts.
    var monotonicNow: @Sendable () -> Timestamp { environment.monotonicNow }

    /// This pusher for one attempt, which begins now.
    func begun(in slot: AsyncSemaphore.Slot) -> Pusher {
        var pusher = self
        pusher.slot = slot
        pusher.begunAt = monotonicNow()
        return pusher
    }

    /// Makes one attempt and finishes it. Returns an error that concerns the whole upstream.
    func send(_ change: OutboxChange) async throws -> UpstreamError? {
        try await passage.noting(endOf: [change.id]) {
            guard let entity = schema[change.entity] else { return nil }
            guard let prepared = try await Attempt(self, change, entity).prepared(),
                try await store.begin(prepared.change, at: now(), isLookUp: prepared.isLookUp)
            else {
                await passage.looksUp(change.id)
                return nil
            }
            let attempt = Attempt(self, prepared.change, entity)
            guard let ending = prepared.ending else { return try await attempt.finish(attempt.send()) }
            if ending.error == nil { await passage.looksUp(change.id) }
            return try await attempt.finish(ending)
        }
    }
}
