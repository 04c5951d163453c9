internal import EntitySchema
internal import Upstream

/// What one reading of a list, page by page, says of the list: where its next page is, and whether it may be cut.
struct ListReading: Sendable {
    private let plan: ListPlan
    private var trail: PageTrail
    private var shared: SharedPositions
    /// Where the next page is; nil before the first one and after the last.
    var position: String?
    /// How many records the list has shown up to there.
    var records = 0
    private(set) var pages = 0
    /// Which of the pages with another one behind them came with 206.
    private var parts: [Bool] = []
    /// The list's length, as the last page says it.
    private(set) var total: Int?
    /// A page said another total than the one before.
    private(set) var totalMoved = false
    /// A lower one: records left the list, so that others may have slid past the pages.
    private(set) var totalShrank = false
    /// The greatest age of the pages that a gateway had kept; nil if there was none.
    private(set) var age: Duration?
    /// Why a page says itself that it lacks records; nil if none does.
    private(set) var partial: String?
    /// Why more may come after the last page, as that page says.
    private var ending: String?
    /// Why the list may be cut where it ends, although no page says so; nil if nothing suggests it.
    private(set) var guess: String?
    /// Why it may go on there although it counts as whole; nil if nothing suggests it.
    private(set) var limit: String?

    /// `key`: that of the records. `repeats`: the list may name a record for each of its changes.
    init(_ plan: ListPlan, at path: String, key: String?, repeats: Bool = false) {
        self.plan = plan
        trail = PageTrail(of: plan, at: path, key: repeats ? nil : key)
        shared = SharedPositions(plan, key: key ?? "")
    }

    /// Call it with each page, before the page is used. Throws `.malformed` when the list would never end.
    mutating func add(_ page: Page) throws(UpstreamError) {
        try trail.add(page, askedAt: position)
        shared.add(page)
        (position, pages, records) = (page.next, pages + 1, records + page.count)
        if let total, let now = page.total {
            totalMoved = totalMoved || total != now
            totalShrank = totalShrank || total > now
        }
        if page.count == 0, page.next == nil, page.total == nil, let total, isBeforeEnd(total) {
            partial = partial ?? ListDoubt.words("an empty page before its end")
        }
        total = page.total
        age = [age, page.age].compactMap(\.self).max()
        partial = partial ?? ListDoubt.reason(page)
        guard page.next == nil else { return parts.append(page.isPart) }
        // Where 206 only says that there is another page, all pages have it, except a full one before an empty last page.
        if page.count == 0, parts.last == false { parts.removeLast() }
        if parts.contains(true), parts.contains(false) { partial = partial ?? ListDoubt.words("status 206") }
        ending = ListDoubt.ending(page, records: records)
        guess = ListDoubt.guess(plan, pages: pages, records: records, last: page)
        limit = ListDoubt.limit(page, records: records)
    }

    /// Whether the page before an empty one has counted more than the full pages so far, and a usual limit is no reason.
    private func isBeforeEnd(_ total: Int) -> Bool {
        total > records && plan.pageSize > 1 && records.isMultiple(of: plan.pageSize) && !records.isMultiple(of: 1000)
    }

    /// Why records between the pages read so far may be missing; nil if nothing suggests it.
    var skips: String? { shared.reason }

    /// Why the list lacks records, as its pages show; nil if they do not.
    var lack: String? { partial ?? ending ?? skips }

    /// Why the list may be cut, once its last page was added; nil if nothing suggests it.
    var cut: String? { lack ?? guess }
}
