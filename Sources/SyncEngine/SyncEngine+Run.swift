package import CacheStore
internal import EntitySchema
internal import Logging
internal import SQLiteStore
internal import Upstream

/// The rhythm: a run at intervals, on request, and when the upstream is back; each pushes, then pulls.
extension SyncEngine {
    func pullLoop() async throws {
        while !Task.isCancelled {
            pullHeartbeat.beat()
            if health.isDown, !isPaused { try await probeOnce() }
            let time = monotonicNow()
            if let nextSyncAt, nextSyncAt <= time { health.retryAuthorization() }
            let due = requested ?? ((nextSyncAt ?? time) <= time ? SyncRequest() : nil)
            if let due, canCall {
                requested = nil
                try await runOnce(due)
                nextSyncAt = monotonicNow() + waitAfterRun()
            } else if requested != nil, !canCall {
                finishWaiters(.failure(reasonNotToCall), through: run.number + 1)
            }
            let wait = pullWait()
            pullHeartbeat.rest(for: wait)
            await pullSleep.rest(for: wait)
        }
        throw CancellationError()
    }

    private func probeOnce() async throws {
        do {
            try await probe()
        } catch let error as CacheError {
            await noteUnwritten(error, in: .fields)
        }
    }

    /// The interval, give or take; after a run that failed, sooner: as soon as a change would be tried again.
    private func waitAfterRun() -> Duration {
        let interval = settings.interval * (0.9 + 0.2 * random())
        guard run.error != nil else { return interval }
        return min(interval, max(settings.retry.delay(attempt: run.failures, random: random()), .seconds(1)))
    }

    private var reasonNotToCall: SyncError {
        if isPaused { return .paused }
        if let offline = health.offline { return .offline(offline) }
        return .upstream(health.reasonNotToCall(at: monotonicNow()) ?? "the upstream cannot be called right now")
    }

    private func pullWait() -> Duration? {
        let time = monotonicNow()
        if isPaused { return nil }
        if health.isDown { return health.probeDelay }
        if let until = health.hold(at: time) { return until.since(time) }
        return nextSyncAt.map { max($0.since(time), .zero) }
    }

    private func runOnce(_ request: SyncRequest) async throws {
        run.begin(request)
        log.info("sync started", metadata: ["full": "\(request.full)"])
        var result: Result<Void, SyncError> = .success(())
        var isHeld = false
        do {
            try await requireAccount(watched(for: pullHeartbeat))
            try await meetHeldEdits()
            run.phase = "pushing"
            try await pushOnce(pullHeartbeat, through: store.newestChange())
            // What is to be tried again, or has come meanwhile, is the push loop's.
            if try store.pendingCount().pending > 0 { await pushSleep.call() }
            try await pullEntities(request)
            try warnOfNewDrift()
            try await rememberClockOffset()
            if let error = run.error { result = .failure(.upstream(error)) }
        } catch UpstreamError.cancelled {
            throw CancellationError()
        } catch let error as UpstreamError {
            if case .held = error { isHeld = true }
            run.error = error.message
            result = .failure(canCall ? .upstream(error.message) : reasonNotToCall)
        } catch let error as CacheError {
            run.error = "\(error)"
            result = .failure(.cache("\(error)"))
            log.error("the cache could not be written", metadata: ["error": "\(error)"])
        }
        run.end(at: now())
        if let error = run.error {
            // What holds all requests back was told when it began.
            log.log(level: isHeld ? .info : .warning, "sync failed", metadata: ["error": "\(error)"])
        } else {
            log.info("sync ended")
        }
        finishWaiters(result, through: run.number)
    }

    /// Brings up to date what held edits must meet. Until then nothing else is sent; the run sends what there is next.
    private func meetHeldEdits() async throws {
        let held = try heldEntities()
        guard !held.isEmpty else { return }
        isMeeting = true
        defer { isMeeting = false }
        try await pullEntities(SyncRequest(entities: held), onlyChanges: true)
    }

    func finishWaiters(_ result: Result<Void, SyncError>, through number: Int) {
        for waiter in waiters where waiter.run <= number { waiter.continuation.resume(returning: result) }
        waiters.removeAll { $0.run <= number }
    }

    /// Makes sure, once, that the cache belongs to the account whose token we have.
    func requireAccount(_ upstream: any Upstream) async throws {
        guard !accountIsKnown else { return }
        if let account = try await upstream.account() {
            let known = try store.setting("account")
            guard known == nil || known == account else { throw SyncError.otherAccount(account) }
            if known == nil { try await store.setAccount(account, at: now()) }
        }
        accountIsKnown = true
    }

    /// For edits made after a restart and before the first answer. Small changes are not worth a write.
    private func rememberClockOffset() async throws {
        guard let offset = clockOffset()?.milliseconds else { return }
        let known = try store.setting(Self.clockOffsetSetting).flatMap { Int64($0) } ?? 0
        guard abs(offset - known) > 2000 else { return }
        try await store.setSetting(Self.clockOffsetSetting, to: "\(offset)")
    }

    private static let clockOffsetSetting = "clock_offset_ms"

    /// What the last run of the process knew of the server's clock.
    package static func rememberedClockOffset(in store: CacheStore) throws -> Duration? {
        try store.setting(clockOffsetSetting).flatMap { Int64($0) }.map { .milliseconds($0) }
    }
}
