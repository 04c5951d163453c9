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
    var retry: RetryPolicy { environment.settings.retry }

    var random: @Sendable () -> Double { environment.random }
    var now: @Sendable () -> Timestamp { environment.now }
    /// Schedules attempts.
    var monotonicNow: @Sendable () -> Timestamp { environment.monotonicNow }

    var reader: RecordReader { RecordReader(store: store, upstream: upstream) }

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
            guard let prepared = try await prepared(change, entity),
                try await store.begin(prepared.change, at: now(), isLookUp: !prepared.isAttempt)
            else {
                await passage.looksUp(change.id)
                return nil
            }
            return try await finish(prepared.change, ending(of: prepared, entity))
        }
    }

    // MARK: An attempt

    private func ending(of prepared: Prepared, _ entity: Entity) async throws -> Ending {
        guard let ending = prepared.ending else { return try await attempt(prepared.change, entity) }
        if ending.error == nil { await passage.looksUp(prepared.change.id) }
        return ending
    }

    private func attempt(_ change: OutboxChange, _ entity: Entity) async throws -> Ending {
        guard let request = change.request(of: entity) else {
            return Ending(.failed(try unsendable(change, entity)), appliedNothing: true)
        }
        await passage.begins(change.id)
        let result: BatchResult
        do throws(UpstreamError) {
            result = .success(try await deliver(request, of: change))
        } catch {
            result = .failure(error)
        }
        return try await ending(of: change, entity, by: result)
    }

    /// How an attempt ends by the upstream's answer to it.
    func ending(of change: OutboxChange, _ entity: Entity, by result: BatchResult) async throws -> Ending {
        switch result {
        case .success(.repeatedFailure(let status, let message)):
            // Not a pass: the answer is an earlier one, or that there is none under this key.
            return Ending(underAnotherKey(change, status, message), appliedNothing: true)
        case .success(let answer):
            let outcome = try await outcome(of: answer, to: change, entity)
            // Not before: it does not get through if something in front of the upstream answers every request.
            await passage.passes(change.id)
            return Ending(outcome)
        case .failure(let error): return try await ending(of: change, entity, after: error)
        }
    }

    /// Stores how an attempt ended. Returns its error if that concerns the whole upstream.
    func finish(_ change: OutboxChange, _ ending: Ending) async throws -> UpstreamError? {
        slot?.give()
        let (outcome, error) = (ending.outcome, ending.error)
        let saysSo = error.map { isRefusal($0, of: change) && !mayBeKnown(change, after: $0) } ?? false
        try await store.finish(change.id, outcome, takingBack: ending.appliedNothing || saysSo, at: now())
        environment.measure(
            .push(
                entity: change.entity, SyncMeasurement.PushOutcome(outcome),
                duration: begunAt.map { monotonicNow().since($0) } ?? .zero))
        noteEnd(change, outcome)
        await forgetParents(of: change, after: outcome)
        guard let error, error.concernsWholeUpstream else { return nil }
        if case .throttled = error, case .change? = await passage.limit(change.limited) { return nil }
        return error
    }
}
