internal import CacheStore
internal import EntitySchema
internal import Logging
internal import Upstream

/// Whether the upstream may be called, learnt from every request, and finding out when it may be again.
extension SyncEngine {
    var canCall: Bool { !isPaused && health.reasonNotToCall(at: monotonicNow()) == nil }

    /// What was made before had to wait, and meets the server's version before it is sent.
    func noteCallable(from time: Timestamp) {
        freshness = Freshness(callableSince: max(freshness.callableSince, time))
    }

    /// For all work: held while the upstream is down, asked for patience, or syncing is paused.
    nonisolated var watched: GuardedUpstream { watched(for: nil) }

    /// The same for a loop, whose pulse each request is.
    nonisolated func watched(for heartbeat: Heartbeat?) -> GuardedUpstream {
        GuardedUpstream(
            upstream: upstream,
            refusal: {
                heartbeat?.beat()
                return await self.refusal
            },
            report: {
                heartbeat?.beat()
                await self.note($1, about: $0)
            })
    }

    /// For finding out whether a failing upstream works again: held only while syncing is paused.
    private var trying: GuardedUpstream {
        GuardedUpstream(
            upstream: upstream, refusal: { await self.isPaused ? .held("syncing is paused") : nil },
            report: { await self.note($1, about: $0) })
    }

    private var refusal: UpstreamError? {
        if isPaused { return .held("syncing is paused") }
        return health.reasonNotToCall(at: monotonicNow()).map { .held($0) }
    }

    /// Takes note of what came of a request; nil for an answer.
    func note(_ error: UpstreamError?, about origin: RequestOrigin = RequestOrigin()) {
        let wasDown = health.isDown
        switch error {
        case .cancelled, .held: return
        case .offline(let message): health.lost(message)
        case .unclear(_, let message): noteFailure(message, origin)
        case .throttled(let delay, let message):
            log.warning("the upstream asks to wait", metadata: ["for": "\(delay)", "error": "\(message)"])
            health.answered()
            health.hold(until: monotonicNow() + delay)
            noteCallable(from: monotonicNow() + delay)
        case .unauthorized(let message):
            log.error("the upstream does not accept the token", metadata: ["error": "\(message)"])
            health.answered()
            health.refuse(message)
            // The next token may be another account's: a run asks whose it is before anything else, and soon.
            accountIsKnown = false
            if !run.isRunning {
                nextSyncAt = monotonicNow() + settings.retry.base
                Task { await pullSleep.call() }
            }
        case nil, .changed, .gone, .refused, .malformed: noteAnswer(origin)
        }
        guard health.isDown, !wasDown else { return }
        if let message = health.offline {
            log.warning("the upstream cannot be reached", metadata: ["error": "\(message)"])
        } else if let message = health.outage {
            log.warning("the upstream answers with failures only; leaving it alone", metadata: ["error": "\(message)"])
        }
        Task { await pullSleep.call() }
    }

    private func noteFailure(_ message: String, _ origin: RequestOrigin) {
        health.failed(message, by: origin.entity ?? "", of: schema.entities.count)
        guard health.isDoubtful, !isLookingElsewhere else { return }
        isLookingElsewhere = true
        Task {
            // What comes of it is noted like any request.
            try? await look(elsewhereThan: origin.entity ?? "", by: watched)
            isLookingElsewhere = false
        }
    }

    private func noteAnswer(_ origin: RequestOrigin) {
        health.answered()
        guard origin.isChange, budget.isExhausted else { return }
        // Changes are taken again: everything that was held back goes.
        budget.fill()
        Task {
            try? await store.hastenWaiting(at: monotonicNow())
            await pushSleep.call()
        }
    }

    // MARK: Probing

    /// Asks whether the upstream can be reached. Where it was down and is back: one probe, if it failed also one trial, then
    /// everything.
    func probe() async throws {
        let wasDown = health.isDown
        health.probed()
        var takesChanges = true
        do {
            try await upstream.probe()
            guard health.isDown else { return }
            if health.outage == nil { health.answered() } else { takesChanges = try await trial() }
        } catch let error as UpstreamError {
            if case .cancelled = error { throw CancellationError() }
            if case .offline = error { note(error) }
            // Where it was not down it answers, be it with an error: that is for the requests to find out.
            guard wasDown else { return }
            if case .unclear(_, let message) = error { noteFailure(message, RequestOrigin()) }
            log.debug("still down", metadata: ["error": "\(error.message)"])
        }
        guard !health.isDown else { return }
        log.notice("the upstream is back")
        requested = SyncRequest().merged(with: requested)
        // Where changes still fail each of them waits as long as it is to.
        if takesChanges { try await store.hastenWaiting(at: monotonicNow()) }
        await pushSleep.call()
    }

    /// One change, or where there is none to send one request of no consequence. False when the change failed again but
    /// other entities are served.
    private func trial() async throws -> Bool {
        try await requireAccount(trying)
        guard let change = try store.readyChanges(limit: 1, at: monotonicNow()).first ?? store.leastTriedChange() else {
            _ = try await trying.account()
            return true
        }
        do {
            var pusher = pusher(trying)
            pusher.isTrial = true
            _ = try await pusher.send(change)
        } catch {
            noteBrokenOff(change)
            throw error
        }
        // Perhaps only that entity is broken; then it must not hold up all others (sync-rules, invariant 4).
        guard health.outage != nil else { return true }
        try await look(elsewhereThan: change.entity, by: trying)
        return false
    }

    /// Asks for a page of any other entity.
    private func look(elsewhereThan entity: String, by upstream: GuardedUpstream) async throws {
        let others = schema.entities.filter { $0.name != entity && $0.pull != nil }
        guard !others.isEmpty else { return }
        let other = others[min(Int(random() * Double(others.count)), others.count - 1)]
        guard let plan = other.pull else { return }
        _ = try await upstream.page(
            PageRequest(entity: other.name, path: plan.path, query: plan.query, list: plan.list))
    }
}
