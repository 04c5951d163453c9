import JSONText
import Testing
import Upstream

@testable import EntitySchema
@testable import SyncEngine

@Suite("Whether a list may be cut")
struct ListDoubtTests {
    private func reason(_ style: ListPlan.Style, pageSize: Int, records: Int) -> String? {
        let list = ListPlan(style: style, size: "per", pageSize: pageSize, total: nil, records: .itself)
        return ListDoubt.reason(list, pages: 1, records: records, last: Page(records: .array([]), count: records))
    }

    /// Styles by which a page with fewer records than were asked for is the last one.
    private static let byLength: [ListPlan.Style] = [
        .page(parameter: "page", pages: nil), .offset(parameter: "offset"),
        .lastRecord(parameter: "after", place: Place(paths: ["id"])),
    ]

    @Test(
        "a page that is as long as was asked for is no cut one, a shorter one of a usual length may be",
        arguments: byLength)
    func pages(_ style: ListPlan.Style) {
        #expect(reason(style, pageSize: 100, records: 100) == nil)
        #expect(reason(style, pageSize: 200, records: 100)?.contains("fewer than the 200") == true)
        #expect(reason(style, pageSize: 200, records: 99) == nil)
    }

    @Test("a total of exactly one page may be that of the page, unless the page behind it was empty")
    func pageTotal() {
        func reason(_ records: Int, behindTotal: String?, pages: Int = 1) -> String? {
            let list = ListPlan(style: Self.byLength[1], size: "per", pageSize: 100, total: nil, records: .itself)
            var last = Page(records: .array([]), count: 100, total: records)
            last.behindTotal = behindTotal
            return ListDoubt.reason(list, pages: pages, records: records, last: last)
        }
        #expect(reason(100, behindTotal: "100")?.contains("only that page") == true)
        #expect(reason(100, behindTotal: nil) == nil)
        #expect(reason(1000, behindTotal: "1000", pages: 10) == nil)
        #expect(reason(1000, behindTotal: "1000") == nil, "the rest of an interrupted pull")
    }

    @Test("a list that refuses what comes after a total of a usual limit may be cut")
    func refusesMore() {
        let list = ListPlan(style: Self.byLength[1], size: "per", pageSize: 100, total: nil, records: .itself)
        var last = Page(records: .array([]), count: 100, total: 10000)
        #expect(ListDoubt.reason(list, pages: 100, records: 10000, last: last) == nil)
        last.refusesMore = true
        let reason = ListDoubt.reason(list, pages: 100, records: 10000, last: last)
        #expect(reason?.contains("counts 10000 records") == true)
    }

    @Test(
        "an empty page without a total ends no list of which the page before has counted more",
        arguments: [(250, true), (100, false)])
    func emptyPage(_ total: Int, _ isPartial: Bool) throws {
        let list = ListPlan(style: Self.byLength[1], size: "per", pageSize: 100, total: nil, records: .itself)
        var reading = ListReading(list, at: "/orders", key: "id")
        try reading.add(Page(records: .array([]), count: 100, total: total, next: "100"))
        try reading.add(Page(records: .array([]), count: 0))
        #expect((reading.partial != nil) == isPartial)
    }

    @Test("a list that ends where servers show no more says nothing about a creation, and is whole for all else")
    func limit() throws {
        func reading(behindTotal: String?) throws -> ListReading {
            let list = ListPlan(style: Self.byLength[1], size: "per", pageSize: 100, total: nil, records: .itself)
            var last = Page(records: .array([]), count: 100, total: 1000)
            last.behindTotal = behindTotal
            var reading = ListReading(list, at: "/orders", key: "id")
            reading.records = 900
            try reading.add(last)
            return reading
        }
        #expect(try reading(behindTotal: nil).limit == nil)
        let limited = try reading(behindTotal: "11/1000")
        #expect(limited.cut == nil)
        #expect(limited.limit == "it ends at 1000 records, and the upstream may show no more")
    }

    @Test("206 says that a page lacks records if only some of the pages with another one behind them come with it")
    func parts() throws {
        func partial(_ parts: [Bool], emptyEnd: Bool = false) throws -> String? {
            let list = ListPlan(style: Self.byLength[1], size: "per", pageSize: 1, total: nil, records: .itself)
            var reading = ListReading(list, at: "/orders", key: "id")
            for (number, isPart) in (parts + [false]).enumerated() {
                let isLast = number == parts.count
                let records = JSONText.array(isLast && emptyEnd ? [] : [.object(["id": .string("\(number)")])])
                var page = Page(
                    records: records, count: records.elements.count, next: isLast ? nil : "\(number + 1)")
                page.isPart = isPart
                try reading.add(page)
            }
            return reading.partial
        }
        #expect(try partial([false, true, false])?.contains("status 206") == true)
        #expect(try partial([true, true, true]) == nil)
        #expect(try partial([false, false, false]) == nil)
        #expect(try partial([true]) == nil)
        #expect(try partial([true, true, false], emptyEnd: true) == nil, "the full page is the last one")
        #expect(try partial([true, false, false], emptyEnd: true) != nil)
        #expect(try partial([false, true], emptyEnd: true) != nil)
    }

    @Test("a list that says whether there is more is not in doubt")
    func more() {
        var list = ListPlan(style: Self.byLength[2], size: "per", pageSize: 200, total: nil, records: .itself)
        list.more = Place(paths: ["has_more"])
        let last = Page(records: .array([]), count: 100)
        #expect(ListDoubt.reason(list, pages: 1, records: 100, last: last) == nil)
    }

    @Test(
        "without declared pages a usual length is in doubt, another one is not",
        arguments: [10, 20, 25, 30, 42, 50, 100, 200, 250, 500, 1000, 2000, 5000, 10_000])
    func single(_ length: Int) {
        #expect(reason(.single, pageSize: 100, records: length)?.contains("declares no pages") == true)
        #expect(reason(.single, pageSize: 100, records: length + 1) == nil)
    }

    @Test("a list that shows one page twice does not show that a record is gone")
    func pageTwice() async throws {
        let test = try TestPull("record: none")
        let orders = try #require(test.schema["orders"])
        func verdict(_ pages: String...) async throws -> AbsenceJudge.Verdict {
            try test.upstream.serve(pages, total: 4)
            return try await test.puller().judge.verdict(on: .object(["id": "gone"]), of: orders)
        }
        let (first, second) = (#"[{"id":"a"},{"id":"b"}]"#, #"[{"id":"c"},{"id":"d"}]"#)
        #expect(try await verdict(first, second) == .gone)
        #expect(try await verdict(first, first) != .gone)
    }
}
