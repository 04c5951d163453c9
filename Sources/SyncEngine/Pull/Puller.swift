internal import CacheStore
internal import EntitySchema
internal import Upstream

/// Pulls one entity, with a second pass over its list if the first may have missed records.
struct Puller: Sendable {
    let store: CacheStore
    let upstream: any Upstream
    /// Measures how long a pull takes.
    let clock: any Clock<Duration>
    let now: @Sendable () -> Timestamp
    let deletionGuard: DeletionGuard
    /// Called after each page with the records seen so far and the upstream's total.
    let progress: @Sendable (_ seen: Int, _ total: Int?) async -> Void

    /// Resumes an interrupted pull; `full` pulls everything, regardless of the watermark.
    func pull(_ entity: Entity, full: Bool) async throws -> PullSummary {
        guard let plan = entity.pull else { return PullSummary() }
        var first = try ListPull(self, entity, plan, full: full)
        let summary = try await first.run()
        guard summary.hasGap || !first.isWhole else { return summary }
        // Only an uninterrupted pull finds deletions, and records that slid over a page's edge.
        var second = try ListPull(self, entity, plan, full: full || first.pullsEverything, after: summary)
        return try await second.run()
    }

    /// Returns nil after the last page.
    func fetch(_ entity: String, _ plan: PullPlan, _ pull: PullInProgress?) async throws -> FetchedPage? {
        guard let pull else { return nil }
        // A change acknowledged after this point is newer than the page.
        let position = try store.position()
        var request = PageRequest(
            entity: entity, path: plan.path, query: plan.query, list: plan.list, position: pull.position)
        if case .since(let parameter, _) = plan.mode {
            request.since = pull.since.map { QueryItem(name: parameter, value: $0) }
        }
        return FetchedPage(page: try await upstream.page(request), askedAt: pull.position, position: position)
    }

    /// Stores how many deletions the guard held back; a full pull without any resets the number.
    func noteHeld(_ held: Int, of entity: String, isFull: Bool) async throws {
        var cursor = try store.cursor(of: entity)
        guard held > 0 || isFull, cursor.heldDeletions != held else { return }
        cursor.heldDeletions = held
        try await store.setCursor(of: entity, to: cursor)
    }
}

struct FetchedPage: Sendable {
    var page: Page
    /// The position that it was requested with.
    var askedAt: String?
    /// The position of the change log when it was requested.
    var position: Int64
    /// The pull as it is once the page is written.
    var after = PullInProgress(kind: .everything)
}

/// What a pull did.
struct PullSummary: Equatable {
    var seen = 0
    var written = 0
    var deleted = 0
    var setAside = 0
    /// Records that seem deleted upstream but are kept, since they are more than the guard allows.
    var held = 0
    /// The list changed while it was read: some records may not have been on any page.
    var hasGap = false
    var children = ChildOutcome()
    /// The problem of the first record whose children could not be read.
    var childProblem: String?

    mutating func add(_ outcome: PageOutcome) {
        seen += outcome.records
        written += outcome.written
        deleted += outcome.deleted
        setAside += outcome.setAside
        children.written += outcome.children.written
        children.deleted += outcome.children.deleted
        children.held += outcome.children.held
    }

    var wrote: Bool { written + deleted + children.written + children.deleted > 0 }
}

/// Limits how many records a pull may delete because it did not see them: an upstream that suddenly shows half of its
/// records is more likely broken than right.
struct DeletionGuard: Equatable {
    /// Of an entity's records, 0 to 1.
    var share: Double
    /// Entities for which a person has confirmed all deletions.
    var confirmed: Set<String> = []

    /// Nine are always allowed, so that small lists need no confirmation.
    func allowance(of entity: String, rows: Int) -> Int {
        guard !confirmed.contains(entity) else { return .max }
        return max(9, Int(share * Double(rows)))
    }
}
