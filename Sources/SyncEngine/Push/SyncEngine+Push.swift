internal import CacheStore
internal import EntitySchema
internal import Logging
internal import SQLiteStore
internal import Upstream

/// Sending local changes as they come.
extension SyncEngine {
    func pushLoop() async throws {
        while !Task.isCancelled {
            pushHeartbeat.beat()
            let wait = try await pushAndSchedule()
            pushHeartbeat.rest(for: wait)
            await pushSleep.rest(for: wait)
            guard !Task.isCancelled else { break }
            // A burst of writes goes together.
            try await clock.sleep(for: settings.writeDelay)
        }
        throw CancellationError()
    }

    /// Sends what can be sent; returns how long to rest.
    private func pushAndSchedule() async throws -> Duration? {
        do {
            if canCall, !isMeeting {
                // A run pulls what those edits must meet, and pushes.
                let held = try heldEntities()
                if held.isEmpty {
                    try await pushOnce(pushHeartbeat)
                } else {
                    await requestSync(SyncRequest(entities: held))
                }
            }
            return try pushWait()
        } catch let error as CacheError {
            await noteUnwritten(error, in: .fields)
            return UnwrittenOutcomes.wait
        }
    }

    /// Until the next waiting change is due; nil until somebody calls.
    private func pushWait() throws -> Duration? {
        let time = monotonicNow()
        guard canCall else { return health.hold(at: time)?.since(time) }
        if unwritten.lanes.contains(.fields) { return UnwrittenOutcomes.wait }
        if budget.isExhausted, try store.leastTriedChange() != nil { return max(budget.wait(at: time), .seconds(1)) }
        guard let next = try store.nextAttempt() else { return nil }
        // What is due and still here cannot be sent, so it does not hurry.
        return next > time ? next.since(time) : .seconds(1)
    }

    /// Sends what is ready, up to this change: a run pulls after what was queued when it began, however fast callers write.
    /// `heartbeat` is the calling loop's.
    func pushOnce(_ heartbeat: Heartbeat, through newest: Int64 = .max) async throws {
        // A run pushes before it pulls; one at a time is enough.
        guard !isPushing else { return }
        isPushing = true
        newestToPush = newest
        defer { endPushing() }
        do {
            try await writeOutcomes()
            if try store.pendingCount().pending > 0 {
                let watched = watched(for: heartbeat)
                try await requireAccount(watched)
                try await pusher(watched).drain(through: gate)
            }
            unwritten.lanes.remove(.fields)
        } catch UpstreamError.cancelled {
            throw CancellationError()
        } catch is UpstreamError {
            // What concerns the whole upstream is known by now; the changes keep.
        } catch let error as CacheError {
            await noteUnwritten(error, in: .fields)
        }
        // A content may have waited for the creation of its record, or for the upstream.
        await callUploads()
    }

    private func endPushing() {
        isPushing = false
        newestToPush = .max
        for waiter in pushWaiters { waiter.resume() }
        pushWaiters = []
    }

    /// Returns when what is being sent, or queued by now and ready, has been answered.
    func waitForPushes() async {
        guard isPushing, let newest = try? store.newestChange() else { return }
        newestToPush = min(newestToPush, newest)
        await withCheckedContinuation { pushWaiters.append($0) }
    }

    func pusher(_ upstream: any Upstream, _ lane: PushLane = .fields) -> Pusher {
        Pusher(
            schema: schema, store: store, upstream: upstream, retry: settings.retry, now: now,
            monotonicNow: monotonicNow,
            random: random, freshness: freshness, contents: contents, lane: lane, measure: measure)
    }

    private nonisolated var gate: PushAdmission {
        PushAdmission(
            slots: { await self.slots }, allowance: { await self.allowance }, newest: { await self.newestToPush },
            mayBegin: { await self.mayBegin($0) },
            breaksOff: { await self.noteBrokenOff($0) })
    }

    private var slots: Int { canCall ? settings.parallel : 0 }

    private var allowance: PushAdmission.Allowance {
        guard budget.isExhausted else { return .all }
        return budget.wait(at: monotonicNow()) == .zero ? .trial : .untried
    }

    /// Several that were tried before are read at once, and may be more than the budget has.
    private func mayBegin(_ change: OutboxChange) -> Bool {
        guard change.isTried else {
            budget.earn()
            return true
        }
        let time = monotonicNow()
        guard budget.wait(at: time) == .zero else { return false }
        budget.spend(at: time)
        return true
    }

    // MARK: Edits that were held

    /// Entities with edits that are no longer fresh, and that a short pull can bring up to date.
    func heldEntities() throws -> Set<String> {
        let time = monotonicNow()
        let held = try store.entitiesWithHeldChanges(outside: freshness.times(at: now(), monotonicNow: time))
        let pulledSince = time - freshness.age(at: time)
        return Set(
            held.filter { name in
                guard let plan = schema[name]?.pull, plan.mode != .full else { return false }
                return pullsBegun[name].map { $0 < pulledSince } ?? true
            })
    }
}
