internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Goes through an entity's list once: each page written in one transaction with the cursor, the next fetched meanwhile.
struct ListPull {
    private let puller: Puller
    private let entity: Entity
    private let plan: PullPlan
    private var cursor: PullCursor
    private var pull: PullUnderWay
    private var trail = PageTrail()
    private var summary = PullSummary()
    private let stopwatch: Stopwatch
    /// Goes on where an earlier run was cut off.
    private var isResumed: Bool
    /// A pull by newest first was cut off before; it had come down to `cutOffAt`.
    private let wasCutOff: Bool
    private let cutOffAt: String?
    /// Nil unless this is a pull of everything from its first page.
    private var seen: SeenRecords?
    private let children: ChildReader?
    private var childAllowance = 0
    private var total: Int?
    /// This is the second go: it ends well even if the upstream told another number of records than it served.
    private let takesGaps: Bool
    /// An earlier part of this pull, or its first go, brought something.
    private let wroteBefore: Bool

    /// `first`: what this is the second go of.
    init(_ puller: Puller, _ entity: Entity, _ plan: PullPlan, full: Bool, after first: PullSummary? = nil) throws {
        self.puller = puller
        self.entity = entity
        self.plan = plan
        cursor = try puller.store.cursor(of: entity.name)
        pull = PullStart(plan: plan, cursor: cursor, full: full).pull
        isResumed = pull.position != nil
        wasCutOff = pull.kind == .newest && cursor.pull != nil
        cutOffAt = pull.reached
        stopwatch = Stopwatch(puller.clock)
        takesGaps = first != nil
        wroteBefore = first?.wrote ?? (cursor.pull != nil)
        children = plan.detail.flatMap { $0.path == nil ? ChildReader(parent: entity, detail: $0) : nil }
        if let detail = children?.detail {
            let rows = try puller.store.rowCounts()[detail.entity] ?? 0
            childAllowance = puller.deletionGuard.allowance(of: detail.entity, rows: rows)
        }
    }

    var pullsEverything: Bool { pull.kind == .everything }

    /// Nobody remembers what the part before the cut has seen. Where there was nothing before, nothing can be gone.
    var countsAsFull: Bool { pullsEverything && (!isResumed || pull.known == 0) }

    mutating func run() async throws -> PullSummary {
        var fetched = try await first()
        while let current = fetched {
            try await admit(current)
            if pull.kind == .newest {
                let outcome = try await write(current)
                fetched = knowsTheRest(after: outcome) ? nil : try await puller.fetch(entity.name, plan, following)
            } else {
                async let next = puller.fetch(entity.name, plan, following)
                try await write(current)
                fetched = try await next
            }
        }
        if hasGap, !takesGaps {
            try await forget()
        } else {
            try await finish()
        }
        summary.hasGap = hasGap
        return summary
    }

    // MARK: Pages

    /// A position that the upstream does not take any more is given up, once.
    private mutating func first() async throws -> FetchedPage? {
        if isResumed {
            do {
                return try await puller.fetch(entity.name, plan, pull)
            } catch let error as UpstreamError where error.refusesPosition {}
        }
        isResumed = false
        pull = PullUnderWay(kind: pull.kind, since: pull.since, started: puller.now(), reached: pull.reached)
        if pull.kind == .everything {
            let nothing = try puller.store.nothingSeen(of: entity.name)
            seen = nothing
            pull.known = nothing.knownUpTo
        }
        return try await puller.fetch(entity.name, plan, pull)
    }

    /// Makes sure that the list gets on, and moves on to what follows.
    private mutating func admit(_ fetched: FetchedPage) async throws {
        do {
            try trail.add(fetched.page, of: plan.path, askedAt: fetched.askedAt)
        } catch {
            try await forget()
            throw error
        }
        pull.position = fetched.page.next
        pull.seen += fetched.page.count
        total = fetched.page.total
    }

    private var following: PullUnderWay? { pull.position == nil ? nil : pull }

