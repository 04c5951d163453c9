import EntitySchema
import JSONText
import SchemaDraft
import SyncEngine
import Upstream

/// Reads up to three pages of one entity's list, and more if its last page has a token. Reports where records, total and next
/// page were found.
struct ListProbe {
    let entity: Entity
    let pull: PullPlan
    /// What the schema calls it.
    var key = "pull"
    /// From when it is asked for; nil for everything.
    var since: String?
    let upstream: HTTPUpstream
    let transport: WatchedTransport
    let now: Timestamp

    func report() async -> ProbeReport {
        let page: Page
        do {
            page = try await upstream.page(request())
        } catch {
            return ProbeReport(failure(error), of: error)
        }
        page.share?.release()
        let answer = transport.lastBody ?? .null
        let records = page.records.elements
        guard !records.isEmpty else { return ProbeReport(findings: [empty(answer)]) }
        let more = [
            displaced(answer), total(page, answer), unfollowed(page), changeTimes(records),
            await nextPage(after: page, records), await changes(records), await delta(after: page, records),
        ]
        return ProbeReport(findings: [.ok(entity.name, summary(page))] + more.compactMap(\.self), records: records)
    }

    func request(at position: String? = nil, since: String? = nil) -> PageRequest {
        pull.request(of: entity.name, at: position, since: since ?? self.since)
    }

    var styleAdvice: String { "correct pagination: its style is \"\(pull.list.style.word)\"" }

    private var call: String { "\(pull.call?.method ?? "GET") \(pull.path)" }

    private func failure(_ error: UpstreamError) -> Finding {
        // Most messages name the call.
        let message = error.message.hasPrefix(call) ? error.message : "\(call): \(error.message)"
        return .error(entity.name, message, advice(on: error))
    }

    private func advice(on error: UpstreamError) -> String {
        switch error {
        case .malformed:
            let answer = transport.lastBody
            if answer.flatMap(pull.list.found)?.kind == .array {
                return "correct pagination, pull.since or base_url, whichever it names"
            }
            return lists(in: answer) ?? members(in: answer) ?? emptyAdvice(error) ?? "correct \(key).path or base_url"
        case .unauthorized: return "correct the token, or auth.send in the schema"
        case .gone: return "correct \(key).path"
        case .barred:
            return "ask the upstream whether this account may read it; else correct \(key).path, \(key).query or the "
                + "token"
        case .offline: return "check upstream.base_url, the network and DNS; else try again later"
        case .held, .throttled: return "try again later"
        case .unclear: return "try again later; if it keeps failing, correct \(key).path or \(key).query"
        default: return "correct \(key).path, \(key).query or the token"
        }
    }

    /// Where else the answer has lists.
    private func lists(in answer: JSONText?) -> String? {
        answer.flatMap { PlaceSearch($0).adviceOnRecords(under: key) }
    }

    /// The place of records that are the members of an object.
    private func members(in answer: JSONText?) -> String? {
        let place = answer.flatMap { answer in
            (pull.list.lone?.key).flatMap { pull.list.records.membersWithKey($0, in: answer) }
        }
        return place.map { "set \(key).records: \($0 == "*" ? #""*""# : $0)" }
    }

    /// What to do about an answer that leaves out a list without records; nil if it is another one.
    func emptyAdvice(_ error: UpstreamError) -> String? {
        guard case .malformed = error, let answer = transport.lastBody else { return nil }
        let hasNothing = answer.kind == .array ? answer.elements.isEmpty : answer.members.isEmpty
        let isBare = hasNothing && [.object, .array].contains(answer.kind)
        let place: String? = isBare ? "{}" : pull.list.records.outer(in: answer)
        return place.map { "set \(key).empty: \($0), if there are none" }
    }

    private func empty(_ answer: JSONText) -> Finding {
        let message = "\(call): no records at \(pull.list.records.description)"
        let other = lists(in: answer)
        // Nothing may have changed for so long.
        if since != nil, other == nil { return .ok(entity.name, message) }
        let advice = other ?? "nothing if there are none; else check what the token may see, and \(key).query"
        return .warning(entity.name, message, advice)
    }

