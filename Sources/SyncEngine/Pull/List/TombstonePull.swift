internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Reads the list of what was deleted upstream (`pull.deleted`), from a watermark or token of its own, and deletes it
/// here, within the guard. The list is read again from the same place while something of it is held.
struct TombstonePull {
    let puller: Puller
    let entity: Entity
    let list: TombstoneList
    /// The pull is a full one.
    let full: Bool

    struct Outcome: Equatable {
        var deleted = 0
        /// Records that are kept although the list names them, and why.
        var held = 0
        var reason: String?
        /// Why deletions are delayed: the list could not be read as a whole.
        var delay: String?
    }

    /// What the pages have led to.
    private struct Progress {
        var deleted = 0
        var held: Set<ExactText> = []
        /// The latest time of a deletion.
        var latest: String?
        /// How many more records may be deleted without asking for them.
        var allowance: Int
        /// How many deletions without times may be believed.
        var mostUndated = 0
    }

    private var store: CacheStore { puller.store }

    /// The list's own cursor; no entity has a colon in its name.
    static func cursor(of entity: Entity) -> String { "\(entity.name):deleted" }

    /// Before each pull of the records and after the first: stores where the list is read from. What was deleted before the
    /// records were first read is not here; what was deleted since is asked for, however often the list fails at first.
    func begin() async throws {
        guard list.plan.isSince else { return }
        let watermark = try store.cursor(of: entity.name).watermark
        try await store.changeCursor(of: Self.cursor(of: entity)) { $0.watermark = $0.watermark ?? watermark }
    }

    /// A list that fails delays its deletions, and no record. Until it is read again, records may come that were created
    /// again after a deletion that it will name.
    func runOrDelay() async throws -> Outcome {
        do {
            return try await run()
        } catch let error as UpstreamError where !error.concernsWholeUpstream {
            try await store.changeCursor(of: Self.cursor(of: entity)) { $0.error = error.message }
            return Outcome(delay: delayed(error.message))
        }
    }

    /// No record has come since the list failed, so none was created again.
    func forgetDoubt() async throws {
        try await store.changeCursor(of: Self.cursor(of: entity)) { $0.error = nil }
    }

    /// Whether records may have come since the list failed.
    func hasDoubt() throws -> Bool { try store.cursor(of: Self.cursor(of: entity)).error != nil }

    func run() async throws -> Outcome {
        try await begin()
        var cursor = try store.cursor(of: Self.cursor(of: entity))
        cursor.forgetFuture(after: puller.serverNow())
        let stopwatch = Stopwatch(puller.clock)
        var pull = PullStart(plan: list.plan, cursor: cursor, full: false).pull
        pull.started = puller.now()
        var reader = PageReader(puller, entity, list.plan, from: pull)
        let isWhole = pull.kind == .everything
        let progress = try await read(
            &reader, isWhole, isRepeat: isWhole || cursor.heldDeletions > 0 || cursor.error != nil)
        let held = HeldTombstones(puller: puller, entity: entity, keys: progress.held.sorted().map(\.text))
        let before = cursor.heldDeletions
        let (deleted, left) = try await resolve(held, progress, before: before)
        let lack = lack(of: reader.list, &cursor)
        if left == 0, lack == nil { move(&cursor, to: progress.latest, reader.delta, after: stopwatch.duration) }
        cursor.heldDeletions = left
        cursor.error = lack
        cursor.lastSyncedAt = puller.now()
        cursor.lastFullAt = cursor.lastFullAt ?? puller.now()
        try await store.setCursor(of: Self.cursor(of: entity), to: cursor)
        if left > 0 || before > 0 {
            try await puller.noteHeld(left, left > 0 ? held.words(left) : nil, of: entity.name)
        }
        return Outcome(
            deleted: progress.deleted + deleted, held: left, reason: left > 0 ? held.words(left) : nil,
            delay: lack.map(delayed))
    }

    /// Why the list may name more deletions when it is read from the same place again; nil if it is whole, or never is.
    private func lack(of reading: ListReading, _ cursor: inout PullCursor) -> String? {
        let gap = ListGap(total: 0, repeated: [], isPartial: reading.partial != nil)?.noted(after: cursor.listGap)
        cursor.listGap = gap?.text
        return gap.map { $0.times < ListGap.enough } == true ? reading.partial : nil
    }

