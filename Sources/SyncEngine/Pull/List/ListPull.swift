internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Reads an entity's list once. Writes pages, each with the cursor, while it fetches the next ones; those that wait when
/// a write ends share the next transaction.
struct ListPull {
    private let puller: Puller
    private let entity: Entity
    private let plan: PullPlan
    private var progress: Progress
    private var reader: PageReader
    private let stopwatch: Stopwatch
    /// Resumes an interrupted pull.
    private var isResumed: Bool
    private let children: [ChildReader]
    private var unknown: UnknownReader
    private var list: ListReading { reader.list }
    private var summary: PullSummary { progress.summary }
    private var cursor: PullCursor {
        get { progress.cursor }
        set { progress.cursor = newValue }
    }
    /// A second pass succeeds even if the reported total differs from the number of records served.
    private let isSecond: Bool
    /// An earlier part of this pull, or its first pass, brought something new.
    private let wroteBefore: Bool
    /// A full pull was requested, or the window needs one.
    private let isFullNeeded: Bool
    /// The cache has all that the window includes, but for what changed.
    private let isNarrower: Bool

    /// `first` is the summary of the first pass, for a second one.
    init(_ puller: Puller, _ entity: Entity, _ plan: PullPlan, full: Bool, after first: PullSummary? = nil) throws {
        (self.puller, self.entity, self.plan) = (puller, entity, plan)
        var cursor = try puller.store.cursor(of: entity.name)
        cursor.forgetFuture(after: puller.serverNow())
        let window = try puller.store.windowDefinition(of: entity)
        let change = try puller.store.windowChange(of: entity, since: cursor.window, at: puller.upstreamTime)
        // Records of another window have no new change times, nor have those that time brings.
        let full = full || change == .other || plan.window?.opensWithTime ?? false
        var pull = PullStart(plan: plan, cursor: cursor, full: full, window: window, until: change.until).pull
        pull.wentBack = pull.wentBack || first?.wentBack ?? false
        isNarrower = change == .narrowed
        progress = Progress(cursor: cursor, pull: pull)
        reader = PageReader(puller, entity, plan, from: pull)
        unknown = UnknownReader(puller, entity, plan)
        isFullNeeded = full
        isResumed = pull.position != nil
        stopwatch = Stopwatch(puller.clock)
        isSecond = first != nil
        wroteBefore = first?.wrote ?? (cursor.pull != nil)
        children = plan.details.filter(\.isInList).map { puller.childReader(entity, $0) }
        progress.rows = try puller.store.rowCount(of: entity.name)
        progress.tombstones = puller.deletionGuard.tombstones(of: entity.name, rows: progress.rows)
    }

    private var pull: PullInProgress { progress.pull }

    var pullsEverything: Bool { pull.kind == .everything }

    /// It brings what a wider window adds, and not what has changed.
    var widens: Bool { pull.kind == .widening }

    /// False if the part before an interruption is not known. If the cache was empty before, every record is new.
    var isWhole: Bool { !isResumed || pull.began != nil }

    private var countsAsFull: Bool { pullsEverything && isWhole }

    mutating func run() async throws -> PullSummary {
        do {
            try await pullPages()
        } catch let endless as PageReader.Endless {
            try await forget()
            throw endless.reason
        }
        let end = ListEnd(of: list, progress, isWhole: isWhole, isSecond: isSecond)
        cursor.listGap = end.noted
        if end.hasGap, !isSecond {
            try await forget()
        } else {
            try await finish(end)
        }
        progress.summary.hasGap = end.hasGap
        return summary
    }

    // MARK: Pages

    private mutating func pullPages() async throws {
        guard let first = try await first() else { return }
        if pull.kind == .newest { return try await pullNewest(first) }
        var fetched = PageReader.Pages(pages: [first])
        while !fetched.pages.isEmpty {
            let isWriting = Published(true)
            async let ahead = reader.ahead(while: isWriting)
            defer { isWriting.value = false }
            try await write(fetched.pages)
            isWriting.value = false
            (fetched, reader) = await ahead
        }
        guard let failure = fetched.failure else { return }
        // Pages without news were not stored, and a pull that is always interrupted must reach the end of its list all the same.
        if pull.position != nil {
            cursor.pull = pull
            try await puller.store.setCursor(of: entity.name, to: cursor)
        }
        throw failure
    }

