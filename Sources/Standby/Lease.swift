internal import JSONText
package import Logging
internal import Synchronization

/// The right to push for one account: a key in etcd that at most one daemon holds, for as long as its lease lasts.
///
/// Each daemon counts on its lease for a shorter time than etcd does: from before the renewal was sent, less `margin`. So the
/// former holder has stopped when the next one can begin.
package final class Lease: Sendable {
    package let settings: StandbySettings
    let gateway: EtcdGateway
    /// Distinguishes this process from all others, also from earlier ones of this daemon.
    private let session: String
    /// Distinguishes this daemon's database.
    private let database: String
    private let clock: any Clock<Duration>
    private let monotonic: @Sendable () -> Duration
    private let changed: @Sendable () -> Void
    private let log: Logger
    private let state = Mutex(LeaseState())

    /// `monotonic` must also count while the machine sleeps. `changed` is called when the lease comes or goes.
    package init(
        _ settings: StandbySettings, gateway: EtcdGateway, session: String, database: String,
        clock: any Clock<Duration>, monotonic: @escaping @Sendable () -> Duration,
        changed: @escaping @Sendable () -> Void = {}, log: Logger
    ) {
        self.settings = settings
        self.gateway = gateway
        self.session = session
        self.database = database
        self.clock = clock
        self.monotonic = monotonic
        self.changed = changed
        self.log = log
    }

    // MARK: What it allows

    /// What this daemon knows about the lease.
    package struct Standing: Sendable, Equatable {
        package var holdsLease: Bool
        /// Whether what the former holder left has been taken over.
        package var isReady = false
        /// Who holds it, as last seen; nil if no daemon does, or it is not known.
        package var holder: String?
        /// How long the lease lasts at least.
        package var left: Duration?
        /// Why it cannot be acquired or renewed now, or why this daemon could not take over.
        package var error: String?
    }

    package var standing: Standing {
        let now = monotonic()
        return state.withLock { state in
            guard let held = state.valid(at: now) else {
                return Standing(holdsLease: false, holder: state.other, error: state.problem)
            }
            return Standing(
                holdsLease: true, isReady: held.isPrepared, holder: settings.name, left: held.deadline - now,
                error: state.problem)
        }
    }

    /// Whether a push may begin now.
    package var mayPush: Bool { valid?.isPrepared ?? false }

    /// The lease if it lasts at this moment.
    var valid: LeaseState.Held? {
        let now = monotonic()
        return state.withLock { $0.valid(at: now) }
    }

    /// Why no push may begin under the lease of this revision, after asking etcd whether the holder's key is still the one of
    /// that lease; nil if one may.
    ///
    /// Time alone would not do: a virtual machine that was stopped for a while does not know it.
    func refusal(under revision: Int64) async -> String? {
        guard let held = valid, held.revision == revision, held.isPrepared else { return Self.notHeld }
        do throws(StandbyError) {
            let fence = EtcdGateway.Condition.created(key: settings.holderKey, held.revision)
            let read = EtcdGateway.Step.read(key: settings.holderKey)
            guard try await gateway.transaction(if: [fence], then: [read], else: [read]).succeeded else {
                lose(held.revision, because: "another daemon has taken it")
                return Self.notHeld
            }
        } catch {
            holdBack()
            return "whether this daemon still holds the lease is not known: \(error.message)"
        }
        return valid?.revision == held.revision ? nil : Self.notHeld
    }

    /// Call it when a push did not begin because etcd did not answer: `began` is called again once it does.
    func holdBack() { state.withLock { $0.holdBack() } }

    private static let notHeld = "another daemon may push: this one does not hold the lease"

    /// Returns when the lease of this revision does not last any more, or the task is cancelled.
    func lapse(of revision: Int64) async {
        while !Task.isCancelled, let held = valid, held.revision == revision {
            // It may be lost before its time, or renewed.
            let left = min(held.deadline - monotonic(), .seconds(1))
            try? await clock.sleep(for: left)
        }
    }

    /// Carries steps out if this daemon still holds the lease of this revision. Not to be called twice at a time.
    ///
    /// Each write needs the revision of the last one. So an earlier attempt, whose answer was lost, cannot be carried out after
    /// it by a member that was stopped for a while.
    func write(_ steps: [EtcdGateway.Step], under revision: Int64) async throws(StandbyError) {
        let (holder, turn) = (settings.holderKey, settings.turnKey)
        for _ in 1...3 {
            guard let last = state.withLock({ $0.turn(under: revision) }) else {
                throw .notHolder
            }
            let answer = try await gateway.transaction(
                if: [.created(key: holder, revision), .modified(key: turn, last)],
                then: steps + [.put(key: turn, value: "")], else: [.read(key: holder), .read(key: turn)])
            if answer.succeeded { return state.withLock { $0.note(turn: answer.revision, under: revision) } }
            guard answer.read.contains(where: { $0.key == holder && $0.created == revision }),
                let other = answer.read.first(where: { $0.key == turn })?.modified, other != last
            else {
                lose(revision, because: "another daemon has taken it")
                throw .notHolder
            }
            // That attempt was carried out, maybe of these very steps. They may be repeated.
            state.withLock { $0.note(turn: other, under: revision) }
        }
        throw .unanswered("etcd carries out earlier attempts only now")
    }

    // MARK: Holding it

    /// Whose queue is stored in etcd.
    package struct Last: Sendable, Equatable {
        /// The daemon that last stored its whole queue; nil if none has.
        package var former: QueueMark?
        /// This daemon, under the lease that it has just acquired.
        package var own: QueueMark
    }

    /// Competes for the lease and renews it, until the task is cancelled.
    ///
    /// `prepare` is called each time that the lease was acquired, before anything may be pushed, and again until it succeeds;
    /// then `began` is, and again when pushes that etcd held back can go on. When `prepare` has failed for as long as a lease
    /// lasts, this daemon leaves the lease to another one for a while.
    package func run(
        prepare: @escaping @Sendable (Last) async throws -> Void, began: @escaping @Sendable () -> Void
    ) async {
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                if let acquired = await step() {
                    group.addTask {
                        await self.keepPreparing(acquired.revision) { try await prepare(acquired.last) }
                        if self.mayPush { began() }
                    }
                }
                if canGoOn() { began() }
                try? await clock.sleep(for: wait)
            }
            group.cancelAll()
        }
    }

    private func canGoOn() -> Bool {
        guard mayPush else { return false }
        return state.withLock { $0.goOn() }
    }

    private var wait: Duration {
        guard let held = valid else { return settings.interval }
        return min(settings.interval, held.deadline - monotonic())
    }

    /// One look at the lease, or one renewal. Returns its revision when it was acquired.
    func step() async -> (revision: Int64, last: Last)? {
        let held = state.withLock { $0.held }
        do throws(StandbyError) {
            guard let held else { return try await acquire() }
            try await renew(held)
        } catch .cancelled {
            return nil
        } catch {
            note(error.message)
            if let held, valid == nil { lose(held.revision, because: error.message) }
        }
        return nil
    }

    private func acquire() async throws(StandbyError) -> (revision: Int64, last: Last)? {
        if let holder = try await gateway.entries(settings.holderKey, limit: 1).first {
            // An answer was lost, and the next attempt must not wait for the end of that lease.
            if holder.session == session { try await gateway.revoke(holder.lease) } else { note(holder: holder) }
            return nil
        }
        // No daemon holds it.
        guard !state.withLock({ $0.isLeftToAnother(at: monotonic()) }) else { return nil }
        let began = monotonic()
        let lease = try await gateway.grant(settings.ttl)
        let value = JSONText.object(["holder": .string(settings.name), "session": .string(session)])
        let last = EtcdGateway.Step.read(key: settings.lastHolderKey)
        let answer = try await gateway.transaction(
            if: [.created(key: settings.holderKey, 0)],
            then: [
                last, .put(key: settings.holderKey, value: value.text, lease: lease.id),
                .put(key: settings.turnKey, value: ""),
            ],
            else: [.read(key: settings.holderKey)])
        guard answer.succeeded else {
            if let holder = answer.read.first { note(holder: holder) }
            try await gateway.revoke(lease.id)
            return nil
        }
        let held = LeaseState.Held(
            id: lease.id, revision: answer.revision, deadline: deadline(from: began, lease.ttl), turn: answer.revision)
        state.withLock { $0.acquire(held) }
        log.notice("acquired the lease", metadata: ["key": "\(settings.key)", "revision": "\(held.revision)"])
        changed()
        let own = QueueMark(database: database, cluster: answer.cluster, revision: held.revision)
        return (held.revision, Last(former: answer.read.first.map { QueueMark($0.value) }, own: own))
    }

    private func renew(_ held: LeaseState.Held) async throws(StandbyError) {
        guard valid != nil else { return lose(held.revision, because: "it could not be renewed in time") }
        let began = monotonic()
        let ttl = try await gateway.keepAlive(held.id)
        guard ttl > .zero else { return lose(held.revision, because: "etcd does not have it any more") }
        let deadline = deadline(from: began, ttl)
        let isRenewed = state.withLock { $0.renew(held.revision, until: deadline, at: monotonic()) }
        if !isRenewed { lose(held.revision, because: "its renewal was answered too late") }
    }

    /// etcd may grant a longer lease than was asked for.
    private func deadline(from began: Duration, _ ttl: Duration) -> Duration {
        began + min(ttl, settings.ttl) - settings.margin
    }

    func lose(_ revision: Int64, because reason: String) {
        guard state.withLock({ $0.lose(revision, because: reason) }) else { return }
        log.warning("lost the lease; changes wait, reading goes on", metadata: ["error": "\(reason)"])
        changed()
    }

    /// Gives the lease back, so that another daemon need not wait for its end. Call it when nothing is being pushed.
    package func release() async {
        guard let held = state.withLock({ $0.held }) else { return }
        state.withLock { $0 = LeaseState() }
        try? await gateway.revoke(held.id)
    }

    // MARK: Taking over

    private func keepPreparing(_ revision: Int64, _ prepare: @Sendable () async throws -> Void) async {
        let end = monotonic() + settings.ttl
        while !Task.isCancelled, valid?.revision == revision {
            do {
                try await prepare()
                prepared(revision)
                return changed()
            } catch {
                note(setback: "what the former holder left could not be taken over: \(Self.message(error))")
                if monotonic() >= end, !Task.isCancelled { return await giveUp(revision) }
            }
            try? await clock.sleep(for: .seconds(1))
        }
    }

    private static func message(_ error: any Error) -> String { (error as? StandbyError)?.message ?? "\(error)" }

    func prepared(_ revision: Int64) { state.withLock { $0.prepared(revision) } }

    /// Logs the first failure, and another one that follows it.
    private func note(setback reason: String) {
        guard state.withLock({ $0.note(setback: reason) }) else { return }
        log.warning("this daemon has the lease and cannot take over; trying again", metadata: ["error": "\(reason)"])
        changed()
    }

    private func giveUp(_ revision: Int64) async {
        let now = monotonic()
        guard let given = state.withLock({ $0.giveUp(revision, ttl: settings.ttl, at: now) }) else { return }
        log.warning(
            "gave the lease up, so that another daemon can take over",
            metadata: ["error": "\(given.reason)", "pause": "\(given.pause.components.seconds) s"])
        changed()
        try? await gateway.revoke(given.id)
    }

    // MARK: Notes

    private func note(holder: EtcdEntry) {
        if state.withLock({ $0.note(holder: holder.name) }) {
            log.notice("another daemon holds the lease", metadata: ["holder": "\(holder.name)"])
            changed()
        }
    }

    /// Logs the first of consecutive failures.
    private func note(_ error: String) {
        if state.withLock({ $0.note(error: error) }) {
            log.warning("the lease could not be asked for or renewed; trying again", metadata: ["error": "\(error)"])
            changed()
        }
    }
}

extension EtcdEntry {
    private var json: JSONText? { try? JSONText(parsing: value) }
    /// Any program that may write to etcd may have chosen it.
    var name: String { json?["holder"]?.string?.cut(toBytes: 200) ?? "unknown" }
    fileprivate var session: String? { json?["session"]?.string }
}
