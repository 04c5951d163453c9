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

    private func ending(of change: OutboxChange, _ entity: Entity, after error: UpstreamError) async throws -> Ending {
        switch error {
        case .cancelled: throw error
        case .changed:
            let ending = try await meet(change, entity, PushFailure(.conflict, error))
            // Not before: it does not get through if the record is then barred.
            await passage.passes(change.id)
            return ending
        case .gone where change.operation == .create:
            return try await confirmRefusal(change, entity, PushFailure(.gone, error))
        case .gone: return try await confirmGone(change, entity, PushFailure(.gone, error))
        case .barred(let status, _, _) where (300..<400).contains(status):
            return try await confirmRedirect(change, entity, error)
        case .unauthorized(let message):
            return Ending(try await outcome(ofUnauthorized: change, message), after: error)
        case .unclear(let status?, _) where (200..<300).contains(status):
            return Ending(try await outcome(ofUnrecognised: change, entity, PushFailure(.malformed, error)))
        default: return Ending(try await outcome(of: error, change), after: error)
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

    /// Whether the upstream may have a creation under its key although a page says that it was refused. Then it is never sent
    /// under another key, not even when a person retries it.
    private func mayBeKnown(_ change: OutboxChange, after error: UpstreamError) -> Bool {
        guard case .barred(_, _, isPage: true) = error, change.operation == .create else { return false }
        return recognizesRepeat(of: change)
    }

    /// Whether the error says that nothing of the attempt was applied. A page in place of an answer may come from a gateway, so
    /// it does not say so of a creation that can be looked up: one that was applied each time would be sent without end.
    func isRefusal(_ error: UpstreamError, of change: OutboxChange) -> Bool {
        guard error.isRefusal else { return false }
        guard case .barred(_, _, isPage: true) = error, change.operation == .create, let entity = schema[change.entity]
        else { return true }
        return !hasLookUp(change, entity)
    }

    func outcome(of error: UpstreamError, _ change: OutboxChange) async throws -> PushOutcome {
        switch error {
        case .offline, .held, .cancelled: return .notSent
        case .barred(let status, let message, _): return try await outcome(ofBarred: change, status, message)
        case .throttled(let delay, let message): return await outcome(ofThrottled: change, delay, message)
        case .refused(nil, _), .another: return .failed(PushFailure(.unsendable, error))
        case .refused:
            let outcome = try await outcome(ofRefused: change, PushFailure(.refused, error))
            await passage.passes(change.id)
            return outcome
        case .unclear: return again(change, PushFailure(error.status == nil ? .timeout : .server, error))
        // Not "refused" after a lost answer: an earlier attempt may have arrived, or be what holds the lock.
        case .locked: return again(change, PushFailure(change.isTried ? .server : .refused, error))
        case .malformed: return again(change, PushFailure(.malformed, error))
        case .changed: return again(change, PushFailure(.conflict, error))
        case .unauthorized: return .waiting(PushFailure(.unauthorized, error), at: monotonicNow(), counted: false)
        case .gone: return .failed(PushFailure(.gone, error))
        }
    }

    func again(_ change: OutboxChange, _ failure: PushFailure, atOnce: Bool = false) -> PushOutcome {
        let attempt = change.attemptCount + 1
        guard !retry.isLast(attempt: attempt) else { return .failed(failure) }
        let delay = atOnce && attempt == 1 ? .zero : retry.delay(attempt: attempt, random: random())
        return .waiting(failure, at: monotonicNow() + delay, counted: true)
    }

    /// The upstream may be behind: the change waits, and is not counted. `reason` says so after the failure.
    func later(_ failure: PushFailure, _ reason: String) -> PushOutcome {
        .waiting(failure.adding(reason), at: monotonicNow() + Self.lookUpWait, counted: false)
    }
}
