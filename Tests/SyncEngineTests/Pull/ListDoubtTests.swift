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

    @Test("a page that is as long as was asked for is no cut one, a shorter one of a usual length may be")
    func pages() {
        let page = ListPlan.Style.page(parameter: "page", pages: nil)
        #expect(reason(page, pageSize: 100, records: 100) == nil)
        #expect(reason(page, pageSize: 200, records: 100)?.contains("fewer than the 200") == true)
        #expect(reason(page, pageSize: 200, records: 99) == nil)
    }

    @Test(
        "without declared pages a usual length is in doubt, another one is not",
        arguments: [10, 20, 25, 30, 50, 100, 200, 250, 500, 1000, 2000])
    func single(_ length: Int) {
        #expect(reason(.single, pageSize: 100, records: length) != nil)
        #expect(reason(.single, pageSize: 100, records: length + 1) == nil)
    }
}
