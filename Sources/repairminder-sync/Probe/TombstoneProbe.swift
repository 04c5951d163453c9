import EntitySchema
import JSONText
import Upstream

/// Reads the first page of an entity's list of deletions, and says where entries, keys and times were found.
struct TombstoneProbe {
    let entity: Entity
    let list: TombstoneList
    let upstream: HTTPUpstream
    let transport: WatchedTransport
    let now: Timestamp

    private var call: String { "\(list.plan.call?.method ?? "GET") \(list.plan.path)" }

    func report() async -> ProbeReport {
        let page: Page
        do {
            let since = list.plan.isSince ? (now - UpstreamProbe.span).description : nil
            page = try await upstream.page(list.plan.request(of: entity.name, since: since, now: now))
        } catch {
            return ProbeReport(failure(error), of: error)
        }
        let entries = page.records.elements.filter(list.isDeletion)
        guard !entries.isEmpty else { return ProbeReport(findings: [empty]) }
        let found = Finding.ok(
            entity.name,
            "\(call): \(entries.count.counted("deletion", "deletions")) at \(list.plan.list.records.description)")
        let amiss = [unfollowed(page), keys(entries), times(entries)].compactMap(\.self)
        return ProbeReport(findings: [found] + amiss)
    }

    private func failure(_ error: UpstreamError) -> Finding {
        var advice = "correct pull.deleted"
        if case .malformed = error { advice = otherList ?? advice }
        return .error(entity.name, "\(call): \(error.message)", advice)
    }

    /// An upstream may have deleted nothing.
    private var empty: Finding {
        let message = "\(call): no deletions at \(list.plan.list.records.description)"
        return otherList.map { .warning(entity.name, message, $0) } ?? .ok(entity.name, message)
    }

    private var otherList: String? {
        transport.lastBody.flatMap { PlaceSearch($0).adviceOnRecords(under: "pull.deleted") }
    }

    private func unfollowed(_ page: Page) -> Finding? {
        page.unfollowed.map { place in
            .error(
                entity.name, "there are more pages of deletions (\(place)) than pagination finds",
                "in pull.deleted, \(ListPlan.Style.advice(on: place))")
        }
    }

    private func keys(_ entries: [JSONText]) -> Finding? {
        let lacking = entries.filter { (list.key.value(in: $0)?.plain ?? "").isEmpty }
        guard let first = lacking.first else { return nil }
        let other = PlaceSearch(first).places(like: entity.key).first
        return .error(
            entity.name, "\(lacking.count) of \(entries.count) deletions have no key at \(list.key.description)",
            "set pull.deleted.key" + (other.map { ": \($0)" } ?? " to the place of the deleted record's key"))
    }

    private func times(_ entries: [JSONText]) -> Finding? {
        guard let at = list.at, let changedAt = entity.pull?.changedAt else { return nil }
        let lacking = entries.filter { entry in
            at.value(in: entry).flatMap { entity.changeTime(of: .object([changedAt: $0])) } == nil
        }
        guard !lacking.isEmpty else { return nil }
        return .error(
            entity.name, "\(lacking.count) of \(entries.count) deletions have no time at \(at.description)",
            "set pull.deleted.at to the place of the time of the deletion")
    }
}
