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
    private var pull: PullInProgress
    private var trail = PageTrail()
    private var summary = PullSummary()
    private let stopwatch: Stopwatch
    /// Goes on where an earlier run was cut off.
    private var isResumed: Bool
    /// Nil where nobody can say, and for a pull by newest first, in which nothing can slide past the pages.
    private var seen: SeenRecords?
    private let children: ChildReader?
    private var childAllowance = 0
    private var total: Int?
    /// The upstream told another total than a page before.
    private var totalMoved = false
    private var pages = 0
    /// This is the second go: it ends well even if the upstream told another number of records than it served.
    private let takesGaps: Bool
    /// An earlier part of this pull, or its first go, brought something.
    private let wroteBefore: Bool
    /// Everything was asked for, whatever is known.
    private let isDue: Bool

    /// `first`: what this is the second go of.
    init(_ puller: Puller, _ entity: Entity, _ plan: PullPlan, full: Bool, after first: PullSummary? = nil) throws {
        self.puller = puller
        self.entity = entity
        self.plan = plan
        cursor = try puller.store.cursor(of: entity.name)
        pull = PullStart(plan: plan, cursor: cursor, full: full).pull
        isDue = full
        isResumed = pull.position != nil
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

    /// Nobody remembers what the part before a cut has seen. Where there was nothing before, every record must be new.
    var isWhole: Bool { !isResumed || pull.began != nil }

    private var countsAsFull: Bool { pullsEverything && isWhole }

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
                seen = pull.began.map { SeenRecords(knownUpTo: 0, position: $0) }
                return try await puller.fetch(entity.name, plan, pull)
            } catch let error as UpstreamError where error.refusesPosition {}
        }
        isResumed = false
        pull = PullInProgress(kind: pull.kind, since: pull.since, started: puller.now())
        if pull.kind != .newest {
            let nothing = try puller.store.startDeletionSweep(of: entity.name)
            seen = nothing
            if nothing.knownUpTo == 0 { pull.began = nothing.position }
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
        pages += 1
        if let total, let now = fetched.page.total, total != now { totalMoved = true }
        total = fetched.page.total
    }

    private var following: PullInProgress? { pull.position == nil ? nil : pull }

    @discardableResult
    private mutating func write(_ fetched: FetchedPage) async throws -> PageOutcome {
        if following != nil {
            cursor.pull = pull
            // Newest first always begins with the newest.
            if pull.kind == .newest { cursor.pull?.position = nil }
        }
        var page = PulledPage(
            entity: entity.name, records: fetched.page.records.text, position: fetched.position,
            cursor: following == nil ? nil : cursor, watermark: plan.mode == .full ? nil : cursor.watermark)
        if let seen {
            page.knownUpTo = seen.knownUpTo > 0 ? seen.knownUpTo : nil
            page.began = seen.position
        }
        if let children {
            let (families, problem) = children.embedded(in: fetched.page.records)
            page.children = children.pulled(families, allowance: childAllowance)
            summary.childProblem = summary.childProblem ?? problem
        }
        let outcome = try await puller.store.apply(page, at: puller.now())
        seen?.insert(outcome)
        childAllowance -= childAllowance == .max ? 0 : outcome.children.deleted
        pull.include(outcome)
        cursor = cursor.including(outcome)
        summary.add(outcome)
        await puller.progress(pull.seen, total)
        return outcome
    }

    /// A page by newest first that brings nothing new is followed only by pages that bring nothing new, once it comes down
    /// to what finished pulls have settled: above that are our own acknowledged changes, with others' between them, what a
    /// pull brought before it was cut off, and rows that are committed late.
    private func knowsTheRest(after outcome: PageOutcome) -> Bool {
        guard !outcome.changed, outcome.records > outcome.setAside else { return false }
        guard let settled = plan.settled(cursor), let earliest = outcome.earliestChange else { return false }
        return earliest < settled
    }

    // MARK: The end

    private var hasGap: Bool {
        guard isWhole, pull.position == nil else { return false }
        return hasMoved || total.map { $0 != pull.seen } ?? false
    }

    /// Somebody changed a record while the pull was under way, and another one may have slid past its pages.
    private var hasMoved: Bool { seen?.hasMoved ?? false || totalMoved && pull.kind != .newest }

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
            if isRemembered { cursor.lastFullAt = puller.now() }
            if !hasGap { try await deleteUnseen() }
        }
        try await puller.store.setCursor(of: entity.name, to: cursor)
        if let detail = children?.detail {
            try await puller.noteHeld(summary.children.held, of: detail.entity, isFull: countsAsFull)
        }
    }

    /// Where every pull is a full one there is nothing to remember: by the schema's will, or until a list that was empty
    /// brings a record to begin at.
    private var isRemembered: Bool {
        plan.mode != .full && (isDue || cursor.lastFullAt == nil || wroteBefore || summary.wrote)
    }

    /// What changed while the pull was under way may be behind its pages, so that long is left for the next. Where a pull
    /// brought nothing new there is nothing to move on to, and nothing is written; but the next one by newest first need
    /// not go through pages again that this one knew. What slid past the pages is still to come.
    private mutating func moveWatermark() {
        let wentFar = pull.kind == .newest && pages > 1
        guard !hasMoved, isWhole, wroteBefore || summary.wrote || cursor.watermark == nil || wentFar,
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
