import EntitySchema
import JSONText
import SchemaDrift
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("Records that embed only a part of their children")
struct PartOfChildrenTests {
    private static let embedded = "detail: { into: messages, embedded: [thread.messages, messages] }"

    private func messages(_ ids: String...) -> String { ids.map { #"{"id":"\#($0)"}"# }.joined(separator: ",") }

    private func drift(_ test: TestPull) throws -> [String] {
        try test.store.drift().filter { $0.entity == "messages" && $0.kind == .list }.map(\.found)
    }

    @Test(
        "a child that only the rest of them may have is kept, and that is said",
        arguments: [
            #""thread":{"startAt":0,"maxResults":2,"total":3,"messages":["#, #""thread":{"totalCount":3,"messages":["#,
            #""thread":{"pageInfo":{"hasNextPage":true},"messages":["#, #""thread":{"has_more":true,"messages":["#,
            #""thread":{"messages@odata.nextLink":"http://localhost/next","messages":["#,
        ])
    func part(_ holder: String) async throws {
        let test = try TestPull(Self.embedded, changing: TestPull.withoutMessages)
        try test.upstream.serve([#"[{"id":"a","thread":{"messages":[\#(messages("m", "n"))]}}]"#])
        try await test.pull()
        let later = #"[{"id":"a",\#(holder)\#(messages("n", "o"))]}}]"#
        try test.upstream.serve([later], singles: true)
        for _ in 1...2 { #expect(try await test.pull(full: true).deletedMessages == 0) }
        #expect(try test.keys("messages") == ["m", "n", "o"])
        #expect(try drift(test).first?.hasPrefix("orders/a says that it has more than the 2 that it shows") == true)
        let whole = #"[{"id":"a","thread":{"messages":[\#(messages("n", "o"))]}}]"#
        try test.upstream.serve([whole], singles: true)
        #expect(try await test.pull(full: true).deletedMessages == 1)
        #expect(try drift(test).isEmpty)
    }

    // MARK: Without a sign

    /// Orders a, b and c show the newest ten of these messages, d only the last one.
    private func shown(_ numbers: ClosedRange<Int>, of order: String) -> String {
        numbers.suffix(order == "d" ? 1 : 10).map { #"{"id":"\#(order)\#($0)"}"# }.joined(separator: ",")
    }

    private func orders(_ numbers: ClosedRange<Int>, on day: Int, and more: String...) -> String {
        let orders = ["a", "b", "c", "d"].map { order in
            #"{"id":"\#(order)","updated_at":"2026-01-0\#(day)T10:00:00Z","messages":[\#(shown(numbers, of: order))]}"#
        }
        return "[\((orders + more).joined(separator: ","))]"
    }

    @Test("a child that the newest ten lack is kept if several parents show ten and none more, and that is said")
    func newest() async throws {
        let test = try TestPull(Self.embedded, changing: TestPull.withoutMessages)
        try test.upstream.serve([orders(1...10, on: 1)], singles: true)
        try await test.pull()
        #expect(try drift(test).first?.contains("show exactly 10 messages, and none shows more") == true)
        try test.upstream.serve([orders(2...11, on: 2)], singles: true)
        for isFull in [false, true, true] { try await test.pull(full: isFull) }
        let keys = try test.keys("messages")
        #expect(["a1", "b1", "c1", "a11"].allSatisfy(keys.contains))
        #expect(!keys.contains("d10"), "d shows fewer")
        try await test.pull(full: true, confirmed: ["messages"])
        #expect(try test.keys("messages").contains("a1") == false)
    }

    private func serve(_ test: TestPull, _ lists: [String: ClosedRange<Int>], on day: Int) throws {
        let orders = lists.sorted { $0.key < $1.key }.map { name, numbers in
            let messages = numbers.map { #"{"id":"\#(name)\#($0)"}"# }.joined(separator: ",")
            return #"{"id":"\#(name)","updated_at":"2026-01-0\#(day)T10:00:00Z","messages":[\#(messages)]}"#
        }
        try test.upstream.serve(["[\(orders.joined(separator: ","))]"], singles: true)
    }

    /// Orders a, b and c with messages 1 to 25 each. Their lists have shown the newest ten, on four days.
    private func cutAtTen() async throws -> TestPull {
        let test = try TestPull(Self.embedded, changing: TestPull.withoutMessages)
        for day in 1...4 {
            let shown = (day * 5 - 4)...(day * 5 + 5)
            try serve(test, ["a": shown, "b": shown, "c": shown], on: day)
            try await test.pull()
        }
        #expect(try test.keys("messages").count == 75)
        return test
    }

    @Test("a child is kept if lists that lack it are now cut at another number", arguments: [14...25, 6...25], [1, 3])
    func raised(_ numbers: ClosedRange<Int>, first: Int) async throws {
        let test = try await cutAtTen()
        let raised = ["a": numbers, "b": numbers, "c": numbers]
        try serve(test, first == 3 ? raised : ["a": numbers, "b": 16...25, "c": 16...25], on: 5)
        let reader = RecordReader(store: test.store, upstream: test.upstream)
        let known = try JSONText(parsing: #"{"id":"a1","order_id":"a"}"#)
        let verdict = try await reader.verdictOfSiblings(of: #require(test.schema["messages"]), known)
        if case .gone = verdict { Issue.record("a1 may be beyond the list's end") }
        try await test.pull()
        try serve(test, raised, on: 6)
        for isFull in [false, true, true] { try await test.pull(full: isFull) }
        #expect(try test.keys("messages").count == 75)
        #expect(try drift(test).first?.contains("show exactly \(numbers.count) messages") == true)
    }

    @Test("children are kept while some servers of the upstream cut their lists at one number, and some at another")
    func changing() async throws {
        let test = try await cutAtTen()
        for day in 5...8 {
            try serve(test, ["a": 16...25, "b": day.isMultiple(of: 2) ? 16...25 : 6...25, "c": 6...25], on: day)
            try await test.pull(full: true)
        }
        #expect(try test.keys("messages").count == 75)
    }

    @Test("lists that become shorter at once are cut if three of them end at a usual number", arguments: [2, 3])
    func shortened(count: Int) async throws {
        let test = try TestPull(Self.embedded, changing: TestPull.withoutMessages)
        let names = ["a", "b", "c"].prefix(count)
        func lists(_ numbers: ClosedRange<Int>) -> [String: ClosedRange<Int>] {
            Dictionary(uniqueKeysWithValues: names.map { ($0, numbers) })
        }
        try serve(test, lists(1...12), on: 1)
        try await test.pull()
        #expect(try drift(test).isEmpty)
        try serve(test, lists(3...12), on: 2)
        for isFull in [false, true, true] { try await test.pull(full: isFull) }
        #expect(try test.keys("messages").contains("a1") == (count == 3))
    }

    @Test("a child that such a list lacks is not known to be gone, whatever asks for it")
    func sibling() async throws {
        let test = try TestPull(Self.embedded, changing: TestPull.withoutMessages)
        for day in 1...2 {
            try test.upstream.serve([orders(day...(day + 9), on: day)], singles: true)
            try await test.pull()
        }
        let reader = RecordReader(store: test.store, upstream: test.upstream)
        let messages = try #require(test.schema["messages"])
        for (key, order, isKnown) in [("a1", "a", false), ("d10", "d", true)] {
            let known = try JSONText(parsing: #"{"id":"\#(key)","order_id":"\#(order)"}"#)
            switch try await reader.verdictOfSiblings(of: messages, known) {
            case .gone: #expect(isKnown, "\(key)")
            case .cannotSay: #expect(!isKnown, "\(key)")
            case .here, .settling: Issue.record("\(key) is not listed")
            }
        }
    }

    @Test("that other parents show more of the same children says nothing about these")
    func otherParents() async throws {
        let test = try TestPull(Self.embedded) { yaml in
            TestPull.withoutMessages(yaml)
                .replacing("      text:", with: "      room_id: { type: reference, to: rooms }\n      text:")
                .replacing(
                    "\n  messages:\n",
                    with: """

                          rooms:
                            fields: { id: { type: string } }
                            pull: { path: /rooms, \(Self.embedded) }
                          messages:

                        """)
        }
        try test.upstream.serve([orders(1...10, on: 1)], singles: true)
        try await test.pull()
        let eleven = (1...11).map { #"{"id":"r\#($0)","order_id":"d"}"# }.joined(separator: ",")
        try test.upstream.serve([#"[{"id":"r","messages":[\#(eleven)]}]"#], singles: true)
        _ = try await test.puller().pull(#require(test.schema["rooms"]), full: false)
        try test.upstream.serve([orders(2...11, on: 2)], singles: true)
        try await test.pull()
        #expect(try test.keys("messages").contains("a1"))
    }

    /// Has read the messages of each order in a list of its own, on three days.
    private func readByPath(_ pagination: String) async throws -> TestPull {
        let fetched = "when_changed: any, pagination: { style: \(pagination) }"
        let test = try TestPull(
            #"detail: { path: "/orders/{id}/messages", into: messages, \#(fetched) }"#,
            changing: TestPull.withoutMessages)
        for day in 1...3 {
            let numbers = day...(day + 9)
            let list = try JSONText(parsing: orders(numbers, on: day))
            let messages = try Dictionary(
                uniqueKeysWithValues: ["a", "b", "c", "d"].map {
                    ("/orders/\($0)/messages", try JSONText(parsing: "[\(shown(numbers, of: $0))]"))
                })
            test.upstream.answering { request in
                let found = messages[request.path] ?? list
                return .success(Page(records: found, count: found.elementCount))
            }
            test.clock.advance(by: .seconds(1))
            try await test.pull()
            try await test.pullDetails()
        }
        return test
    }

    @Test("so it is in lists of their own that declare no pages")
    func newestByPath() async throws {
        let test = try await readByPath("single")
        let keys = try test.keys("messages")
        #expect(["a1", "b1", "c1", "a2", "a12"].allSatisfy(keys.contains))
        #expect(try drift(test).first?.contains("show exactly 10 messages") == true)
    }

    @Test("lists of their own that name each next page are believed, however many children several of them have")
    func paged() async throws {
        let test = try await readByPath("cursor, next: next")
        let keys = try test.keys("messages")
        #expect(!keys.contains("a1") && !keys.contains("a2") && keys.contains("a12"))
        #expect(try drift(test).isEmpty)
    }

    @Test("once a parent shows more, none of their lists counts as cut")
    func longer() async throws {
        let test = try TestPull(Self.embedded, changing: TestPull.withoutMessages)
        try test.upstream.serve([orders(1...10, on: 1)], singles: true)
        try await test.pull()
        let eleven = (1...11).map { #"{"id":"e\#($0)"}"# }.joined(separator: ",")
        let longer = #"{"id":"e","updated_at":"2026-01-02T10:00:00Z","messages":[\#(eleven)]}"#
        try test.upstream.serve([orders(1...10, on: 1, and: longer)], singles: true)
        try await test.pull()
        #expect(try drift(test).isEmpty)
        try test.upstream.serve([orders(2...11, on: 3, and: longer)], singles: true)
        try await test.pull()
        #expect(try test.keys("messages").contains("a1") == false)
    }

    @Test(
        "an amount beside the children, and a total that is theirs, say nothing of the kind",
        arguments: [#""total":99"#, #""total":1,"limit":50"#, #""totalCount":1"#])
    func whole(_ beside: String) async throws {
        let test = try TestPull(Self.embedded, changing: TestPull.withoutMessages)
        try test.upstream.serve([#"[{"id":"a","thread":{"messages":[\#(messages("m", "n"))]}}]"#])
        try await test.pull()
        try test.upstream.serve([#"[{"id":"a","thread":{\#(beside),"messages":[\#(messages("n"))]}}]"#], singles: true)
        #expect(try await test.pull().deletedMessages == 1)
        #expect(try drift(test).isEmpty)
    }
}
