import EntitySchema
import JSONText
import SyncEngine
import Upstream

/// Reads up to three pages of one entity's list, and more if its last page has a token. Reports where records, total and next
/// page were found.
struct ListProbe {
    let entity: Entity
    let pull: PullPlan
    let upstream: HTTPUpstream
    let transport: WatchedTransport
    let now: Timestamp

    struct Report {
        var findings: [Finding]
        /// Those of the first page.
        var records: [JSONText] = []
        /// What failed concerns the upstream or the token, and not this list.
        var concernsAll = false
    }

    func report() async -> Report {
        let page: Page
        do {
            page = try await upstream.page(request())
        } catch {
            return Report(findings: [failure(error)], concernsAll: Self.concernsAll(error))
        }
        page.share?.release()
        let answer = transport.lastBody ?? .null
        let records = page.records.elements
        guard !records.isEmpty else { return Report(findings: [empty(answer)]) }
        var findings = [Finding.ok(entity.name, summary(page))]
        findings += [displaced(answer), total(page, answer), unfollowed(page), changeTimes(records)].compactMap(\.self)
        findings += await nextPage(after: page, records)
        findings += await changes(records)
        findings += await delta(after: page, records)
        return Report(findings: findings, records: records)
    }

    private func request(at position: String? = nil, since: String? = nil) -> PageRequest {
        pull.request(of: entity.name, at: position, since: since)
    }

    private var call: String { "\(pull.call?.method ?? "GET") \(pull.path)" }

    // MARK: The first page

    private func failure(_ error: UpstreamError) -> Finding {
        let message = "\(call): \(error.message)"
        switch error {
        case .malformed:
            let hasList = transport.lastBody.map { pull.list.found(in: $0)?.kind == .array } ?? false
            if hasList {
                return .error(entity.name, message, "correct pagination, pull.since or base_url, whichever it names")
            }
            let advice = lists(in: transport.lastBody) ?? members(in: transport.lastBody) ?? emptyAdvice(error)
            return .error(entity.name, message, advice ?? "correct pull.path or base_url")
        case .unauthorized: return .error(entity.name, message, "correct the token, or auth.send in the schema")
        case .gone: return .error(entity.name, message, "correct pull.path")
        case .offline, .held, .throttled: return .error(entity.name, message, "try again later")
        default: return .error(entity.name, message, "correct pull.path, pull.query or the token")
        }
    }

    static func concernsAll(_ error: UpstreamError) -> Bool {
        switch error {
        case .offline, .held, .throttled, .unauthorized, .cancelled, .unclear(nil, _): true
        case .unclear, .barred, .changed, .gone, .refused, .malformed: false
        }
    }

    /// Where else the answer has lists.
    private func lists(in answer: JSONText?) -> String? {
        answer.flatMap { PlaceSearch($0).adviceOnRecords(under: "pull") }
    }

    /// The place of records that are the members of an object.
    private func members(in answer: JSONText?) -> String? {
        let place = answer.flatMap { answer in
            (pull.list.lone?.key).flatMap { pull.list.records.membersWithKey($0, in: answer) }
        }
        return place.map { "set pull.records: \($0 == "*" ? #""*""# : $0)" }
    }

    /// What to do about an answer that leaves out a list without records; nil if it is another one.
    private func emptyAdvice(_ error: UpstreamError) -> String? {
        guard case .malformed = error, let answer = transport.lastBody else { return nil }
        let isBare = answer.kind == .object && answer.members.isEmpty
        let place: String? = isBare ? "{}" : pull.list.records.outer(in: answer)
        return place.map { "set pull.empty: \($0), if there are none" }
    }