    /// Each page decides whether the next one is needed.
    private mutating func pullNewest(_ first: FetchedPage) async throws {
        var fetched: FetchedPage? = first
        while let page = fetched {
            guard let outcome = try await write([page]), !knowsTheRest(after: outcome) else { return }
            try await reader.giveWay()
            fetched = try await reader.read()
        }
    }

    /// The first page of the rest of an interrupted pull, or else of the whole list. A position is dropped, once, if the upstream
    /// refuses it, or shows nothing after it: the record that it names may be deleted. A scroll has moved past unwritten pages.
    private mutating func first() async throws -> FetchedPage? {
        if isResumed, !reader.plan.list.isScroll {
            do {
                progress.seen = pull.began.map { SeenRecords(knownUpTo: 0, position: $0) }
                let page = try await reader.read()
                if let page, page.page.count > 0 || page.after.position != nil { return page }
            } catch let error as UpstreamError where error.refuses(plan.deltaToken) || refusesPosition(error) {}
        }
        try begin(pull)
        do {
            return try await reader.read()
        } catch let error as UpstreamError where pull.kind == .delta && error.refuses(plan.deltaToken) {
            try begin(PullInProgress(kind: .everything, window: pull.window))
            return try await reader.read()
        } catch let error as UpstreamError where pull.kind == .delta && cursor.error != nil {
            // Once may be an outage.
            throw error.suspectingToken
        }
    }

    /// A page that the upstream fails to serve does not make it serve all pages before it again each time.
    private func refusesPosition(_ error: UpstreamError) -> Bool {
        let isOld = pull.started.map { puller.now().since($0) >= .seconds(3600) } ?? true
        return error.refusesPosition(of: reader.plan.list, again: cursor.error != nil && isOld)
    }

    /// Starts at the first page.
    private mutating func begin(_ pull: PullInProgress) throws {
        isResumed = false
        progress.seen = nil
        progress.pull = PullInProgress(
            kind: pull.kind, list: plan.list(of: pull.kind), since: pull.since, delta: pull.delta, until: pull.until,
            started: puller.now(), window: pull.window, wentBack: pull.wentBack)
        if pull.showsEachOnce {
            let nothing = try puller.store.startDeletionSweep(of: entity.name, window: window(moved: .seconds(-300)))
            progress.seen = nothing
            if nothing.knownUpTo == 0 { progress.pull.began = nothing.position }
        }
        reader = PageReader(puller, entity, plan, from: progress.pull)
    }

    /// Returns the outcome of the last page.
    @discardableResult
    private mutating func write(_ fetched: [FetchedPage]) async throws -> PageOutcome? {
        if pull.kind == .delta { try await unknown.read(of: fetched) }
        var pages: [PulledPage] = []
        for page in fetched { pages.append(self.page(page)) }
        var last: PageOutcome?
        var written = 0
        while written < pages.count {
            let step = try await puller.store.apply(
                Array(pages[written...]), continuing: progress, at: puller.now(), before: { $0.prepare(&$1) },
                after: { $0.include($1, $2) })
            progress = step.progress
            written += step.outcomes.count
            last = step.outcomes.last
        }
        for page in fetched { page.page.share?.release() }
        try progress.requireNews(of: plan.path)
        if progress.outside > 0 { try await puller.store.noteWindowTime(puller.upstreamTime, of: entity) }
        await puller.progress(fetched.last?.after.seen ?? 0, list.total)
        return last
    }

