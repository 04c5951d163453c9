internal import CacheStore
internal import EntitySchema
internal import Upstream

/// Sends queued changes until no ready one is admitted: those of one record in order, different records in parallel, and
/// several in one request where the upstream takes batches.
struct PushDrain {
    let pusher: Pusher
    let admission: PushAdmission
    private let sendsBatches: Bool

    init(pusher: Pusher, admission: PushAdmission) {
        self.pusher = pusher
        self.admission = admission
        sendsBatches = pusher.lane == .fields && pusher.schema.hasBatches
    }

    /// What one task sends.
    private enum Work {
        case single(OutboxChange)
        case batch([BatchedChange], BatchPlan)

        var changes: [OutboxChange] {
            switch self {
            case .single(let change): [change]
            case .batch(let changes, _): changes.map(\.change)
            }
        }

        var isBatch: Bool {
            if case .batch = self { true } else { false }
        }
    }

    private var store: CacheStore { pusher.store }

    /// Returns whether any change was admitted. Throws an error that concerns the whole upstream or the database, after which
    /// nothing more is begun; attempts under way have been finished by then.
    func run() async throws -> Bool {
        let (failure, hasAdmitted) = await withTaskGroup(of: ([Int64], (any Error)?).self) { group in
            // If nothing may be sent at this moment, something may be at the next.
            let slots = AsyncSemaphore(max(await admission.slots(), 1))
            var inFlight: [Int64: Int] = [:]
            var passedOver: Set<Int64> = []
            var running = 0
            var failure: (any Error)?
            var hasAdmitted = false
            while true {
                // Twice the slots: as many changes again are being read in advance or finished.
                let free = failure == nil ? await 2 * admission.slots() - running : 0
                var ready: [Work] = []
                do {
                    if free > 0 { ready = try await next(limit: free, beside: inFlight, &passedOver) }
                } catch {
                    failure = error
                }
                var hasBatch = false
                for work in ready {
                    guard let work = await admitted(work) else { continue }
                    for change in work.changes { inFlight[change.id] = change.heldBytes }
                    running += 1
                    hasAdmitted = true
                    hasBatch = hasBatch || work.isBatch
                    group.addTask { (work.changes.map(\.id), await send(work, slots)) }
                }
                // A batch takes one place, so there may be room for another.
                if hasBatch { continue }
                guard let (ids, error) = await group.next() else { return (failure, hasAdmitted) }
                for id in ids { inFlight[id] = nil }
                running -= 1
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return hasAdmitted
    }

    /// Without the changes that must wait; nil if that is all of them.
    private func admitted(_ work: Work) async -> Work? {
        switch work {
        case .single(let change): return await admission.mayBegin(change) ? work : nil
        case .batch(let changes, let plan):
            var admitted: [BatchedChange] = []
            for sent in changes where await admission.mayBegin(sent.change) { admitted.append(sent) }
            guard let first = admitted.first else { return nil }
            return admitted.count > 1 ? .batch(admitted, plan) : .single(first.change)
        }
    }

    private func send(_ work: Work, _ slots: AsyncSemaphore) async -> (any Error)? {
        do {
            switch work {
            case .batch(let changes, let plan):
                return try await BatchPusher(pusher: pusher, plan: plan, slots: slots).send(changes)
            case .single(let change):
                let slot = await slots.take()
                defer { slot.give() }
                let error = try await pusher.begun(in: slot).send(change)
                if sendsBatches { pusher.environment.batches.noteSent(change.id) }
                return error
            }
        } catch {
            for change in work.changes { await admission.breaksOff(change) }
            return error
        }
    }

    // MARK: What is next

    /// The memory for changes that are being sent. The upstream decides how large their records are.
    private static let mostBytes = 32 << 20

    /// At most `limit` tasks; changes that are not admitted yet, or have no room beside those `underWay`, are left out.
    private func next(
        limit: Int, beside underWay: [Int64: Int], _ passedOver: inout Set<Int64>
    ) async throws -> [Work] {
        let room = Self.mostBytes - underWay.values.reduce(0, +)
        guard underWay.isEmpty || room > 0 else { return [] }
        let inFlight = Set(underWay.keys)
        let newest = await admission.newest()
        let ready = try await readyAndUnheld(limit: limit, room, notOf: inFlight, &passedOver)
            .filter { $0.id <= newest }
        let singles = ready.map(Work.single)
        guard sendsBatches, await admission.barred() == nil, await admission.allowance() == .all,
            let plan = firstBatchPlan(of: ready)
        else { return singles }
        let size = pusher.environment.batches.size(of: plan, at: pusher.monotonicNow())
        let candidates = try await unheld(
            due(limit: max(size, limit), room, notOf: inFlight.union(passedOver)).filter { $0.id <= newest })
        let batch = pusher.batch(of: candidates, by: plan, size: size)
        guard batch.count > 1 else { return singles }
        // Those of another batch come next.
        let others = ready.filter { pusher.batchPlan($0) == nil }.prefix(limit - 1)
        return [.batch(batch, plan)] + others.map(Work.single)
    }

    /// Ready changes whose routes and entities need not wait. The others are passed over in this drain.
    private func readyAndUnheld(
        limit: Int, _ room: Int, notOf inFlight: Set<Int64>, _ passedOver: inout Set<Int64>
    ) async throws -> [OutboxChange] {
        while passedOver.count < Self.mostPassedOver {
            let ready = try await ready(limit: limit, room, notOf: inFlight.union(passedOver))
            let free = await unheld(ready)
            passedOver.formUnion(Set(ready.map(\.id)).subtracting(free.map(\.id)))
            if !free.isEmpty || ready.isEmpty { return free }
        }
        return []
    }

    private func unheld(_ changes: [OutboxChange]) async -> [OutboxChange] {
        var unheld: [OutboxChange] = []
        for change in changes where await !admission.isHeld(change) { unheld.append(change) }
        return unheld
    }

    private static let mostPassedOver = 500

    /// How the first change that can be batched goes out with others.
    ///
    /// Asks once for each change, because an answer of the upstream changes the plans meanwhile: `lazy.compactMap.first`
    /// asks twice, and traps when the second plan is nil.
    private func firstBatchPlan(of changes: [OutboxChange]) -> BatchPlan? {
        for change in changes {
            if let plan = pusher.batchPlan(change) { return plan }
        }
        return nil
    }

    private func ready(limit: Int, _ room: Int, notOf inFlight: Set<Int64>) async throws -> [OutboxChange] {
        if let barred = await admission.barred() {
            let others = try due(limit: 1, room, notOf: inFlight.union(barred))
            guard others.isEmpty, try !givesWay(barred) else { return others }
            return try due(limit: 1, room, notOf: inFlight)
        }
        let allowance = await admission.allowance()
        guard allowance != .all else { return try due(limit: limit, room, notOf: inFlight) }
        let untried = try store.readyChanges(
            limit: limit, atMost: room, at: pusher.monotonicNow(), untried: true, in: pusher.lane, notOf: inFlight)
        guard allowance == .trial, let trial = try store.leastTriedChange(at: pusher.monotonicNow()),
            !inFlight.contains(trial.id)
        else {
            return untried
        }
        return [trial] + untried.prefix(limit - 1)
    }

    /// Whether the barred contents let changes of fields go first, because some that were not barred are ready. The contents
    /// would be at each trial first.
    private func givesWay(_ barred: Set<Int64>) throws -> Bool {
        guard pusher.lane == .content else { return false }
        return try !store.readyChanges(limit: 1, at: pusher.monotonicNow(), notOf: barred).isEmpty
    }

    private func due(limit: Int, _ room: Int, notOf others: Set<Int64>) throws -> [OutboxChange] {
        try store.readyChanges(limit: limit, atMost: room, at: pusher.monotonicNow(), in: pusher.lane, notOf: others)
    }
}

extension Pusher {
    /// Sends until no ready change is admitted; see `PushDrain.run`.
    @discardableResult
    func drain(through admission: PushAdmission) async throws -> Bool {
        try await PushDrain(pusher: self, admission: admission).run()
    }
}