    private func empty(_ answer: JSONText) -> Finding {
        let advice = lists(in: answer) ?? "nothing if there are none; else check what the token may see, and pull.query"
        return .warning(entity.name, "\(call): no records at \(pull.list.records.description)", advice)
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
                isKnown ? "correct pagination.next, where nothing was found" : Self.style(for: place))
        }
        if let total = page.total, total > page.count {
            return .error(
                entity.name, "the list has \(total) records, and only \(page.count) can be read",
                "correct pagination: its style is \"\(pull.list.style.word)\"")
        }
        return ListDoubt.reason(pull.list, pages: 1, records: page.count, last: page).map { reason in
            .warning(
                entity.name, "the list may be cut: \(reason)",
                "set pagination, or pagination.total if the answer has the length of the list; nothing if it is whole")
        }
    }

    static func style(for place: String) -> String {
        let name = PlaceSearch.folded(place)
        if place.hasPrefix("Link") { return "set pagination: { style: link }" }
        if name.hasSuffix("more") { return "set pagination.more: \(place)" }
        let last = place.split(separator: ".").last.map(String.init) ?? place
        if ["after", "offset"].contains(last) {
            return "set pagination: { style: cursor, cursor: \(last), next: \(place) }"
        }
        if name.contains("cursor") || name.contains("token") {
            return "set pagination: { style: cursor, cursor: NAME, next: \(place) }"
        }
        return "set pagination: { style: next_url, next: \(place) } if that is an address, else style: cursor"
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
            let names = Set(records.flatMap { $0.members.map(\.key) }).filter(Self.isNameOfChangeTime).sorted()
            return .error(
                entity.name, "no record has a time at \(field), its change time",
                names.isEmpty
                    ? "set mode: full, if records have no change time" : "set it to \(names.joined(separator: " or "))")
        }
        guard pull.mode == .newestFirst, times != times.sorted(by: >) else { return nil }
        return .error(
            entity.name, "the list is not sorted by \(field), newest first",
            "correct pull.query, which must sort it, or use mode: full")
    }

    private static func isNameOfChangeTime(_ name: String) -> Bool {
        let name = PlaceSearch.folded(name)
        return ["updated", "modified", "changed"].contains { name.contains($0) }
    }

    // MARK: More requests

    private func nextPage(after page: Page, _ records: [JSONText]) async -> [Finding] {
        guard let next = page.next else { return [] }
        let second: Page
        do {
            second = try await upstream.page(request(at: next))
        } catch {
            return [
                .error(
                    entity.name, "the next page cannot be read: \(error.message)",
                    emptyAdvice(error) ?? "correct pagination")
            ]
        }
        let known = Set(records.compactMap { $0[entity.key]?.plain })
        let again = second.records.elements.filter { known.contains($0[entity.key]?.plain ?? "") }.count
        if again > 0, again == second.count {
            return [
                .error(
                    entity.name,
                    "the second page has the records of the first: the upstream does not know the parameter",
                    "correct pagination: its style is \"\(pull.list.style.word)\"")
            ]
        }
        guard pull.list.size != nil, page.count < pull.list.pageSize else { return [] }
        return [
            .warning(
                entity.name,
                "the upstream gives \(page.count) records a page, and \(pull.list.pageSize) were asked for",
                "set pagination.page_size: \(page.count), or correct pagination.size")
        ]
    }

    /// Whether the upstream returns only what changed.
    private func changes(_ records: [JSONText]) async -> [Finding] {
        guard case .since(let parameter, let overlap) = pull.mode else { return [] }
        let item = parameter.item(now.description)
        let asked = parameter.isInTemplate ? "since \(item.value)" : "\(item.name)=\(item.value)"
        let page: Page
        do {
            page = try await upstream.page(request(since: now.description))
        } catch {
            if let advice = emptyAdvice(error) { return [.error(entity.name, "\(asked): \(error.message)", advice)] }
            return [
                .error(
                    entity.name, "\(asked) is not accepted: \(error.message)",
                    formatAdvice(records).map { "try \($0), or correct pull.since" }
                        ?? "correct pull.since, or its format")
            ]
        }
        let early = page.records.elements.compactMap(entity.changeTime).filter {
            now.since($0) > overlap + .seconds(86_400)
        }
        guard !early.isEmpty else {
            return [
                .ok(entity.name, "\(asked): \(page.count.counted("record", "records")) changed since")
            ]
        }
        return [
            .error(
                entity.name,
                "\(asked) also gives \(early.count.counted("record", "records")) that changed before",
                "correct pull.since.param, which the upstream seems not to know, or use mode: full"
                    + (formatAdvice(records).map { "; or try \($0)" } ?? ""))
        ]
    }

    /// How the records have their change time, if requests have it otherwise: most upstreams take what they give.
    private func formatAdvice(_ records: [JSONText]) -> String? {
        guard case .since(let parameter, _) = pull.mode, let field = pull.changedAt,
            let text = records.lazy.compactMap({ entity.value(of: field, in: $0)?.string }).first,
            let time = Timestamp(iso8601: text), parameter.format.text(time) != text,
            let pattern = TimePattern(like: text)
        else { return nil }
        return "pull.since.format: \"\(pattern.source)\", as the records have it"
    }

    /// Whether the upstream takes the token that it gives out. Of several pages only the last has one.
    private func delta(after page: Page, _ records: [JSONText]) async -> [Finding] {
        guard let place = pull.deltaToken?.place.description else { return [] }
        guard let last = await lastPage(after: page) else {
            return [
                .ok(
                    entity.name,
                    "the token at \(place) was not tried: only the last page has it, and the list has too many")
            ]
        }
        guard let delta = last.delta else { return [noToken(at: place)] }
        let changed: Page
        do {
            changed = try await upstream.page(pull.request(of: entity.name, delta: delta))
        } catch {
            return [
                .error(
                    entity.name, "the token at \(place) is not accepted: \(error.message)",
                    "correct how pull.since sends it")
            ]
        }
        let keys = { (records: [JSONText]) in Set(records.compactMap { $0[entity.key]?.plain }) }
        guard !keys(records).isEmpty, keys(changed.records.elements).isSuperset(of: keys(records)) else {
            let count = changed.count.counted("record", "records")
            return [.ok(entity.name, "with the token at \(place): \(count) changed since")]
        }
        return [
            .error(
                entity.name, "with the token at \(place), the list has all its records again",
                "correct pull.since.param, which the upstream seems not to know, or use mode: full")
        ]
    }

    /// Nil if it is too far, or cannot be read, which `nextPage` reports.
    private func lastPage(after page: Page) async -> Page? {
        var last = page
        for _ in 1..<Self.mostPages {
            guard let next = last.next else { return last }
            guard let page = try? await upstream.page(request(at: next)) else { return nil }
            page.share?.release()
            let passing = last.passingDelta
            last = page
            // As in a pull, an empty last page need not have a token.
            if page.next == nil, page.count == 0 { last.delta = page.delta ?? passing }
        }
        return last.next == nil ? last : nil
    }

    /// Of a list whose last page has a token.
    private static let mostPages = 20

    private func noToken(at place: String) -> Finding {
        let other = transport.lastBody.flatMap { PlaceSearch($0).places(like: place).first }
        return .error(
            entity.name, "the list has no token at \(place)",
            other.map { "set it to \($0) in pull.since" } ?? "correct pull.since, or use mode: full")
    }
}

extension ListPlan {
    /// Where the schema has the length of the list.
    fileprivate var totalPlace: String? { total?.description ?? totalHeader.map { "{ header: \($0) }" } }

    /// What says that there is another page.
    fileprivate var nextPlace: String {
        if let more { return more.description }
        switch style {
        case .page(_, let pages?): return pages.description
        case .page, .offset, .lastRecord: return totalPlace ?? "the page is full"
        case .cursor(_, let next), .nextURL(let next): return next.description
        case .link: return "Link"
        case .header(let name, _), .headerURL(let name): return name
        case .single: return ""
        }
    }
}

extension ListPlan.Style {
    /// As a schema names it.
    var word: String {
        switch self {
        case .page: "page"
        case .offset: "offset"
        case .cursor, .lastRecord: "cursor"
        case .link: "link"
        case .header, .headerURL: "header"
        case .nextURL: "next_url"
        case .single: "single"
        }
    }
}
