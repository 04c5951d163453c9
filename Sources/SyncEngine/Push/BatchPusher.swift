internal import CacheStore
internal import EntitySchema
internal import Upstream

/// Makes one attempt of several changes in one request. Each is finished by its own result, as if it had been sent by
/// itself.
///
/// No batch is ever repeated: what is unclear after it goes on by itself, under its own key if the batch carried that,
/// else by a look-up. A batch that was refused as a whole has applied nothing, so its attempts are taken back.
struct BatchPusher {
    private(set) var pusher: Pusher
    let plan: BatchPlan
    /// For the request, and for what may follow from each result.
    let slots: AsyncSemaphore

    /// Returns an error that concerns the whole upstream.
    func send(_ changes: [BatchedChange]) async throws -> UpstreamError? {
        let slot = await slots.take()
        defer { slot.give() }
        var attempt = self
        attempt.pusher = pusher.begun(in: slot)
        let hidden = Set(changes.filter(hidesKey).map(\.change.id))
        let begun = try await pusher.store.begin(batch: changes.map(\.change), hidingKeysOf: hidden, at: pusher.now())
        let changes = changes.filter { begun.contains($0.change.id) }.map { sent in
            hidden.contains(sent.change.id) ? sent.withHiddenKey : sent
        }
        guard !changes.isEmpty else { return nil }
        for sent in changes { await pusher.passage.begins(sent.change.id) }
        return try await pusher.passage.noting(endOf: changes.map(\.change.id)) { [attempt] in
            try await attempt.sendBegun(changes, slot)
        }
    }

    /// Whether the upstream knows the change by its key, and the batch does not carry it.
    private func hidesKey(_ sent: BatchedChange) -> Bool {
        !sent.element.isKeyShown && sent.attempt(by: pusher).recognizesRepeat
    }

    private func sendBegun(_ changes: [BatchedChange], _ slot: AsyncSemaphore.Slot) async throws -> UpstreamError? {
        let results: [BatchResult]
        do throws(UpstreamError) {
            results = try await pusher.upstream.push(BatchRequest(plan: plan, elements: changes.map(\.element)))
        } catch {
            slot.give()
            guard error != .cancelled else { throw error }
            return try await finish(changes, afterFailure: error)
        }
        slot.give()
        return try await finish(changes, by: results)
    }

    // MARK: Results

    private func finish(_ changes: [BatchedChange], by results: [BatchResult]) async throws -> UpstreamError? {
        guard plan.isAtomic, results.contains(where: { !$0.isSuccess }) else {
            return try await conclude(Array(zip(changes, results)))
        }
        // All or none: after a refusal none was applied; without one it is not known.
        guard results.contains(where: \.appliedNothing) else {
            return try await conclude(changes.map { ($0, .failure(.unclear(status: 200, Self.unclear))) })
        }
        pusher.environment.batches.sendAlone(changes.map(\.change.id))
        return try await takeBack(changes)
    }

    private static let unclear = "the result of one change of an atomic batch is not known, so none is"

    private func conclude(_ all: [(BatchedChange, BatchResult)]) async throws -> UpstreamError? {
        try await inParallel(all) { pusher, each in
            let (sent, result) = each
            let attempt = sent.attempt(by: pusher)
            // Another token may help, which only a request of its own asks for.
            if case .failure(.unauthorized) = result {
                pusher.environment.batches.sendAlone([sent.change.id])
                return try await attempt.finish(Ending(.notSent))
            }
            return try await attempt.finish(attempt.ending(by: result))
        }
    }

    private func takeBack(_ changes: [BatchedChange], after error: UpstreamError? = nil) async throws -> UpstreamError?
    {
        try await inParallel(changes) { try await $1.attempt(by: $0).finish(Ending(.notSent, after: error)) }
    }

    /// Each takes a slot of its own, since what follows from a result may be a request.
    private func inParallel<Each: Sendable>(
        _ all: [Each], _ body: @escaping @Sendable (Pusher, Each) async throws -> UpstreamError?
    ) async throws -> UpstreamError? {
        try await withThrowingTaskGroup(of: UpstreamError?.self) { group in
            for each in all {
                group.addTask {
                    let slot = await slots.take()
                    defer { slot.give() }
                    var pusher = pusher
                    pusher.slot = slot
                    return try await body(pusher, each)
                }
            }
            var failure: UpstreamError?
            for try await error in group { failure = failure ?? error }
            return failure
        }
    }

    // MARK: No results

    private func finish(_ changes: [BatchedChange], afterFailure error: UpstreamError) async throws -> UpstreamError? {
        switch error {
        case .offline, .held, .throttled, .unauthorized: return try await takeBack(changes, after: error)
        case .locked:
            // Only this change waits; the others go on.
            pusher.environment.batches.sendAlone(changes.map(\.change.id))
        case .barred(let status, _, _) where (300..<500).contains(status):
            // It may have taken this one, but the next would be answered in the same way.
            refuse(changes, error)
            return try await finish(changes, afterBar: error)
        case .unclear(501, _), .changed, .gone, .refused, .another: refuse(changes, error)
        case .unclear, .malformed, .barred, .cancelled: return try await conclude(changes.map { ($0, .failure(error)) })
        }
        return try await takeBack(changes)
    }

    private func finish(_ changes: [BatchedChange], afterBar error: UpstreamError) async throws -> UpstreamError? {
        let refused = changes.filter { $0.attempt(by: pusher).isRefusal(error) }
        let others = changes.filter { !$0.attempt(by: pusher).isRefusal(error) }
        let failure = try await conclude(others.map { ($0, .failure(error)) })
        return try await takeBack(refused) ?? failure
    }

    /// The upstream does not take this batch. One that applies all or nothing refuses it for one of its changes.
    private func refuse(_ changes: [BatchedChange], _ error: UpstreamError) {
        if plan.isAtomic, let status = error.status, [400, 409, 412, 422, 424, 428].contains(status) {
            return pusher.environment.batches.sendAlone(changes.map(\.change.id))
        }
        let size = error.status == 413 ? changes.count / 2 : 0
        if pusher.environment.batches.limit(plan, to: size, error.message, at: pusher.monotonicNow()) {
            pusher.environment.noteBatchLimit(error.message, size)
        }
    }
}

extension BatchResult {
    fileprivate var isSuccess: Bool {
        if case .success = self { true } else { false }
    }

    /// The upstream answered that it has not applied this change.
    fileprivate var appliedNothing: Bool {
        switch self {
        case .failure(.changed), .failure(.gone): true
        case .failure(let error): error.isRefusal
        case .success: false
        }
    }
}
