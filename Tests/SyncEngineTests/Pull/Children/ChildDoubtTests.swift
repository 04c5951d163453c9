import EntitySchema
import JSONText
import SchemaDrift
import Synchronization
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

/// Children that a list lacked, while nothing says whether they are gone.
@Suite struct ChildDoubtTests {
    /// What each list of messages answers, in turn; the last answer is repeated.
    private final class Answers: Sendable {
        private let lists = Mutex<[String: [Result<[String], UpstreamError>]]>([:])

        func set(_ parent: String, _ answers: Result<[String], UpstreamError>...) {
            lists.withLock { $0["/orders/\(parent)/messages"] = answers }
        }

        func next(_ path: String) -> Result<[String], UpstreamError> {
            lists.withLock { lists in
                guard let answers = lists[path], let first = answers.first else {
                    return .failure(.gone(status: 404, "no such order"))
                }
                if answers.count > 1 { lists[path]?.removeFirst() }
                return first
            }
        }
    }

    private static let fetched =
        #"detail: { path: "/orders/{id}/messages", into: messages, when_changed: updated_at, pagination: { style: page, page_size: 50 } }"#
    private static let all = (0..<10).map { "m\($0)" }
    private static let failure = UpstreamError.unclear(status: 503, "try later")

    private func filled() async throws -> (TestPull, Answers) {
        let test = try TestPull(Self.fetched)
        let answers = Answers()
        answers.set("a", .success(Self.all))
        answers.set("b", .success(["o"]))
        let orders = try JSONText(
            parsing: #"[{"id":"a","updated_at":"2026-01-01"},{"id":"b","updated_at":"2026-01-01"}]"#)
        test.upstream.answering { request in
            if request.path == "/orders" { return .success(Page(records: orders, count: 2)) }
            return answers.next(request.path).map { ids in
                Page(records: .array(ids.map { .object(["id": .string($0)]) }), count: ids.count)
            }
        }
        try test.upstream.serveSingles(of: #"[{"id":"a"},{"id":"b"}]"#)
        try await test.pull()
        try await test.pullDetails()
        return (test, answers)
    }

    @Test func `children are asked for again if the upstream was out of reach before they were known to be gone`()
        async throws
    {
        let (test, answers) = try await filled()
        answers.set("a", .success(Array(Self.all.dropFirst())), .failure(.offline("no route")))
        await #expect(throws: UpstreamError.self) { try await test.pullDetails(all: true) }
        #expect(try test.keys("messages").count == 11)
        answers.set("a", .success(Array(Self.all.dropFirst())))
        try await test.pullDetails()
        #expect(try test.keys("messages") == Set(Self.all.dropFirst() + ["o"]))
    }

    @Test func `a child that its parent listed in between is missing for the first time again`() async throws {
        let (test, answers) = try await filled()
        let lacking = Array(Self.all.dropFirst())
        answers.set("a", .success(lacking), .failure(Self.failure))
        try await test.pullDetails(all: true)
        answers.set("a", .success(Self.all))
        answers.set("b", .failure(Self.failure))
        await #expect(throws: UpstreamError.self) { try await test.pullDetails(all: true) }
        answers.set("a", .success(lacking), .failure(Self.failure))
        answers.set("b", .success(["o"]))
        try await test.pullDetails(all: true)
        #expect(try test.keys("messages").count == 11)
        answers.set("a", .success(lacking), .failure(Self.failure))
        try await test.pullDetails(all: true)
        #expect(try test.keys("messages") == Set(lacking + ["o"]), "this time it was missing twice in a row")
    }

    @Test(arguments: [false, true])
    func `children stay while the upstream refuses to show what comes behind their list`(refuses: Bool) async throws {
        let (test, _) = try await filled()
        let lacking = Array(Self.all.dropFirst())
        test.upstream.answering { request in
            let ids = request.path == "/orders/a/messages" ? lacking : ["o"]
            var page = Page(records: .array(ids.map { .object(["id": .string($0)]) }), count: ids.count)
            page.refusesMore = refuses
            return .success(page)
        }
        for _ in 1...2 { try await test.pullDetails(all: true) }
        #expect(try test.keys("messages").count == (refuses ? 11 : 10))
    }

    @Test func `a list of children that says that it lacks some is reported until it is whole`() async throws {
        let test = try TestPull(Self.fetched, changing: TestPull.withoutMessages)
        let orders = try JSONText(parsing: #"[{"id":"a","updated_at":"2026-01-01"}]"#)
        let shown = Mutex(Page(records: .array([.object(["id": "m"])]), count: 1))
        test.upstream.answering { request in
            .success(request.path == "/orders" ? Page(records: orders, count: 1) : shown.withLock { $0 })
        }
        try await test.pull()
        func drift(_ change: (inout Page) -> Void) async throws -> String? {
            shown.withLock { change(&$0) }
            try await test.pullDetails(all: true)
            return try test.store.drift().first { $0.kind == .list && $0.entity == "messages" }?.found
        }
        #expect(try await drift { $0.unfollowed = "has_more" }?.contains("more pages (has_more)") == true)
        #expect(try await drift { $0.unfollowed = nil } == nil)
        #expect(try await drift { $0.partial = "timed_out" }?.contains("lacks records (timed_out)") == true)
    }

    @Test func `a list that lacks children is read again, also after a crash before they were decided about`()
        async throws
    {
        let (test, _) = try await filled()
        let by = try #require(test.schema["orders"]?.pull?.details.first?.by)
        let others = Self.all.dropFirst().map { JSONText.object(["id": .string($0), by: "a"]) }
        let children = PulledChildren(
            entity: "messages", by: by, records: .array(others), parents: ["a"], complete: ["a"], deletes: .none)
        let page = PulledPage(
            entity: "orders", records: .array([JSONText]()), position: try test.store.position(), children: [children],
            details: [PulledPage.Detail(key: "a", value: "2026-01-01")])
        let missing = try await test.store.apply(page, at: test.clock.timestamp).children["messages"]?.missing
        #expect(missing == ["a": ["m0"]])
        #expect(try test.store.parents(of: "orders", after: 0, all: false, limit: 9).map(\.key) == ["a"])
    }
}
