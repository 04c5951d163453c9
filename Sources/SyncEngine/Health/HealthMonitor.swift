internal import CacheStore
internal import EntitySchema
internal import Logging
internal import Upstream

/// Decides whether the upstream may be called, and what may be sent to it, from the outcome of every request.
///
/// Runs on the engine's executor: see `EngineIsolation`.
actor HealthMonitor {
    nonisolated let environment: SyncEnvironment
    private let account: AccountCheck

    private(set) var breaker = CircuitBreaker() {
        didSet {
            if oldValue.isBlocked, !breaker.isBlocked { freshness.noteCallable(from: environment.monotonicNow()) }
            if breaker.isDown, !oldValue.isDown { downSince = environment.monotonicNow() }
            let isReachable = breaker.offline == nil
            if isReachable != (oldValue.offline == nil) { environment.measure(.reachability(isReachable)) }
            shownBreaker.value = breaker
            environment.changed()
        }
    }
    /// When the upstream was last found to be down.
    private(set) var downSince: Timestamp?
    /// Whether changes get through. It has no effect on reading.
    private(set) var bar = AccountBar() {
        didSet {
            shownBar.value = bar
            if oldValue.reason != bar.reason { environment.changed() }
        }
    }
    nonisolated let shownBreaker = Published(CircuitBreaker())
    nonisolated let shownBar = Published(AccountBar())
    /// Which changes the upstream asks to wait with. It has no effect on anything else.
    private(set) var throttled = ThrottledChanges()
    /// The same of lists.
    var lists = ThrottledLists()
    private(set) var freshness: Freshness
    private var budget = RetryBudget()
    private var isAskingElsewhere = false
    /// Entities whose reads are answered 401 although the token is valid: see `meaning`.
    private var unreadable: Set<String> = []
    /// Entities whose changes were asked for before a full pull went on, and not read to their end.
    private var unfinishedChanges: Set<String> = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { environment.isolation.unownedExecutor }

    init(_ environment: SyncEnvironment, account: AccountCheck) {
        self.environment = environment
        self.account = account
        freshness = Freshness(callableSince: environment.monotonicNow())
    }

    // MARK: May it be called?

    var isPaused: Bool { environment.pause.value }

    var canCall: Bool { !isPaused && breaker.reasonNotToCall(at: environment.monotonicNow()) == nil }

    /// Whether changes may be sent.
    var canPush: Bool { canCall && environment.mayPush() }

    /// Requests that may be in flight while pushing.
    var slots: Int { canPush ? environment.settings.parallel : 0 }

    /// Why callers of a sync cannot have one now.
    var reasonNotToSync: SyncError {
        if isPaused { return .paused }
        if let offline = breaker.offline { return .offline(offline) }
        let reason = breaker.reasonNotToCall(at: environment.monotonicNow())
        return .upstream(reason ?? "the upstream cannot be called right now")
    }

    /// Until when the upstream asked to be left alone; nil when that is over.
    var heldUntil: Timestamp? { breaker.hold(at: environment.monotonicNow()) }

    /// How long the pull loop sleeps when its next run is due at `next`; nil until it is woken.
    func pullWait(until next: Timestamp?) -> Duration? {
        let time = environment.monotonicNow()
        if isPaused { return nil }
        if breaker.isDown { return environment.schedule.probeWait(usual: breaker.probeDelay) }
        if let until = breaker.hold(at: time) { return until.since(time) }
        return next.map { max($0.since(time), .zero) }
    }

    func pause() {
        environment.pause.value = true
        environment.changed()
    }

    func resume() {
        if isPaused { freshness.noteCallable(from: environment.monotonicNow()) }
        environment.pause.value = false
        environment.changed()
    }

    func retryAuthorization() { breaker.retryAuthorization() }

    /// Why no request may be made now; nil if one may.
    var refusal: UpstreamError? {
        if isPaused { return .held("syncing is paused") }
        return breaker.reasonNotToCall(at: environment.monotonicNow()).map { .held($0) }
    }

    // MARK: Outcomes of requests

    /// Records the outcome of a request; nil for an answer.
    func note(_ error: UpstreamError?, about origin: RequestOrigin = RequestOrigin()) async {
        let wasDown = breaker.isDown
        switch error {
        case .cancelled, .held: return
        case .offline(let message): breaker.lost(message)
        case .unclear(_, let message): noteFailure(message, origin)
        case .throttled(let delay, let message):
            breaker.answered()
            hold(for: delay, message, origin)
        case .unauthorized(let message):
            breaker.answered()
            if !origin.isChange, let entity = origin.entity, unreadable.contains(entity) { return }
            // One change at a time tries again, and all else finds out by itself whether the token counts.
            if origin.isChange, bar.isSet { return await account.doubt() }
            environment.log.error("the upstream does not accept the token", metadata: ["error": "\(message)"])
            breaker.refuse(message, byChange: origin.isChange)
            await account.forget()
        case .barred: breaker.answered()
        case nil, .locked, .changed, .gone, .refused, .another, .malformed: noteAnswer(origin)
        }
        if breaker.isDown, !wasDown { logDown() }
    }

    /// The upstream asks to wait: with everything, or only with the change that this is about.
    func hold(for delay: Duration, _ message: String, _ origin: RequestOrigin) {
        let time = environment.monotonicNow()
        let end = time + environment.schedule.holdWait(asked: delay)
        let metadata: Logger.Metadata = ["for": "\(delay)", "error": "\(message)"]
        if let change = origin.change,
            case .change(let times) = throttled.noteWait(with: change, until: end, at: time)
        {
            if times == 1 {
                environment.log.warning(
                    "the upstream asks to wait with one change; others go on",
                    metadata: metadata.merging(["change": "\(change.route)"]) { $1 })
            }
            return
        }
        environment.log.warning("the upstream asks to wait", metadata: metadata)
        breaker.hold(until: end)
        freshness.noteCallable(from: end)
    }

    /// Whether all changes of the route must wait.
    func isRouteHeld(of change: ThrottledChanges.Change) -> Bool {
        throttled.isRouteHeld(of: change, at: environment.monotonicNow())
    }

    private func logDown() {
        if let message = breaker.offline {
            environment.log.warning("the upstream cannot be reached", metadata: ["error": "\(message)"])
        } else if let message = breaker.outage {
            environment.log.warning(
                "the upstream answers with failures only; asking less often", metadata: ["error": "\(message)"])
        }
        Task { await environment.sleeps.pull.wake() }
    }

    /// A request was neither done nor refused. If only one entity has failed so far, another one is asked for.
    func noteFailure(_ message: String, _ origin: RequestOrigin) {
        breaker.failed(message, by: origin.entity ?? "", of: environment.schema.entities.count)
        guard breaker.isDoubtful, !isAskingElsewhere else { return }
        isAskingElsewhere = true
        Task {
            // Its outcome is recorded like that of any request.
            try? await askElsewhere(than: origin.entity ?? "", by: guardedUpstream())
            isAskingElsewhere = false
        }
    }

    private func noteAnswer(_ origin: RequestOrigin) {
        breaker.answered(servesEntity: origin.entity != nil)
        let time = environment.monotonicNow()
        if let change = origin.change { throttled.pass(change, at: time) }
        if !origin.isChange, origin.entity != nil { throttled.noteRead(at: time) }
        guard origin.isChange, budget.isExhausted else { return }
        // Changes are accepted again: send everything that was held back.
        budget.fill()
        hastenWaiting()
    }

    private func hastenWaiting() {
        Task {
            try? await environment.store.hastenWaiting(at: environment.monotonicNow())
            await environment.sleeps.push.wake()
        }
    }

    // MARK: What the account may not read

    /// What the failure of a pull means. `.refused` for a 401 that concerns only this entity: others are served with the same
    /// token, which the account and the schema's check confirm. Records any other 401, and returns it as it is. The same for a
    /// 429.
    func meaning(of failure: UpstreamError, toReadsOf entity: String, by heartbeat: Heartbeat) async throws
        -> UpstreamError
    {
        if case .throttled(let delay, let message) = failure {
            return noteWait(delay, message, withReadsOf: entity)
        }
        guard case .unauthorized(let message) = failure, breaker.unauthorized == nil else { return failure }
        do {
            let witness = TokenWitness(
                environment: environment, account: account, upstream: pullUpstream(for: heartbeat),
                unreadable: unreadable)
            guard try await witness.servesAnother(than: entity) else {
                unreadable.remove(entity)
                await note(failure)
                return failure
            }
        } catch let other as UpstreamError {
            if case .throttled = other { await note(other) }
            return other
        }
        unreadable.insert(entity)
        return .refused(
            status: 401, "\(message); other lists are served with the same token, so the account may not read this one")
    }

    /// Pulling the entity has succeeded.
    func noteReadable(_ entity: String) {
        unreadable.remove(entity)
        lists.pass(entity, at: environment.monotonicNow())
    }

    // MARK: Probes

    func noteProbe() { breaker.probed() }

    /// The upstream has answered, which says nothing about its entities.
    func noteReachable() { breaker.answered(servesEntity: false) }

    func hurryProbes() { breaker.hurry() }

    // MARK: What may be sent

    /// Until a change may be retried; nil while the budget lasts.
    var retryWait: Duration? { budget.isExhausted ? budget.wait(at: environment.monotonicNow()) : nil }

    var allowance: RetryBudget.Allowance { budget.allowance(at: environment.monotonicNow()) }

    /// Charges the budget for a change that is about to be sent; false when it must wait. Several changes that were
    /// tried before are read at once, and may be more than the budget allows.
    func mayBegin(_ change: Int64, isRetry: Bool) -> Bool {
        let time = environment.monotonicNow()
        // A trial of the bar is a retry that the budget need not pay for.
        if bar.isSet { return bar.admits(change, at: time) }
        guard isRetry else {
            budget.earn()
            return true
        }
        guard budget.wait(at: time) == .zero else { return false }
        budget.spend(on: change, at: time, jitter: environment.schedule.jitter)
        return true
    }

    /// A content costs the budget nothing while it lasts.
    func mayBeginContent(_ change: Int64, isRetry: Bool) -> Bool {
        guard isRetry, budget.isExhausted else { return bar.admits(change, at: environment.monotonicNow()) }
        return mayBegin(change, isRetry: true)
    }

    /// A person wants changes retried now.
    func refillBudget() {
        budget.fill()
        bar.hurry()
    }

    // MARK: Changes that do not get through

    /// The changes that did not get through; nil while changes do.
    var barredChanges: Set<Int64>? { bar.isSet ? bar.changes : nil }

    /// Until the next change may find out whether changes get through again; nil while they do.
    var barWait: Duration? { bar.isSet ? bar.wait(at: environment.monotonicNow()) : nil }

    func noteBegin(of change: Int64) { bar.begin(change) }

    func noteEnd(of change: Int64) {
        budget.end(change)
        bar.end(change)
    }

    /// The change was only looked up, which shows nothing about whether changes are accepted.
    func noteLookUp(of change: Int64) { budget.takeBack(change) }

    /// Call this when a sync is asked for: the next change may find out at once whether changes get through. The changes
    /// that were barred wait for times of their own, which end too. Others wait for other reasons, and their attempts count.
    func hurryTrials() async {
        guard bar.isSet else { return }
        bar.hurry()
        // If the database cannot be written, they only wait longer.
        try? await environment.store.hastenWaiting(at: environment.monotonicNow(), only: bar.changes)
    }

    /// Nothing is left that could be barred.
    func clearBar() { bar.clear() }

    /// The upstream accepted a change, or refused it for what it says.
    func notePass(of change: Int64) {
        let refusedToken = bar.refusesToken
        guard bar.pass(change) else { return }
        environment.log.notice("the upstream accepts changes of this account again")
        guard refusedToken else { return hastenWaiting() }
        // Changes that were answered 401 are ready.
        Task { await environment.sleeps.wakeSenders() }
    }

    /// The upstream did not let a change through. The first time that it refuses the token, all requests are held until
    /// the next run; after that, only changes are.
    func verdict(
        onBarred change: Int64, _ message: String, hasOthers: Bool, cause: AccountBar.Cause
    ) -> AccountBar.Verdict {
        let (before, wasBarred) = (bar, bar.changes.contains(change))
        let verdict = bar.bar(
            change, message, hasOthers: hasOthers, cause: cause, at: environment.monotonicNow(),
            jitter: environment.schedule.jitter)
        if cause == .token, wasBarred, breaker.isRefusedByChanges { breaker.retryAuthorization() }
        // Maintenance may end with an account that is refused. A refused token was logged with the first answer.
        if bar.isSet, before.isSet ? before.cause != bar.cause : cause != .token { logBar(message) }
        return verdict
    }

    private func logBar(_ message: String) {
        let metadata: Logger.Metadata = ["error": "\(message)"]
        switch bar.cause {
        case .token: environment.log.error("the upstream does not accept the token", metadata: metadata)
        case .account:
            environment.log.error(
                "the upstream refuses this account's changes; check its rights and upstream.base_url, or sign in again",
                metadata: metadata)
        case .outage:
            environment.log.warning(
                "the upstream takes no changes right now, as during maintenance; they wait", metadata: metadata)
        }
    }

    func notePull(of entity: String) { freshness.notePull(of: entity, at: environment.monotonicNow()) }

    func noteUnfinishedChanges(of entity: String) { unfinishedChanges.insert(entity) }

    /// Whether they were noted since the last call.
    func takeUnfinishedChanges(of entity: String) -> Bool { unfinishedChanges.remove(entity) != nil }

    /// Entities with edits that are no longer fresh and that a short pull can bring up to date.
    func heldEntities() throws -> Set<String> {
        let time = environment.monotonicNow()
        let held = try environment.store.entitiesWithHeldChanges(
            outside: freshness.times(at: environment.now(), monotonicNow: time))
        return Set(
            held.filter { name in
                guard let plan = environment.schema[name]?.pull, plan.mode != .full,
                    lists.wait(with: name, at: time) == nil
                else { return false }
                return freshness.needsPull(of: name, at: time)
            })
    }
}
