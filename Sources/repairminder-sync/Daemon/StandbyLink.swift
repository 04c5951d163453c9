import CacheStore
import EntitySchema
import LocalAPIServer
import Logging
import SQLiteStore
import Standby
import SyncEngine
import Upstream

/// What a daemon does that shares its account with a standby: competes for the lease, and keeps its queue in etcd as well if
/// that is configured.
struct StandbyLink: Sendable {
    let lease: Lease
    let store: CacheStore
    let now: @Sendable () -> Timestamp
    let log: Logger
    /// Nil without `standby.sync`.
    private let queue: QueueStore?

    /// When this daemon last stored its whole queue in etcd.
    private static let markSetting = "standby_mark"
    /// Between two attempts to bring etcd up to date.
    private static let wait = Duration.seconds(1)

    init(_ lease: Lease, _ store: CacheStore, now: @escaping @Sendable () -> Timestamp, log: Logger) {
        self.lease = lease
        self.store = store
        self.now = now
        self.log = log
        guard lease.settings.isSync else {
            queue = nil
            return
        }
        queue = QueueStore(lease) { position in
            QueueStore.News(try store.standbyNews(since: position))
        } tooLarge: { entry in
            log.error(
                "a queued change is too large for etcd; it is only on this machine", metadata: ["change": "\(entry.id)"]
            )
        }
    }

    /// Changes go through it only while the lease is held.
    func fenced(_ upstream: any Upstream) -> any Upstream {
        FencedUpstream(upstream, lease: lease) { [queue] () throws(StandbyError) in try await queue?.store() }
    }

    /// Competes for the lease until the task is cancelled. What waits is sent as soon as it is held.
    func run(_ engine: SyncEngine) async {
        // A full disk ends some time; until then this daemon had better not hold the lease.
        while (try? await noteMode()) == nil, !Task.isCancelled { try? await TimerClock().sleep(for: Self.wait) }
        await withDiscardingTaskGroup { group in
            group.addTask { await keepStoring() }
            await lease.run(prepare: { try await prepare($0) }, began: { engine.noteLocalWrite() })
            group.cancelAll()
        }
    }

    /// Gives the lease back. Call it when nothing is pushed any more.
    func release() async {
        // The calling task may be cancelled, and etcd must still hear of it.
        await Task { await lease.release() }.value
    }

    // MARK: The queue in etcd

    /// What was queued before `standby.sync` was set stays, whatever another daemon has done meanwhile.
    private func noteMode() async throws {
        if queue == nil { try await store.endSharing() } else { try await store.beginSharing() }
    }

    /// For a daemon that stands alone: what it takes from now on stays here if it shares an account again.
    static func noteAlone(_ store: CacheStore, _ log: Logger) async {
        do {
            try await store.endSharing()
        } catch {
            log.warning(
                "it could not be noted that this daemon stands alone; restart it before you set standby.etcd again",
                metadata: ["error": "\(error)"])
        }
    }

    private func prepare(_ last: Lease.Last) async throws {
        guard let queue else { return }
        var last = last
        last.own.account = try store.account()
        let known = try store.setting(Self.markSetting).map(QueueMark.init)
        let mark = try await queue.prepare(last, known: known) { texts, origin in
            guard origin != .own else {
                let count = try await store.takeBack(texts, at: now())
                if count > 0 { log.notice("took its own changes back", metadata: ["changes": "\(count)"]) }
                return
            }
            try await store.takeOver(texts, keepsAll: origin == .none, at: now())
            log.notice("took over the queue", metadata: ["changes": "\(texts.count)"])
        }
        try await store.setSetting(Self.markSetting, to: mark.text)
        try await store.noteShared()
    }

    /// Removes from etcd what has left the queue, after each commit.
    private func keepStoring() async {
        guard let queue else { return }
        while !Task.isCancelled, !store.signal.isClosed {
            let commits = store.signal.commits
            if lease.mayPush {
                do {
                    try await queue.store()
                } catch {
                    // The lease reports that etcd does not answer; a write is answered accordingly.
                    try? await TimerClock().sleep(for: Self.wait)
                    continue
                }
            }
            await store.signal.wait(after: commits)
        }
    }

    // MARK: Hooks and reminders

    /// How far the holder is with hooks and reminders, in etcd.
    var deliveries: DeliveryTurn.Shared {
        DeliveryTurn.Shared(
            load: { [lease] in try await lease.deliveries().map(DeliveryMarks.init) ?? DeliveryMarks() },
            save: { [lease] in try await lease.store(deliveries: $0.text) })
    }

    // MARK: For the API

    var part: StandbyPart {
        StandbyPart(
            isSync: queue != nil, standing: { [lease] in StandbyPart.Standing(lease.standing) },
            isFull: { [queue] in queue?.isFull ?? false },
            store: { [queue] in
                do throws(StandbyError) {
                    try await queue?.store()
                    return nil
                } catch {
                    return error.message
                }
            })
    }
}

extension StandbyPart.Standing {
    /// A daemon takes no writes before it has taken over.
    fileprivate init(_ standing: Lease.Standing) {
        guard standing.holdsLease, !standing.isReady else {
            self.init(
                holdsLease: standing.holdsLease, holder: standing.holder, left: standing.left, error: standing.error)
            return
        }
        self.init(
            holdsLease: false, error: standing.error ?? "what the former holder left is being taken over")
    }
}

extension QueueStore.News {
    fileprivate init(_ news: StandbyNews) {
        self.init(
            position: news.position, isWhole: news.isWhole,
            entries: news.entries.map { QueueStore.Entry(id: $0.id, key: $0.key, text: $0.text) }, gone: news.gone,
            count: news.count)
    }
}
