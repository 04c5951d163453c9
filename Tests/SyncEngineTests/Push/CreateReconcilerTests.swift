import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("Looking up a lost creation in a list of several pages")
struct CreateReconcilerTests {
    /// The finding for a creation with the notes "new", when the upstream answers these pages one after another.
    private func finding(_ pages: [String]) async throws -> (CreateReconciler.Finding, requests: Int) {
        let test = try TestPull(create: "call: POST /orders, look_up: { match: [notes] }")
        let body = JSONText.object(["notes": "new"])
        _ = try await test.store.create("orders", body: body, at: test.clock.timestamp)
        let change = try #require(try test.store.readyChanges(limit: 1, at: test.clock.timestamp).first)
        let answers = try pages.map { try JSONText(parsing: $0) }
        let count = Counter()
        test.upstream.answering { request in
            let number = count.next() - 1
            return .success(
                Page(
                    records: answers[number % answers.count], count: 2, next: request.position == nil ? "2" : nil))
        }
        let orders = try #require(test.schema["orders"])
        let reader = RecordReader(schema: test.schema, store: test.store, upstream: test.upstream)
        let finding = try await CreateReconciler(reader: reader).finding(for: change, orders)
        return (finding, test.upstream.requests.count)
    }

    @Test("a record that slid past the pages is found by the next reading")
    func slides() async throws {
        let (finding, requests) = try await finding([
            #"[{"id":"a"},{"id":"b"}]"#, #"[{"id":"d"}]"#, #"[{"id":"b"},{"id":"n","notes":"new"}]"#,
        ])
        guard case .applied(let found) = finding else {
            Issue.record("not found: \(finding)")
            return
        }
        #expect(found.record["id"] == "n")
        #expect(requests == 3)
    }

    @Test("a record is absent when two readings show the same list")
    func absent() async throws {
        let (finding, requests) = try await finding([#"[{"id":"a"},{"id":"b"}]"#, #"[{"id":"d"}]"#])
        guard case .absent = finding else {
            Issue.record("not absent: \(finding)")
            return
        }
        #expect(requests == 4)
    }

    @Test("a list that keeps changing proves nothing")
    func restless() async throws {
        let error = await #expect(throws: UpstreamError.self) {
            try await finding([#"[{"id":"a"}]"#, #"[{"id":"b"}]"#, #"[{"id":"c"}]"#])
        }
        guard case .unclear = error else {
            Issue.record("not unclear: \(String(describing: error))")
            return
        }
    }
}
