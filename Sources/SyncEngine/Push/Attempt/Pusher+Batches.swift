internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// A change, and what it is in a batch.
struct BatchedChange: Sendable {
    var change: OutboxChange
    var entity: Entity
    var element: BatchRequest.Element

    func attempt(by pusher: Pusher) -> Attempt { Attempt(pusher, change, entity) }

    /// The same once it goes out without its key.
    var withHiddenKey: BatchedChange { BatchedChange(change: change.withHiddenKey, entity: entity, element: element) }
}

/// Which changes may go out together.
extension Pusher {
    /// The batch that a change may go out in; nil if it goes by itself.
    ///
    /// Only a change that was never attempted does: what is left of an unclear attempt is looked up, and a change that makes
    /// the upstream fail must not make it fail for others again. Nor does one that a reading precedes.
    func batchPlan(_ change: OutboxChange) -> BatchPlan? {
        guard !change.wasAttempted, !change.wasAccepted, change.content == nil, change.replaced == nil,
            change.unreadable.isEmpty, let entity = schema[change.entity],
            let plan = entity.batchPlan(
                for: change.operation, record: change.record, fields: change.body.members.map(\.key)),
            change.operation == .create || change.version == nil || plan.hasVersion(change.operation),
            !environment.batches.isAlone(change.id), environment.batches.size(of: plan, at: monotonicNow()) > 1,
            case let attempt = Attempt(self, change, entity), !attempt.isHeld, (try? attempt.takesStepBack()) == false
        else { return nil }
        return plan
    }

    /// The first of these changes that fit into one batch, in their order. None depends on another one, because a change
    /// that waits for another one is not ready.
    func batch(of changes: [OutboxChange], by plan: BatchPlan, size: Int) -> [BatchedChange] {
        var batch: [BatchedChange] = []
        var records: Set<RecordName> = []
        var bytes = 0
        for change in changes where batchPlan(change) == plan {
            guard let entity = schema[change.entity], let request = change.request(of: entity) else { continue }
            let element = entity.element(request, of: change.record, idempotencyKey: change.idempotencyKey, in: plan)
            bytes += BatchRequest(plan: plan, elements: [element]).json(of: 0, schema.upstream)?.bytes.count ?? 0
            guard batch.count < size, bytes <= plan.bytes else { break }
            guard records.insert(RecordName(entity: change.entity, key: change.key)).inserted else { continue }
            batch.append(BatchedChange(change: change, entity: entity, element: element))
        }
        return batch
    }
}