    private mutating func page(_ fetched: FetchedPage) -> PulledPage {
        var page = PulledPage(
            entity: entity.name, records: fetched.page.records, position: fetched.position,
            cursor: fetched.after.position == nil ? nil : cursor,
            // What another window brings is not late.
            watermark: plan.mode == .full || cursor.window != pull.window ? nil : cursor.watermark)
        for reader in children {
            let (families, problem) = reader.embedded(in: fetched.page.records)
            page.children += reader.pulled(
                families,
                deletes: puller.deletionGuard.confirmed.contains(reader.detail.entity) ? .all : .none)
            progress.summary.note(families, problem, reader.part(of: families), of: reader.detail.entity)
        }
        page.isDelta = pull.kind == .delta
        page.isOfEverything = pullsEverything
        page.serverNow = puller.latestChange
        page.next = fetched.after.position
        page.seen = fetched.after.seen
        return page
    }

    /// Whether a newest-first pull can stop: at the first page without news that reaches below the watermark of
    /// finished pulls. Above the watermark, pages without news prove nothing: they may hold our own acknowledged
    /// changes with others' between them, records of an interrupted pull, and rows that were committed late. Nor does one
    /// that is not by change time, newest first.
    private func knowsTheRest(after outcome: PageOutcome) -> Bool {
        guard !outcome.changed, !outcome.rises, outcome.records > outcome.setAside else { return false }
        // What is pinned to the top of a list may be old.
        guard let covered = plan.covered(by: cursor), let ending = outcome.endingChange else { return false }
        return ending < covered
    }

    // MARK: The end

    /// Makes the next pull begin at the first page.
    private mutating func forget() async throws {
        guard cursor.pull != nil || cursor.listGap != nil || pull.wentBack, pull.kind != .newest else { return }
        cursor.pull = nil
        try await puller.store.setCursor(of: entity.name, to: cursor)
    }

    private mutating func finish(_ end: ListEnd) async throws {
        moveWatermark(end)
        keepToken(end)
        if !countsAsFull, !end.isUsualGap { progress.summary.delay = end.lack }
        cursor.pull = nil
        cursor.lastSyncedAt = puller.now()
        cursor.error = nil
        let childrenAreOpen = try await resolveChildren(end)
        if countsAsFull {
            if isRemembered { cursor.lastFullAt = puller.now() }
            cursor.window = pull.window
            cursor.total = plan.window == nil ? nil : list.total ?? pull.seen
            try await resolveUnseen(end)
        } else if widens ? isWhole : isNarrower {
            cursor.window = pull.window
        }
        if childrenAreOpen || (wroteBefore || summary.wrote) && end.mayBeCut { cursor.lastFullAt = nil }
        if !countsAsFull, let doubt = end.doubtOfChanges { try await puller.noteList(doubt, of: entity.name) }
        try await resolveTombstones()
        try await puller.store.setCursor(of: entity.name, to: cursor)
        if countsAsFull { try await puller.judge.learn(of: entity) }
    }

    /// True when the next pull has to read all parents again.
    private mutating func resolveChildren(_ end: ListEnd) async throws -> Bool {
        var isOpen = false
        for detail in children.map(\.detail) {
            try await puller.noteParts(summary, of: detail, entity, isFull: countsAsFull)
            let missing = summary.children[detail.entity]?.missing ?? [:]
            let outcome = try await puller.resolve(missing, of: entity, detail, isFull: countsAsFull && !end.hasGap)
            progress.summary.children[detail.entity, default: ChildOutcome()].deleted += outcome.deleted
            isOpen = isOpen || outcome.isOpen
        }
        return isOpen
    }

    /// Whether the end of a full pull is stored. If every pull is full, it is not: by the schema's mode, or until a
    /// list that was empty brings a first record. Nor is the end of one that was interrupted, if records may have slid past the
    /// interruption: the next sync reads everything again.
    private var isRemembered: Bool {
        guard plan.mode != .full, !(isResumed && plan.list.mayCount) else { return false }
        return isFullNeeded || cursor.lastFullAt == nil || wroteBefore || summary.wrote
    }