    @discardableResult
    private mutating func write(_ fetched: FetchedPage) async throws -> PageOutcome {
        if following != nil {
            cursor.pull = pull
            // Newest first always begins with the newest.
            if pull.kind == .newest { cursor.pull?.position = nil }
        }
        var page = PulledPage(
            entity: entity.name, records: fetched.page.records.text, position: fetched.position,
            cursor: following == nil ? nil : cursor, watermark: plan.isSince ? cursor.watermark : nil)
        if let seen, seen.knownUpTo > 0 { page.knownUpTo = seen.knownUpTo }
        if let children {
            let (families, problem) = children.embedded(in: fetched.page.records)
            page.children = children.pulled(families, allowance: childAllowance)
            summary.childProblem = summary.childProblem ?? problem
        }
        let outcome = try await puller.store.apply(page, at: puller.now())
        if page.knownUpTo != nil { seen?.insert(outcome) }
        childAllowance -= childAllowance == .max ? 0 : outcome.children.deleted
        pull.include(outcome)
        cursor = cursor.including(outcome)
        summary.add(outcome)
        await puller.progress(pull.seen, total)
        return outcome
    }

    /// A page by newest first that brings nothing new is followed only by pages that bring nothing new, unless an earlier
    /// pull was cut off: then what it did not reach comes after what it reached.
    private func knowsTheRest(after outcome: PageOutcome) -> Bool {
        guard !outcome.changed, outcome.records > outcome.setAside else { return false }
        guard wasCutOff else { return true }
        guard let cutOffAt, let latest = outcome.latestChange else { return false }
        return latest < cutOffAt
    }

    // MARK: The end

    private var hasGap: Bool {
        guard !isResumed, pull.position == nil, let total else { return false }
        return total != pull.seen
    }

    /// The next pull begins at the first page again.
    private mutating func forget() async throws {
        guard cursor.pull != nil, pull.kind != .newest else { return }
        cursor.pull = nil
        try await puller.store.setCursor(of: entity.name, to: cursor)
    }

    private mutating func finish() async throws {
        moveWatermark()
        cursor.pull = nil
        cursor.lastSyncedAt = puller.now()
        cursor.error = nil
        if countsAsFull {
            // Where every pull is a full one there is nothing to remember.
            if plan.mode != .full { cursor.lastFullAt = puller.now() }
            if !hasGap { try await deleteUnseen() }
        }
        try await puller.store.setCursor(of: entity.name, to: cursor)
        if let detail = children?.detail {
            try await puller.noteHeld(summary.children.held, of: detail.entity, isFull: countsAsFull)
        }
    }

    /// What changed while the pull was under way may be behind its pages, so that long is left for the next. Where a pull
    /// brought nothing new there is nothing to move on to, and nothing is written.
    private mutating func moveWatermark() {
        guard wroteBefore || summary.wrote || cursor.watermark == nil,
            let latest = pull.latest.flatMap(Timestamp.init(iso8601:))
        else { return }
        // The time of day is all that is left of an earlier process; it may have been set meanwhile.
        let since = isResumed ? pull.started.map { puller.now().since($0) } : nil
        let reached = latest - max(stopwatch.duration, since ?? .zero)
        cursor.watermark = max(cursor.watermark ?? "", reached.description)
    }

    private mutating func deleteUnseen() async throws {
        cursor.heldDeletions = 0
        guard let seen, seen.knownUpTo > 0 else { return }
        let store = puller.store
        let count = try store.countUnseen(of: entity.name, seen)
        let rows = try store.rowCounts()[entity.name] ?? 0
        guard count <= puller.deletionGuard.allowance(of: entity.name, rows: rows) else {
            cursor.heldDeletions = count
            summary.held = count
            return
        }
        summary.deleted += try await store.deleteUnseen(of: entity.name, seen, at: puller.now())
    }
}

extension UpstreamError {
    /// True for answers that an upstream gives to a page it does not know any more.
    fileprivate var refusesPosition: Bool {
        switch self {
        case .refused, .gone, .malformed: true
        case .offline, .unclear, .throttled, .unauthorized, .changed, .held, .cancelled: false
        }
    }
}
