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
    func fetch(_ entity: String, _ plan: PullPlan, _ pull: PullInProgress?) async throws -> FetchedPage? {
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
