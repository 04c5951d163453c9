internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Pulls one entity: all pages, each written in one transaction with its cursor, the next fetched meanwhile.
struct Puller {
    let store: CacheStore
    let upstream: any Upstream
    let now: @Sendable () -> Timestamp
    /// Called after each page with the records seen so far and the upstream's total.
    let progress: @Sendable (_ seen: Int, _ total: Int?) async -> Void

    struct Summary: Equatable {
        var seen = 0
        var written = 0
        var deleted = 0
        var setAside = 0
    }

    /// Goes on where a pull was cut off; `full` asks for everything, whatever the watermark.
    func pull(_ entity: Entity, full: Bool) async throws -> Summary {
        guard let plan = entity.pull else { return Summary() }
        var summary = try await pullList(entity, plan, full: full)
        // The list moved under the pages: what slid over a page's edge is found by going through it once more.
        if let missed = summary.missed, missed > 0 {
            summary = try await pullList(entity, plan, full: full)
        }
        return summary.result
    }

    private func pullList(
        _ entity: Entity, _ plan: PullPlan, full: Bool
    ) async throws -> (result: Summary, missed: Int?) {
        var cursor = try store.cursor(of: entity.name)
        var pull = cursor.pull ?? PullUnderWay(since: full ? nil : since(plan, cursor))
        if full, pull.since != nil { pull = PullUnderWay(since: nil) }
        var summary = Summary()
        let isWhole = pull.position == nil
        var fetched = try await fetch(plan, pull)
        var missed: Int?
        while let (page, position) = fetched {
            pull.position = page.next
            pull.seen += page.count
            let isLast = page.next == nil
            let following = isLast ? nil : pull
            async let next = fetch(plan, following)
            if isLast {
                cursor.pull = nil
                cursor.lastSyncedAt = now()
                // Where every pull is a full one there is nothing to remember.
                if pull.since == nil, plan.isSince { cursor.lastFullAt = now() }
                cursor.error = nil
            } else {
                cursor.pull = pull
            }
            let outcome = try await store.apply(
                PulledPage(
                    entity: entity.name, records: page.records.text, position: position, cursor: cursor,
                    latest: pull.latest),
                at: now())
            pull.latest = outcome.latestChange
            summary.seen += outcome.records
            summary.written += outcome.written
            summary.deleted += outcome.deleted
            summary.setAside += outcome.setAside
            await progress(pull.seen, page.total)
            missed = isWhole ? page.total.map { $0 - pull.seen } : nil
            fetched = try await next
        }
        return (summary, missed)
    }

    /// Nil stands for the page after the last.
    private func fetch(_ plan: PullPlan, _ pull: PullUnderWay?) async throws -> (page: Page, position: Int64)? {
        guard let pull else { return nil }
        // What is acknowledged after this point is newer than what the page will say of it.
        let position = try store.position()
        var request = PageRequest(path: plan.path, query: plan.query, list: plan.list, position: pull.position)
        if case .since(let parameter, _) = plan.mode {
            request.since = pull.since.map { QueryItem(name: parameter, value: $0) }
        }
        return (try await upstream.page(request), position)
    }

    private func since(_ plan: PullPlan, _ cursor: PullCursor) -> String? {
        guard case .since(_, let overlap) = plan.mode,
            let watermark = cursor.watermark.flatMap(Timestamp.init(iso8601:))
        else {
            return nil
        }
        return (watermark - overlap).description
    }
}
