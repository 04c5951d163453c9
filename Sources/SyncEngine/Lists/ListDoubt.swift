package import EntitySchema
internal import JSONText
package import Upstream

/// Finds out whether a list can be complete. One that may be cut shows what there is, and nothing about what is gone.
package enum ListDoubt {
    /// Limits that servers set on a list that is asked for without pages, and their usual sizes of a page.
    private static let limits: Set<Int> = [10, 20, 25, 30, 42, 50, 100, 200, 250, 500]

    /// Whether a list of so many records may end there because it is cut, as YouTrack's at 42 and Elasticsearch's at 10,000.
    static func isLimit(_ records: Int) -> Bool {
        limits.contains(records) || records >= 1000 && records.isMultiple(of: 1000)
    }

    /// Why a list that has this page may lack records, in words; nil if the page says nothing of the kind.
    package static func reason(_ page: Page) -> String? { page.partial.map(words) }

    /// `sign`: what of a page says that it lacks records.
    static func words(_ sign: String) -> String { "the upstream says that a page lacks records (\(sign))" }

    /// Why a list that ended may be cut, in words; nil if nothing suggests it.
    ///
    /// `pages` and `records` are what was read of it, `last` is its last page.
    package static func reason(_ list: ListPlan, pages: Int, records: Int, last: Page) -> String? {
        reason(last) ?? ending(last, records: records) ?? guess(list, pages: pages, records: records, last: last)
    }

    /// Why more may come behind the last page, as that page says.
    static func ending(_ last: Page, records: Int) -> String? {
        if let more = last.unfollowed { return "it has more pages (\(more)) than pagination in the schema finds" }
        guard last.refusesMore else { return nil }
        return "the upstream counts \(records) records, refuses to show more, and may have more"
    }

    /// Why a list that ended may be cut, although no page says so.
    static func guess(_ list: ListPlan, pages: Int, records: Int, last: Page) -> String? {
        if pages == 1, records == list.pageSize, last.total == records, last.behindTotal != nil {
            return "its total is \(records), as many as one page has, and may count only that page"
        }
        guard pages == 1, last.total == nil, list.more == nil, isLimit(records) || records == list.pageSize
        else { return nil }
        switch list.style {
        case .single: return "it ends at exactly \(records) records, and the schema declares no pages"
        case .page(_, pages: nil), .offset, .lastRecord:
            guard records < list.pageSize else { return nil }
            return "it ends at exactly \(records) records, fewer than the \(list.pageSize) asked for a page"
        case .page, .cursor, .link, .header, .headerURL, .nextURL: return nil
        }
    }

    /// Why a list that counts as whole may go on behind its last page, in words; nil if nothing suggests it.
    static func limit(_ last: Page, records: Int) -> String? {
        last.behindTotal.map { _ in "it ends at \(records) records, and the upstream may show no more" }
    }

    /// Whether a list inside a record is only a part: what holds it counts or names more, as
    /// `comment: { startAt: 0, total: 55, comments: […] }`. A total without a sign of pages may be an amount.
    static func isPart(_ list: JSONText, at place: Place, in record: JSONText) -> Bool {
        let holder = place.outer(in: record).flatMap { record.at(path: $0) }
        let names = place.paths.compactMap { JSONPath.steps($0).last }
        guard !names.contains(where: { (holder ?? record)["\($0)@odata.nextLink"] != nil }) else { return true }
        guard let holder else { return false }
        let isPaged = pageMarks.contains { holder[$0]?.wholeNumber != nil }
        let count = list.elementCount
        return (isPaged ? ["total"] + totals : totals).contains { (holder[$0]?.wholeNumber ?? 0) > count }
            || UnfollowedPage.place(in: holder) != nil
    }

    private static let totals = ["totalCount", "total_count", "totalResults"]
    private static let pageMarks = ["startAt", "maxResults", "offset", "limit", "page", "per_page", "pageSize"]
}
