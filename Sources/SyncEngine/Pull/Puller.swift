internal import CacheStore
internal import EntitySchema
internal import Upstream

/// Pulls one entity, going through its list once more where once did not do.
struct Puller: Sendable {
    let store: CacheStore
    let upstream: any Upstream
    /// Measures how long a pull takes.
    let clock: any Clock<Duration>
    let now: @Sendable () -> Timestamp
    let deletionGuard: DeletionGuard
    /// Called after each page with the records seen so far and the upstream's total.
    let progress: @Sendable (_ seen: Int, _ total: Int?) async -> Void

    /// Goes on where a pull was cut off; `full` asks for everything, whatever the watermark.
    func pull(_ entity: Entity, full: Bool) async throws -> PullSummary {
        guard let plan = entity.pull else { return PullSummary() }
        var first = try ListPull(self, entity, plan, full: full)
        let summary = try await first.run()
        guard summary.hasGap || !first.isWhole else { return summary }
        // What slid over a page's edge, or what is gone, takes a pull in one piece to find.
        var second = try ListPull(self, entity, plan, full: full || first.pullsEverything, after: summary)
        return try await second.run()
    }

    /// Nil stands for the page after the last.
    func fetch(_ entity: String, _ plan: PullPlan, _ pull: PullUnderWay?) async throws -> FetchedPage? {
        guard let pull else { return nil }
        // What is acknowledged after this point is newer than what the page will say of it.
        let position = try store.position()
        var request = PageRequest(
            entity: entity, path: plan.path, query: plan.query, list: plan.list, position: pull.position)
        if case .since(let parameter, _) = plan.mode {
            request.since = pull.since.map { QueryItem(name: parameter, value: $0) }
        }
        return FetchedPage(page: try await upstream.page(request), askedAt: pull.position, position: position)
    }

    /// Nothing is held of what a full pull found in order.
    func noteHeld(_ held: Int, of entity: String, isFull: Bool) async throws {
        var cursor = try store.cursor(of: entity)
        guard held > 0 || isFull, cursor.heldDeletions != held else { return }
        cursor.heldDeletions = held
        try await store.setCursor(of: entity, to: cursor)
    }
}

struct FetchedPage: Sendable {
    var page: Page
    /// The position that it was asked for with.
    var askedAt: String?
    /// Where the change log stood when it was asked for.
    var position: Int64
}

/// What a pull did.
struct PullSummary: Equatable {
    var seen = 0
    var written = 0
    var deleted = 0
    var setAside = 0
    /// Gone upstream as it seems, but kept, since there were more of them than the guard allows.
    var held = 0
    /// The list moved under the pages: some of its records may not have been on any of them.
    var hasGap = false
    var children = ChildOutcome()
    /// What was wrong with the first record whose children could not be read.
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

/// How many records a pull may delete because it did not see them: an upstream that suddenly shows only half of what it
/// has is more likely broken than right.
struct DeletionGuard: Equatable {
    /// Of an entity's records, 0 to 1.
    var share: Double
    /// Entities for which a person has confirmed whatever it is.
    var confirmed: Set<String> = []

    /// Nine may always go, so that small lists need no confirmation.
    func allowance(of entity: String, rows: Int) -> Int {
        guard !confirmed.contains(entity) else { return .max }
        return max(9, Int(share * Double(rows)))
    }
}
