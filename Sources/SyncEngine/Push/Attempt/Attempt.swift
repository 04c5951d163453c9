internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// One attempt to send a change: what is read before it, the request, and how it ends.
struct Attempt {
    let pusher: Pusher
    let change: OutboxChange
    let entity: Entity

    init(_ pusher: Pusher, _ change: OutboxChange, _ entity: Entity) {
        (self.pusher, self.change, self.entity) = (pusher, change, entity)
    }

    var environment: SyncEnvironment { pusher.environment }
    var upstream: any Upstream { pusher.upstream }
    var freshness: Freshness { pusher.freshness }
    var passage: PushPassage { pusher.passage }
    var isTrial: Bool { pusher.isTrial }
    var schema: EntitySchema { environment.schema }
    var store: CacheStore { environment.store }
    var retry: RetryPolicy { environment.settings.retry }
    var random: @Sendable () -> Double { environment.random }
    var now: @Sendable () -> Timestamp { environment.now }
    /// Schedules attempts.
    var monotonicNow: @Sendable () -> Timestamp { environment.monotonicNow }
    var reader: RecordReader { RecordReader(store: store, upstream: upstream) }
    var judge: AbsenceJudge { AbsenceJudge(environment, upstream) }
    var reconciler: CreateReconciler { CreateReconciler(environment, upstream, change, entity) }

    /// Whether the upstream knows by the idempotency key that the change was sent before. It does not if the request is formed
    /// from the server's record: once an attempt has arrived, the repeat is another request under the same key.
    var recognizesRepeat: Bool {
        guard change.hasShownKey, change.replaced == nil else { return false }
        return entity.recognizesRepeats(
            of: change.operation, record: change.record, fields: change.body.members.map(\.key), schema.upstream)
    }

    /// Sends the change; it has begun.
    func send() async throws -> Ending {
        guard let request = change.request(of: entity) else {
            return Ending(.failed(try unsendable()), appliedNothing: true)
        }
        await passage.begins(change.id)
        let result: BatchResult
        do throws(UpstreamError) {
            result = .success(try await deliver(request))
        } catch {
            result = .failure(error)
        }
        return try await ending(by: result)
    }

    /// How it ends by the upstream's answer.
    func ending(by result: BatchResult) async throws -> Ending {
        switch result {
        case .success(.repeatedFailure(let status, let message)):
            // Not a pass: the answer is an earlier one, or that there is none under this key.
            return Ending(underAnotherKey(status, message), appliedNothing: true)
        case .success(let answer):
            let outcome = try await outcome(of: answer)
            // Not before: it does not get through if something in front of the upstream answers every request.
            await passage.passes(change.id)
            return Ending(outcome)
        case .failure(let error): return try await ending(after: error)
        }
    }

    /// Stores how it ended. Returns the error if that concerns the whole upstream.
    func finish(_ ending: Ending) async throws -> UpstreamError? {
        pusher.slot?.give()
        let (outcome, error) = (ending.outcome, ending.error)
        let saysSo = error.map { isRefusal($0) && !mayBeKnown(after: $0) } ?? false
        try await store.finish(change.id, outcome, takingBack: ending.appliedNothing || saysSo, at: now())
        environment.measure(
            .push(
                entity: change.entity, SyncMeasurement.PushOutcome(outcome),
                duration: pusher.begunAt.map { monotonicNow().since($0) } ?? .zero))
        pusher.noteEnd(change, outcome)
        await forgetParents(after: outcome)
        guard let error, error.concernsWholeUpstream else { return nil }
        if case .throttled = error, case .change? = await passage.limit(change.limited) { return nil }
        return error
    }
}
