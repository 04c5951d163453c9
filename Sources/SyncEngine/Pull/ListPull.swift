internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Reads an entity's list once. Writes each page in one transaction with the cursor while it fetches the next one.
struct ListPull {
    private let puller: Puller
    private let entity: Entity
    private let plan: PullPlan
    private var cursor: PullCursor
    private var pull: PullInProgress
    private var trail = PageTrail()
    private var summary = PullSummary()
    private let stopwatch: Stopwatch
    /// Resumes an interrupted pull.
    private var isResumed: Bool
    /// The records seen so far; nil if that is unknown, and for a newest-first pull, in which no record can slide past
    /// the pages.
    private var seen: SeenRecords?
    private let children: ChildReader?
    private var childAllowance = 0
    private var total: Int?
    /// The upstream reported another total than on an earlier page.
    private var totalMoved = false
    private var pages = 0
    /// True for a second pass: it succeeds even if the reported total differs from the number of records served.
    private let takesGaps: Bool
    /// An earlier part of this pull, or its first pass, brought something new.
    private let wroteBefore: Bool
    /// A full pull was requested.
    private let isDue: Bool

    /// `first` is the summary of the first pass, for a second one.
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

    /// False if the part before an interruption is not known. If the cache was empty before, every record is new.
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

    /// A position that the upstream no longer accepts is dropped, once.
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

    /// Verifies that the list makes progress, and moves on to the next page.
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
            // A newest-first pull always begins with the newest.
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

    /// Whether a newest-first pull can stop: at the first page without news that reaches below the watermark of
    /// finished pulls. Above the watermark, pages without news prove nothing: they may hold our own acknowledged
    /// changes with others' between them, records of an interrupted pull, and rows that were committed late.
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

    /// A record changed while the pull was under way, and another one may have slid past its pages.
    private var hasMoved: Bool { seen?.hasMoved ?? false || totalMoved && pull.kind != .newest }

    /// Makes the next pull begin at the first page.
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

    /// Whether the end of a full pull is stored. If every pull is full, it is not: by the schema's mode, or until a
    /// list that was empty brings a first record.
    private var isRemembered: Bool {
        plan.mode != .full && (isDue || cursor.lastFullAt == nil || wroteBefore || summary.wrote)
    }

    /// Moves the watermark to the latest change minus the duration of the pull: what changed meanwhile may be on pages
    /// already read. A pull that brought nothing new writes nothing, except that a long newest-first pull saves the
    /// next one the pages that this one knew. Nothing moves while a record may have slid past the pages.
    private mutating func moveWatermark() {
        let wentFar = pull.kind == .newest && pages > 1
        guard !hasMoved, isWhole, wroteBefore || summary.wrote || cursor.watermark == nil || wentFar,
            let latest = pull.latest.flatMap(Timestamp.init(iso8601:))
        else { return }
        // Only the time of day survives from an earlier process; it may have been set meanwhile.
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
    /// True for answers of an upstream that no longer knows a page.
    fileprivate var refusesPosition: Bool {
        switch self {
        case .refused, .gone, .malformed: true
        case .offline, .unclear, .throttled, .unauthorized, .changed, .held, .cancelled: false
        }
    }
}
