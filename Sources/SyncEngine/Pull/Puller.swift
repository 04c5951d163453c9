internal import CacheStore
internal import EntitySchema
internal import SQLiteStore
internal import Upstream

/// Pulls one entity, with a second pass over its list if the first may have missed records.
struct Puller: Sendable {
    let store: CacheStore
    let upstream: any Upstream
    /// Measures how long a pull takes.
    let clock: any Clock<Duration>
    let now: @Sendable () -> Timestamp
    let schema: EntitySchema
    /// The server's time as far as it was measured; nil if it never was.
    var serverNow: @Sendable () -> Timestamp? = { nil }
    /// That of the disk with the cache; nil if it is unknown.
    var space: @Sendable () -> DiskSpace? = { nil }
    let deletionGuard: DeletionGuard
    /// Nil for a list that others need not wait for.
    var turn: ListTurn?
    /// Waits if the upstream asks for it in the middle of a list; false if the list has to be left.
    var waitsOut: @Sendable (UpstreamError, _ entity: String) async throws -> Bool = { _, _ in false }
    /// Called after each page with the records seen so far and the upstream's total.
    let progress: @Sendable (_ seen: Int, _ total: Int?) async -> Void

    var judge: AbsenceJudge {
        AbsenceJudge(store: store, upstream: upstream, now: now, upstreamTime: { upstreamTime })
    }

    /// The server's time, or this machine's while that was never measured.
    var upstreamTime: Timestamp { serverNow() ?? now() }

    /// The latest that a change can be: the server's clock is measured to the second. Nil if it never was.
    var latestChange: Timestamp? { serverNow().map { $0 + .seconds(1) } }

    /// Whether a change time is not in the future, as far as is known.
    func isPlausible(_ time: Timestamp) -> Bool { latestChange.map { time <= $0 } ?? true }

    /// Resumes an interrupted pull; `full` pulls everything, regardless of the watermark.
    func pull(_ entity: Entity, full: Bool) async throws -> PullSummary {
        guard let plan = entity.pull else { return PullSummary() }
        guard let list = entity.tombstones else { return try await pull(entity, plan, full: full) }
        let tombstones = TombstonePull(puller: self, entity: entity, list: list, full: full)
        try await store.adoptDeletions(list.definition, of: entity.name, cursor: TombstonePull.cursor(of: entity))
        // Without its time, a deletion must be applied before a record that was created again since comes.
        guard list.at == nil else {
            try await tombstones.begin()
            var summary = try await pull(entity, plan, full: full)
            summary.add(try await tombstones.runOrDelay())
            return summary
        }
        let hadDoubt = try tombstones.hasDoubt()
        let outcome = try await tombstones.runOrDelay()
        var summary = try await pull(entity, plan, full: full)
        if outcome.delay != nil, !hadDoubt, !summary.wrote { try await tombstones.forgetDoubt() }
        summary.add(outcome)
        return summary
    }

    private func pull(_ entity: Entity, _ plan: PullPlan, full: Bool) async throws -> PullSummary {
        try await store.adoptList(plan.definition, of: entity.name)
        if let tokens = plan.tokenDefinition { try await store.adoptTokens(tokens, of: entity.name) }
        try await store.takeBackWindowTime(of: entity, at: upstreamTime)
        let (added, widened) = try await passes(entity, plan, full: full)
        guard widened else { return added }
        var (summary, _) = try await passes(entity, plan, full: false)
        summary.add(added)
        return summary
    }

    /// `widened`: only what a wider window adds was read, and not yet what has changed.
    private func passes(
        _ entity: Entity, _ plan: PullPlan, full: Bool
    ) async throws -> (summary: PullSummary, widened: Bool) {
        var first = try ListPull(self, entity, plan, full: full)
        let summary = try await first.run()
        guard summary.hasGap || !first.isWhole else { return (summary, first.widens) }
        // Only an uninterrupted pull finds deletions, and records that slid over a page's edge.
        var second = try ListPull(self, entity, plan, full: full || first.pullsEverything, after: summary)
        return (try await second.run(), second.widens)
    }