    /// A member of the records' own that one from another place displaces.
    private func displaced(_ answer: JSONText) -> Finding? {
        guard let lift = pull.list.lift, let rows = pull.list.records.list(in: answer)?.elements else { return nil }
        let member = lift.members.first { member in rows.contains { $0[member.name] != nil } }
        return member.map { member in
            .warning(
                entity.name, "the records have a member \(member.name) of their own, which is not cached",
                "give the field another name, if that member is of use")
        }
    }

    private func summary(_ page: Page) -> String {
        let total = page.total.map { ", \($0) in all (\(pull.list.totalPlace ?? ""))" } ?? ""
        let next = page.next == nil ? ", no next page" : ", a next page (\(pull.list.nextPlace))"
        return
            "\(call): \(page.count.counted("record", "records")) at \(pull.list.records.description)\(total)\(next)"
    }

    private func total(_ page: Page, _ answer: JSONText) -> Finding? {
        guard page.total == nil else { return nil }
        let found =
            PlaceSearch(answer).totals(of: page.count).first.map { ($0.place, $0.value.text) }
            ?? transport.last.flatMap { PlaceSearch.total(of: page.count, in: $0) }
        // One that has no pages is complete, and may have inherited the place.
        if found == nil, case .single = pull.list.style { return nil }
        if let place = pull.list.totalPlace {
            return .warning(
                entity.name, "no total at \(place)",
                found.map { "set pagination.total: \($0.0), which is \($0.1)" } ?? "remove pagination.total")
        }
        guard let (place, value) = found else { return nil }
        // Where more pages follow, it counts the records of this one.
        guard page.next == nil || Int(value) != page.count else { return nil }
        return .warning(
            entity.name, "\(place) may be the total: it is \(value)",
            """
            set pagination.total: \(place), so that a list that moves while it is read is noticed; nothing if it counts the \
            records of one page
            """)
    }

    private func unfollowed(_ page: Page) -> Finding? {
        guard page.next == nil else { return nil }
        if let place = page.unfollowed {
            let isKnown = pull.list.more?.paths.contains(place) ?? false
            return .error(
                entity.name, "there are more pages (\(place)) than pagination finds",
                isKnown ? "correct pagination.next, where nothing was found" : ListPlan.Style.advice(on: place))
        }
        if let total = page.total, total > page.count {
            return .error(
                entity.name, "the list has \(total) records, and only \(page.count) can be read",
                styleAdvice)
        }
        return ListDoubt.reason(pull.list, pages: 1, records: page.count, last: page).map { reason in
            .warning(
                entity.name, "the list may be cut: \(reason)",
                "set pagination, or pagination.total if the answer has the length of the list; nothing if it is whole")
        }
    }

    private func changeTimes(_ records: [JSONText]) -> Finding? {
        guard let field = pull.changedAt else { return nil }
        let times = records.compactMap(entity.changeTime)
        guard !times.isEmpty else {
            if records.allSatisfy({ $0[field]?.kind == .null }) {
                return .warning(
                    entity.name, "\(field), the change time, is null in each of \(records.count) records",
                    "nothing if it is set when one changes, and new ones are listed too; else use mode: full")
            }
            let names = Set(records.flatMap { $0.members.map(\.key) }).filter(Self.isNameOfChangeTime)
                .subtracting([field]).sorted()
            if names.isEmpty, records.contains(where: { entity.value(of: field, in: $0)?.string != nil }) {
                return .error(
                    entity.name, "\(field), the change time, has texts in a form that is not read as a time",
                    "set mode: full; docs/schema/pull.md has the forms under changed_at")
            }
            return .error(
                entity.name, "no record has a time at \(field), its change time",
                names.isEmpty
                    ? "set mode: full, if records have no change time" : "set it to \(names.joined(separator: " or "))")
        }
        guard pull.mode == .newestFirst, pull.changes == nil, times != times.sorted(by: >) else { return nil }
        return .error(
            entity.name, "the list is not sorted by \(field), newest first",
            "correct \(key).query, which must sort it, or use mode: full")
    }

    private static func isNameOfChangeTime(_ name: String) -> Bool {
        let name = Words.folded(name)
        return ["updated", "modified", "changed"].contains { name.contains($0) }
    }
}
