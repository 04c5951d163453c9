import EntitySchema
import JSONText
import SchemaDrift
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("Children pulled with their parents")
struct ChildPullTests {
    private static let embedded = "detail: { into: messages, embedded: [thread.messages, messages] }"
    private static let fetched =
        #"detail: { path: "/orders/{id}/messages", into: messages, when_changed: updated_at, pagination: { style: page, page_size: 1 } }"#

    @Test("embedded children are written with their parents, each with its parent's key")
    func embedded() async throws {
        let test = try TestPull(Self.embedded)
        try test.upstream.serve([
            #"[{"id":"a","messages":[{"id":"m","text":"x"},{"id":"n","order_id":"b"}]},{"id":"b","thread":{"messages":[{"id":"o","order_id":null}]}}]"#
        ])
        let summary = try await test.pull()
        #expect(summary.children["messages"]?.written == 3)
        let parents = try ["m", "n", "o"].map { key in
            try test.store.record("messages", key: key).map { try JSONText($0) }?["order_id"]?.string
        }
        #expect(parents == ["a", "b", "b"])
        #expect(try test.store.rowCounts()["messages"] == 3)
        let position = try test.store.position()
        try await test.pull()
        #expect(try test.store.position() == position)
    }

    @Test("a child missing from its parent's list is deleted; a parent without a list keeps its children")
    func gone() async throws {
        let test = try TestPull(Self.embedded)
        try test.upstream.serve([#"[{"id":"a","messages":[{"id":"m"},{"id":"n"}]},{"id":"b","messages":[{"id":"o"}]}]"#]
        )
        try await test.pull()
        let less = #"[{"id":"a","messages":[{"id":"n"}]},{"id":"b"}]"#
        try test.upstream.serve([less])
        #expect(try await test.pull().deletedMessages == 0, "one list proves nothing")
        #expect(try test.keys("messages") == ["m", "n", "o"])
        try test.upstream.serveSingles(of: less)
        #expect(try await test.pull().deletedMessages == 1)
        #expect(try test.keys("messages") == ["n", "o"])
    }

    @Test("a child in the place of the list of children is the only one")
    func lone() async throws {
        let test = try TestPull(Self.embedded)
        try test.upstream.serve([
            #"[{"id":"a","messages":[{"id":"m"},{"id":"n"}]},{"id":"b","thread":{"messages":{"id":"o","text":"x"}}}]"#
        ])
        #expect(try await test.pull().childProblem == nil)
        #expect(try test.keys("messages") == ["m", "n", "o"])
        try test.upstream.serve([#"[{"id":"a","messages":{"id":"n","text":null}},{"id":"b"}]"#], singles: true)
        #expect(try await test.pull().deletedMessages == 1)
        #expect(try test.keys("messages") == ["n", "o"])
    }

    @Test("an object with a key, but few of a child's fields, is no child")
    func error() async throws {
        let test = try TestPull(Self.embedded)
        try test.upstream.serve([#"[{"id":"a","messages":[{"id":"m"}]}]"#])
        try await test.pull()
        try test.upstream.serve([#"[{"id":"a","messages":{"id":"e","error":"not now"}}]"#], singles: true)
        #expect(try await test.pull().childProblem?.contains("orders/a holds no list") == true)
        #expect(try test.keys("messages") == ["m"])
    }

    @Test("a deleted parent takes its children along, even those that it still lists")
    func tombstone() async throws {
        let test = try TestPull(Self.embedded)
        try test.upstream.serve([#"[{"id":"a","messages":[{"id":"m"}]},{"id":"b","messages":[{"id":"n"}]}]"#])
        try await test.pull()
        try test.upstream.serve([#"[{"id":"a","deleted_at":"2026-01-01","messages":[{"id":"m"}]},{"id":"b"}]"#])
        try await test.pull()
        #expect(try test.keys("messages") == ["n"])
    }

    @Test("a record whose children are not a list is reported, and is stored like the others")
    func broken() async throws {
        let test = try TestPull(Self.embedded)
        try test.upstream.serve([#"[{"id":"a","messages":7},{"id":"b","messages":[{"id":"m"},true]}]"#])
        let summary = try await test.pull()
        #expect(summary.childProblem?.contains("orders/a holds no list at thread.messages or messages") == true)
        #expect(try test.keys() == ["a", "b"])
        #expect(try test.keys("messages") == ["m"])
        #expect(try test.store.setAsideRecords(limit: 9).map(\.entity) == ["messages"])
    }

    @Test("children that cannot be asked for go when two pulls lack them, within the guard")
    func twice() async throws {
        let test = try TestPull(Self.embedded)
        func parents(_ children: Int) -> [String] {
            (0..<2).map { parent in
                let messages = (0..<children).map { JSONText.object(["id": .string("m\(parent)-\($0)")]) }
                return "[\(JSONText.object(["id": .integer(parent), "messages": .array(messages)]).text)]"
            }
        }
        try test.upstream.serve(parents(10))
        try await test.pull()
        try test.upstream.serve(parents(8))
        #expect(try await test.pull(full: true).deletedMessages == 0)
        #expect(try await test.pull(full: true).deletedMessages == 4)
        try test.upstream.serve(parents(0))
        for _ in 1...2 { #expect(try await test.pull(full: true).deletedMessages == 0) }
        #expect(try test.store.cursor(of: "messages").heldDeletions == 16)
        #expect(try test.store.cursor(of: "messages").held == "the parents no longer list 16 of 16 messages")
        try await test.pull(full: true, confirmed: ["messages"])
        #expect(try test.keys("messages").isEmpty)
        #expect(try test.store.cursor(of: "messages").heldDeletions == 0)
    }

    @Test("missing children make the next pull read all parents unless it is confirmed that they are gone")
    func confirmed() async throws {
        let test = try TestPull("since: { param: since, field: updated_at }, \(Self.embedded)")
        func order(_ numbers: Range<Int>) -> String {
            let messages = numbers.map { JSONText.object(["id": .integer($0)]) }
            return #"[{"id":"a","updated_at":"2026-01-01","messages":\#(JSONText.array(messages).text)}]"#
        }
        try test.upstream.serve([order(0..<20)])
        try await test.pull()
        #expect(try test.cursor.lastFullAt == test.clock.timestamp)
        try test.upstream.serve([order(1..<20)], singles: true)
        #expect(try await test.pull().deletedMessages == 1)
        #expect(try test.cursor.lastFullAt == test.clock.timestamp)
        test.upstream.serveSingles { _, _ in .success(nil) }
        try test.upstream.serve([order(2..<20)])
        #expect(try await test.pull().deletedMessages == 0)
        #expect(try test.cursor.lastFullAt == nil)
    }

    // MARK: Fetched for each parent

    private func serveMessages(
        _ lists: [String: [String]], total: Int? = nil, age: Duration? = nil, _ test: TestPull
    ) throws {
        let orders = try JSONText(
            parsing: #"[{"id":"a","updated_at":"2026-01-01"},{"id":"b","updated_at":"2026-01-01"}]"#)
        test.upstream.answering { request in
            if request.path == "/orders" { return .success(Page(records: orders, count: 2)) }
            guard let ids = lists[request.path] else { return .failure(.gone(status: 404, "no such order")) }
            let pages = ids.map { page in
                JSONText.array(page.split(separator: ",").map { .object(["id": .string(String($0))]) })
            }
            var page = PagedUpstream.page(pages, request.position, total)
            page.age = age
            return .success(page)
        }
    }

    @Test("a list that a gateway repeats is no second reading; one that it kept since the last pull is")
    func keptByGateway() async throws {
        let test = try TestPull(Self.fetched)
        try serveMessages(["/orders/a/messages": ["m,n,p,q,r"], "/orders/b/messages": ["o"]], test)
        try await test.pull()
        try await test.pullDetails()
        try serveMessages(
            ["/orders/a/messages": ["n,p,q,r"], "/orders/b/messages": ["o"]], age: .seconds(30), test)
        for _ in 1...2 {
            try await test.pullDetails(all: true)
            #expect(try test.keys("messages").contains("m"))
        }
        test.clock.advance(by: .seconds(31))
        try await test.pullDetails()
        #expect(try test.keys("messages") == ["n", "o", "p", "q", "r"])
    }

    /// Has fetched the children of two parents: m and n of a, o of b.
    private func filled() async throws -> TestPull {
        let test = try TestPull(Self.fetched)
        try serveMessages(["/orders/a/messages": ["m", "n"], "/orders/b/messages": ["o"]], test)
        try await test.pull()
        try await test.pullDetails()
        return test
    }

    @Test("all pages of children are fetched; each child gets its parent's key and is deleted once unlisted")
    func fetched() async throws {
        let test = try await filled()
        #expect(try test.keys("messages") == ["m", "n", "o"])
        try serveMessages(["/orders/a/messages": ["n"], "/orders/b/messages": ["o"]], test)
        try await test.pullDetails()
        #expect(try test.keys("messages") == ["m", "n", "o"])
        try await test.pullDetails(all: true)
        #expect(try test.keys("messages") == ["n", "o"])
    }

    @Test("a large list of children is read when no other large one is kept")
    func large() async throws {
        let test = try TestPull(Self.fetched)
        try serveMessages(["/orders/a/messages": ["m", "n"], "/orders/b/messages": ["o", "p"]], test)
        try await test.pull()
        test.upstream.forget()
        let orders = try #require(test.schema["orders"])
        let fetch = try #require(orders.pull?.fetch)
        // One page of a child is smaller, two are larger.
        let details = DetailPuller(puller: test.puller(), entity: orders, fetch: fetch, parallel: 2, mostBytesAside: 20)
        try await details.pull(all: false)
        #expect(try test.keys("messages") == ["m", "n", "o", "p"])
        let asked = test.upstream.requests.filter { $0.position == nil }.map(\.path)
        #expect(asked.sorted() == ["/orders/a/messages", "/orders/b/messages", "/orders/b/messages"])
    }

    @Test("children that a parent lists no longer are kept if the parent itself is not there either")
    func emptied() async throws {
        let test = try await filled()
        try serveMessages(["/orders/a/messages": [], "/orders/b/messages": ["o"]], test)
        try await test.pullDetails(all: true)
        #expect(try test.keys("messages") == ["m", "n", "o"])
        try test.upstream.serveSingles(of: #"[{"id":"a"}]"#)
        try await test.pullDetails(all: true)
        #expect(try test.keys("messages") == ["o"])
    }

    @Test("#3 children that a parent lists no longer are kept while every other parent's list is empty as well")
    func allEmptied() async throws {
        let test = try await filled()
        try test.upstream.serveSingles(of: #"[{"id":"a"},{"id":"b"}]"#)
        try serveMessages(["/orders/a/messages": [], "/orders/b/messages": []], test)
        try await test.pullDetails(all: true)
        #expect(try test.keys("messages") == ["m", "n", "o"])
        let requests = test.upstream.requests.count
        try await test.pullDetails()
        #expect(test.upstream.requests.count > requests, "lists that are not believed are asked for again")
        try serveMessages(["/orders/a/messages": [], "/orders/b/messages": ["o"]], test)
        try await test.pullDetails(all: true)
        #expect(try test.keys("messages") == ["o"])
    }

    @Test("#5 a child that slid between pages is found by a second reading, and its sibling shown twice counts once")
    func slid() async throws {
        let test = try TestPull(Self.fetched)
        for total in [4, nil] as [Int?] {
            try serveMessages(["/orders/a/messages": ["m", "n", "o", "q"], "/orders/b/messages": ["p"]], test)
            try await test.pull()
            try await test.pullDetails(all: true)
            try serveMessages(
                ["/orders/a/messages": ["m,n", "n,o"], "/orders/b/messages": ["p"]], total: total, test)
            try test.upstream.serveSingles(of: #"[{"id":"a"},{"id":"b"}]"#)
            func pages() -> Int { test.upstream.requests.count { $0.path == "/orders/a/messages" } }
            let before = pages()
            try await test.pullDetails(all: true)
            #expect(pages() - before >= 4, "a list that disagrees with itself is read twice")
            if total != nil { #expect(try test.keys("messages") == ["m", "n", "o", "p", "q"]) }
            guard total == nil else { continue }
            // Two readings without a total agree: the list has all children.
            try await test.pullDetails(all: true)
            #expect(try test.keys("messages") == ["m", "n", "o", "p"])
        }
    }

    @Test("#5 a child is not gone because a list that shows fewer than its total lacks it", arguments: [2, nil])
    func incompleteSiblings(total: Int?) async throws {
        let test = try await filled()
        try serveMessages(["/orders/a/messages": ["m"]], total: total, test)
        let reader = RecordReader(store: test.store, upstream: test.upstream)
        let messages = try #require(test.schema["messages"])
        let verdict = try await reader.verdictOfSiblings(
            of: messages, JSONText(parsing: #"{"id":"n","order_id":"a"}"#))
        switch verdict {
        case .gone: #expect(total == nil)
        case .cannotSay: #expect(total == 2)
        case .here, .settling: Issue.record("it is not listed")
        }
    }

    @Test("children are fetched also for a parent without a time of change")
    func untimed() async throws {
        let test = try TestPull(Self.fetched)
        let messages = ["/orders/c/messages": ["m"]]
        test.upstream.answering { request in
            guard request.path != "/orders" else {
                return .success(Page(records: .array([.object(["id": "c"])]), count: 1))
            }
            let pages = (messages[request.path] ?? []).map { JSONText.array([.object(["id": .string($0)])]) }
            return .success(PagedUpstream.page(pages, request.position, nil))
        }
        try await test.pull()
        try await test.pullDetails()
        #expect(try test.keys("messages") == ["m"])
        let requests = test.upstream.requests.count
        try await test.pullDetails()
        #expect(test.upstream.requests.count == requests)
    }

    @Test("an incomplete list of children deletes nothing, and a missing parent is not an error")
    func incomplete() async throws {
        let test = try await filled()
        try serveMessages(["/orders/a/messages": ["n"]], total: 2, test)
        try await test.pullDetails(all: true)
        #expect(try test.keys("messages") == ["m", "n", "o"])
    }

    @Test("the list of children is complete once those of all parents have been fetched")
    func complete() async throws {
        let test = try TestPull(Self.fetched)
        func isComplete() throws -> Bool { try test.store.list(ListQuery(entity: "messages")).isComplete }
        try serveMessages(["/orders/a/messages": ["m", "n"], "/orders/b/messages": ["o"]], test)
        #expect(try !isComplete())
        try await test.pull()
        #expect(try !isComplete())
        try await test.pullDetails()
        #expect(try isComplete())
        #expect(try test.store.cursor(of: "messages").lastSyncedAt != nil)
    }

    @Test("#2 children are asked for again after a gateway has answered 404 to every list of them")
    func blanket() async throws {
        let test = try TestPull(Self.fetched)
        try serveMessages([:], test)
        try await test.pull()
        try await test.pullDetails()
        try serveMessages(["/orders/a/messages": ["m"], "/orders/b/messages": ["o"]], test)
        try await test.pullDetails()
        #expect(try test.keys("messages") == ["m", "o"])
    }

    @Test("a parent whose list of children is not there, while another's is, is not asked again")
    func withoutList() async throws {
        let test = try TestPull(Self.fetched)
        try serveMessages(["/orders/b/messages": ["o"]], test)
        try await test.pull()
        try await test.pullDetails()
        let requests = test.upstream.requests.count
        try await test.pullDetails()
        #expect(test.upstream.requests.count == requests)
    }

    @Test(
        "a parent whose children are refused for an hour is asked for once an hour, and stays an error until it is served"
    )
    func refused() async throws {
        let test = try TestPull(Self.fetched)
        try serveMessages(["/orders/a/messages": ["m"], "/orders/b/messages": ["o"]], test)
        try await test.pull()
        let path = "/orders/b/messages"
        let child = try JSONText(parsing: #"[{"id":"m"}]"#)
        test.upstream.answering { request in
            request.path == path
                ? .failure(.barred(status: 403, "not yours")) : .success(Page(records: child, count: 1))
        }
        let orders = try #require(test.schema["orders"])
        let fetch = try #require(orders.pull?.fetch)
        let details = DetailPuller(puller: test.puller(), entity: orders, fetch: fetch, parallel: 1)
        func asked() -> Int { test.upstream.requests.count { $0.path == path } }
        for minutes in [0, 30, 30, 29, 1, 30] {
            test.clock.advance(by: .seconds(60 * minutes))
            await #expect(throws: UpstreamError.self) { try await details.pull(all: false) }
        }
        #expect(asked() == 3, "after 0, 30 and 90 minutes")
        #expect(try test.keys("messages") == ["m"])
        try serveMessages(["/orders/a/messages": ["m"], "/orders/b/messages": ["o"]], test)
        try await details.pull(all: true)
        #expect(asked() == 4)
        #expect(try test.keys("messages") == ["m", "o"])
    }

    @Test("children without a parent go when two full pulls find them so")
    func orphans() async throws {
        let test = try TestPull(Self.fetched)
        try serveMessages(["/orders/a/messages": ["m,n,o,p,q,r"], "/orders/b/messages": []], test)
        _ = try await test.store.apply(
            PulledPage(entity: "messages", records: #"[{"id":"x","order_id":"gone"}]"#), at: test.clock.timestamp)
        try await test.pull()
        try await test.pullDetails(all: true)
        #expect(try test.keys("messages").contains("x"))
        try await test.pullDetails(all: true)
        #expect(try test.keys("messages") == ["m", "n", "o", "p", "q", "r"])
    }

    @Test("a child that comes only with its parent stays if it refers to the parent by something other than its key")
    func otherReference() async throws {
        let many = "    many:\n      messages: { of: messages, by: order_id, on_delete: cascade }\n"
        let test = try TestPull(Self.embedded) {
            $0.replacing(many, with: "").replacing("\n    pull: { path: /messages }", with: "")
        }
        #expect(test.schema["messages"]?.pull == nil && test.schema["orders"]?.relations.isEmpty == true)
        let orders = #"[{"id":"a","messages":[{"id":"m","order_id":"ORD-1"}]}]"#
        for _ in 1...4 {
            try test.upstream.serve([orders], singles: true)
            try await test.pull(full: true)
            #expect(try test.keys("messages") == ["m"])
            test.clock.advance(by: .seconds(61))
        }
    }
}