    /// Throws `CacheError.unwritable` when the disk has no room for more records: a list without end would take what local
    /// changes need.
    func fetch(_ entity: String, _ plan: PullPlan, _ pull: PullInProgress) async throws -> FetchedPage {
        if let space = space(), space.isLow {
            throw CacheError.unwritable(
                "no more records are read, because the disk has only \(space.free >> 20) MiB free, which are kept for your own "
                    + "changes; free some space, or see whether the list of \(entity) ends")
        }
        // A change acknowledged after this point is newer than the page.
        let position = try store.position()
        var request = plan.request(
            of: entity, at: pull.position, since: pull.since, delta: pull.delta, until: pull.until)
        // The same for all pages, so that a list that it limits does not move under them.
        if plan.call != nil, let started = pull.started {
            request.values.now = started + (serverNow()?.since(now()) ?? .zero)
        }
        return FetchedPage(page: try await upstream.page(request), position: position, after: pull)
    }

    /// Notes as drift why the list is not believed.
    func noteList(_ problem: String?, of entity: String) async throws {
        try await store.noteList(problem, of: entity, at: now())
    }

    /// Stores how many records are kept although they seem to be gone, and why.
    func noteHeld(_ count: Int, _ reason: String?, of entity: String) async throws {
        try await store.changeCursor(of: entity) { ($0.heldDeletions, $0.held) = (count, reason) }
    }
}

extension CacheStore {
    /// Changes the entity's cursor. Writes nothing if that makes no difference.
    func changeCursor(of entity: String, _ change: (inout PullCursor) -> Void) async throws {
        let before = try cursor(of: entity)
        var changed = before
        change(&changed)
        if changed != before { try await setCursor(of: entity, to: changed) }
    }
}

/// A page of a list, and its place in the pull.
struct FetchedPage: Sendable {
    var page: Page
    /// The position of the change log when it was requested.
    var position: Int64
    /// The pull once the page is written; until `PageReader` has counted the page, the pull before it.
    var after: PullInProgress
}

/// What a pull did.
struct PullSummary: Equatable {
    var seen = 0
    var written = 0
    var deleted = 0
    var setAside = 0
    /// Of these, those that may be any record, since they have no usable key.
    var nameless = 0
    /// Records that seem deleted upstream but are kept, and why; also why the list is not believed.
    var held = 0
    var heldReason: String?
    /// Keys of records that the upstream marks as deleted, more than the guard allows.
    var heldTombstones: Set<String> = []
    /// The list changed while it was read: some records may not have been on any page.
    var hasGap = false
    /// What is wrong with the list as a whole, although its records could be used.
    var problem: String?
    /// Why changes are delayed, or deletions, although what the lists showed is here.
    var delay: String?
    /// By the children's entity.
    var children: [String: ChildOutcome] = [:]
    /// The problem of the first record whose children could not be read.
    var childProblem: String?
    /// By the children's entity: which record embeds only a part of them.
    var parts: [String: String] = [:]
    /// The same → the longest lists of them.
    var longest: [String: LongestLists] = [:]
    /// As `PullInProgress.wentBack`.
    var wentBack = false

    mutating func add(_ outcome: PageOutcome) {
        seen += outcome.records
        written += outcome.written
        deleted += outcome.deleted
        setAside += outcome.setAside
        nameless += outcome.nameless
        for (entity, outcome) in outcome.children { children[entity, default: ChildOutcome()] += outcome }
        heldTombstones.formUnion(outcome.heldTombstones)
    }

    mutating func note(
        _ families: [ChildReader.Family], _ problem: String? = nil, _ part: String? = nil, of children: String
    ) {
        childProblem = childProblem ?? problem
        parts[children] = parts[children] ?? part
        for family in families { longest[children, default: LongestLists()].note(family) }
    }

    mutating func add(_ outcome: TombstonePull.Outcome) {
        deleted += outcome.deleted
        held += outcome.held
        heldReason = outcome.reason ?? heldReason
        delay = delay ?? outcome.delay
    }

    /// What came before it in the same pull.
    mutating func add(_ part: PullSummary) {
        seen += part.seen
        written += part.written
        deleted += part.deleted
        setAside += part.setAside
        nameless += part.nameless
        for (entity, outcome) in part.children { children[entity, default: ChildOutcome()] += outcome }
        childProblem = childProblem ?? part.childProblem
    }

    var wrote: Bool { written + deleted > 0 || children.values.contains { $0.changed } }
}
