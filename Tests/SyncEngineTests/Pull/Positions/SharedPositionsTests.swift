import JSONText
import SchemaDrift
import Synchronization
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import EntitySchema
@testable import SyncEngine

@Suite("Records that share the value by which the next page is asked for")
struct SharedPositionsTests {
    /// Pages of records with these keys and times.
    private func words(_ pages: [[(Int, Int)]], last: String = "updated", total: Int? = nil) -> String? {
        let style = ListPlan.Style.lastRecord(parameter: "after", place: Place(paths: [last]))
        let list = ListPlan(style: style, size: "limit", pageSize: 2, total: nil, records: .itself)
        var shared = SharedPositions(list, key: "id")
        for page in pages {
            let records = page.map { JSONText.object(["id": .integer($0.0), "updated": .integer($0.1)]) }
            shared.add(Page(records: .array(records), count: records.count, total: total))
        }
        return shared.words
    }

    @Test("they may hide others, also if none of them is the last of a page")
    func hides() {
        #expect(words([[(1, 5), (2, 5)], [(3, 6)]])?.contains("the same updated") == true)
        #expect(words([[(1, 4), (2, 5)], [(3, 6), (4, 6)]]) != nil)
    }

    @Test("they hide none if the next page begins with the value, there is only one page, or the total is reached")
    func shows() {
        #expect(words([[(1, 5), (2, 5)], [(2, 5), (3, 6)]]) == nil)
        #expect(words([[(1, 5), (2, 5)]]) == nil)
        #expect(words([[(1, 5), (2, 5)], [(3, 6)]], total: 3) == nil)
        #expect(words([[(1, 5), (2, 5)], [(3, 6)]], total: 4) != nil)
    }

    @Test("a record that is listed for each of its changes shares nothing, nor do records without the value")
    func changes() {
        #expect(words([[(1, 5), (1, 5)], [(2, 6)]]) == nil)
        #expect(words([[(1, 5), (2, 5)], [(3, 6)]], last: "other") == nil)
        #expect(words([[(1, 5), (1, 5)], [(2, 6)]], last: "id") == nil)
    }

    private static let pull = """
        pagination: { style: cursor, cursor: after, next: { last: updated_at }, page_size: 2 }, \
        since: { param: since, field: updated_at }
        """
    private static let pages = [
        #"[{"id":"a","updated_at":"2026-01-01"},{"id":"b","updated_at":"2026-01-01"}]"#,
        #"[{"id":"c","updated_at":"2026-01-02"}]"#,
    ]

    @Test("a pull that meets them says so, whether it asks for everything or for what changed")
    func drift() async throws {
        let test = try TestPull(Self.pull)
        try test.upstream.serve([Self.pages[1]])
        try await test.pull()
        #expect(try test.store.drift().filter { $0.kind == .list }.isEmpty)
        try test.upstream.serve(Self.pages)
        try await test.pull()
        #expect(test.upstream.requests.last?.since != nil)
        let found = try #require(try test.store.drift().first { $0.kind == .list }?.found)
        #expect(found.contains("pagination.next.last"))
        try await test.pull(full: true)
        #expect(try test.store.drift().first { $0.kind == .list }?.found == found)
    }

    @Test("a list with such records shows no deletions that cannot be asked for")
    func deletions() async throws {
        let test = try TestPull("\(Self.pull), record: none")
        try test.upstream.serve([Self.pages[0], #"[{"id":"c","updated_at":"2026-01-02"},{"id":"d"}]"#])
        try await test.pull()
        try test.upstream.serve(Self.pages)
        for _ in 1...3 { try await test.pull(full: true) }
        #expect(try test.keys() == ["a", "b", "c", "d"])
        #expect(try test.cursor.held?.contains("the same updated_at") == true)
    }

    @Test("children that may be hidden between the pages of their parent's list stay")
    func children() async throws {
        let test = try TestPull(
            """
            detail: { path: "/orders/{id}/messages", into: messages, when_changed: updated_at, \
            pagination: { style: cursor, cursor: after, next: { last: at }, page_size: 2 } }
            """, changing: TestPull.withoutMessages)
        func messages(_ keys: String...) throws -> [JSONText] {
            let list = keys.map { JSONText.object(["id": .string($0), "at": "2026-01-01"]) }
            return [.array(list), try JSONText(parsing: #"[{"id":"last","at":"2026-01-02"}]"#)]
        }
        let orders = try JSONText(parsing: #"[{"id":"a","updated_at":"2026-01-01"}]"#)
        let pages = Mutex(try messages("b", "c"))
        test.upstream.answering { request in
            if request.path == "/orders" { return .success(Page(records: orders, count: 1)) }
            return .success(PagedUpstream.page(pages.withLock { $0 }, request.position))
        }
        try test.upstream.serveSingles(of: orders.text)
        try await test.pull()
        try await test.pullDetails()
        #expect(try test.keys("messages") == ["b", "c", "last"])
        let others = try messages("a", "b")
        pages.withLock { $0 = others }
        for _ in 1...3 { try await test.pullDetails(all: true) }
        #expect(try test.keys("messages") == ["a", "b", "c", "last"])
        let drift = try #require(try test.store.drift().first { $0.kind == .list })
        #expect(drift.entity == "messages" && drift.found.contains("the same at"))
        let fetched = try #require(test.schema["orders"]?.pull?.detailDefinition)
        try await test.store.adoptDetails(fetched, of: "orders")
        #expect(try test.store.drift().contains { $0.kind == .list })
        try await test.store.adoptDetails("another list", of: "orders")
        #expect(try test.store.drift().allSatisfy { $0.kind != .list })
    }
}