    /// Moves the watermark to the latest change minus the duration of the pull: what changed meanwhile may be on pages
    /// already read. Minus an hour, too, if the list counts more than it shows. A pull that brought nothing new writes nothing,
    /// except that a long newest-first pull saves the next one the pages that this one knew. Nothing moves while a record may
    /// have slid past the pages, nor after a full pull from a server that is behind: it is before what that took back.
    private mutating func moveWatermark(_ end: ListEnd) {
        let wentFar = pull.kind == .newest && list.pages > 1
        guard !end.mayLack, isWhole, !widens, !pull.wentBack || cursor.watermark == nil,
            wroteBefore || summary.wrote || cursor.watermark == nil || wentFar,
            let latest = pull.latest.flatMap(Timestamp.init(iso8601:)), puller.isPlausible(latest)
        else { return }
        // Only the time of day survives from an earlier process; it may have been set meanwhile.
        let since = isResumed ? pull.started.map { puller.now().since($0) } : nil
        let late = end.isShort ? Duration.seconds(3600) : .zero
        let reached = latest - max(stopwatch.duration, since ?? .zero) - late
        cursor.watermark = max(cursor.watermark ?? "", reached.description)
    }

    /// Keeps what the last page says to ask with next time. Like the watermark, it stays as it is while a record may have
    /// been missed.
    private mutating func keepToken(_ end: ListEnd) {
        guard let token = plan.deltaToken, isWhole, !end.mayLack else { return }
        if let delta = reader.delta {
            cursor.delta = delta
        } else if pullsEverything, pull.seen > 0 {
            progress.summary.problem = """
                the last page of \(plan.path) has nothing at \(token.place.description), or more than 8 KiB, so each pull reads \
                the whole list; correct pull.since in the schema
                """
        }
    }

    // MARK: What seems to be gone

    /// The entity's window, a little before or after now: how late the upstream's own may be is not known.
    private func window(moved: Duration) throws -> RecordTest? {
        try puller.store.window(of: entity, at: puller.upstreamTime + moved)
    }

    /// Whether no record of the whole list has a member that the window tests. Then the window says nothing about them: the
    /// cached ones stay, and the reason is returned in words.
    private func noteUntested() async throws -> String? {
        guard let window = plan.window, !isResumed else { return nil }
        let hidden = pull.seen > 0 ? window.test.missing(from: progress.shown).sorted() : []
        try await puller.store.setUntested(hidden, of: entity.name)
        guard !hidden.isEmpty else { return nil }
        return """
            none of its records has \(hidden.joined(separator: ", ")), which pull.where tests; cached ones stay, and \
            \(progress.outside.grouped) others were left out; correct where, or make the list show it (from, query), then run sync --full
            """
    }

    private mutating func resolveUnseen(_ end: ListEnd) async throws {
        let untested = try await noteUntested()
        let reported = list.cut ?? (end.isUsualGap ? end.gap?.words : end.shuffled) ?? untested
        if reported != nil || !end.isUnstable { try await puller.noteList(reported, of: entity.name) }
        cursor.heldDeletions = 0
        cursor.held = reported.map { "the list of \(entity.name) is not believed: \($0)" }
        guard var seen = progress.seen, seen.knownUpTo > 0 else { return }
        seen.limit(to: try window(moved: .seconds(300)))
        let sweep = UnseenSweep(
            puller: puller, entity: entity, seen: seen, listed: pull.seen, doubt: end.doubt,
            answered: (pull.started ?? puller.now()) - (list.age ?? .zero),
            isConfirmed: puller.deletionGuard.confirmed.contains(entity.name) && !end.isUnstable)
        let outcome = try await sweep.run()
        progress.summary.deleted += outcome.deleted
        if outcome.isOpen { cursor.lastFullAt = nil }
        hold(outcome.held, outcome.reason)
    }

    /// Tombstones beyond the guard are believed once each record was asked for by its key.
    private mutating func resolveTombstones() async throws {
        let tombstones = HeldTombstones(puller: puller, entity: entity, keys: summary.heldTombstones.sorted())
        let (deleted, left) = try await tombstones.resolve()
        progress.summary.deleted += deleted
        hold(left, tombstones.words(left))
    }

    private mutating func hold(_ count: Int, _ reason: String?) {
        guard count > 0 else { return }
        // What changed has the same marks at each pull.
        cursor.heldDeletions = countsAsFull ? cursor.heldDeletions + count : max(cursor.heldDeletions, count)
        cursor.held = reason
        progress.summary.held += count
        progress.summary.heldReason = reason
    }
}