    private func delayed(_ reason: String) -> String {
        "records are up to date, but deletions are delayed: \(list.plan.path) failed: \(reason)"
    }

    /// Returns how many were deleted, and how many are kept.
    private func resolve(
        _ held: HeldTombstones, _ progress: Progress, before: Int
    ) async throws -> (deleted: Int, left: Int) {
        if held.keys.count <= progress.mostUndated { return (try await held.resolveUndated(), 0) }
        // They were asked for before, and nothing is new. What kept them from being decided may have passed by the next full pull.
        let isKnown =
            !full && before > 0 && before == held.keys.count
            && !puller.deletionGuard.confirmed.contains(entity.name)
        return isKnown ? (0, before) : try await held.resolve()
    }

    /// `isWhole`: all of it is asked for. `isRepeat`: it may name deletions that it has named before.
    private func read(_ reader: inout PageReader, _ isWhole: Bool, isRepeat: Bool) async throws -> Progress {
        let rows = try store.rowCount(of: entity.name)
        var progress = Progress(allowance: puller.deletionGuard.tombstones(of: entity.name, rows: rows))
        do {
            let begun = try await first(&reader, isWhole)
            if list.at == nil, progress.allowance < .max {
                // Without their times, it cannot be said which of the records were created again since.
                if !isRepeat, !begun.startsOver { progress.mostUndated = progress.allowance }
                progress.allowance = 0
            }
            var next = begun.page
            while let fetched = next {
                try await apply(fetched, &progress)
                fetched.page.share?.release()
                try await reader.giveWay()
                next = try await reader.read()
            }
        } catch let endless as PageReader.Endless {
            throw endless.reason
        }
        return progress
    }

    /// With a token that is no longer known, or a time that the upstream no longer goes back to, everything is read.
    private func first(
        _ reader: inout PageReader, _ isWhole: Bool
    ) async throws -> (page: FetchedPage?, startsOver: Bool) {
        do {
            return (try await reader.read(), false)
        } catch let error as UpstreamError where !isWhole && error.refuses(list.plan.deltaToken) {
            reader = PageReader(
                puller, entity, list.plan, from: PullInProgress(kind: .everything, started: puller.now()))
            return (try await reader.read(), true)
        }
    }

    private func apply(_ fetched: FetchedPage, _ progress: inout Progress) async throws {
        let entries = fetched.page.records.elements
        let records = entries.filter(list.isDeletion).map(deletion)
        var page = PulledPage(
            entity: entity.name, records: .array(records), position: fetched.position)
        page.deletions = list.at == nil ? .once : .dated
        page.serverNow = puller.latestChange
        page.tombstones = progress.allowance
        let outcome = try await store.apply(page, at: puller.now())
        progress.deleted += outcome.deleted
        progress.held.formUnion(outcome.heldTombstones.exactSet)
        progress.latest = [progress.latest, outcome.latestChange, latest(of: entries)].compactMap(\.self).max()
        progress.allowance -= progress.allowance == .max ? 0 : outcome.deleted
    }

    /// The latest time of the entries that are no deletions, so that they are not read again and again.
    private func latest(of entries: [JSONText]) -> String? {
        guard !list.marks.isEmpty, let at = list.at else { return nil }
        let times = entries.filter { !list.isDeletion($0) }.compactMap { at.value(in: $0).flatMap(entity.instant) }
        return times.filter(puller.isPlausible).max()?.description
    }

    /// An entry of the list as a record of the entity. One without a key is set aside: a member of the key's name is
    /// the entry's own, not the record's.
    private func deletion(_ entry: JSONText) -> JSONText {
        guard let key = list.key.value(in: entry) else { return entry.without(entity.key) }
        var members = [(key: entity.key, value: key)]
        if let changedAt = entity.pull?.changedAt, let at = list.at?.value(in: entry) {
            members.append((changedAt, at))
        }
        return .object(members: members)
    }

    /// As `ListPull` moves the watermark of the records.
    private func move(_ cursor: inout PullCursor, to latest: String?, _ delta: String?, after duration: Duration) {
        cursor.delta = delta ?? cursor.delta
        guard let latest = latest.flatMap(Timestamp.init(iso8601:)), puller.isPlausible(latest) else { return }
        cursor.watermark = max(cursor.watermark ?? "", (latest - duration).description)
    }
}
