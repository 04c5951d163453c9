import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("What is fetched for a record that has just changed")
struct FreshParentTests {
    private static func pull(_ detail: String) -> String {
        "since: { param: since, field: updated_at }, detail: { \(detail), when_changed: updated_at }"
    }

    private static let list = #"path: "/orders/{id}/messages", into: messages"#
    private static let single = "read: single, into: { messages: messages }"

    private func pull(_ test: TestPull) async throws {
        try await test.pull()
        try await test.pullDetails()
    }

    /// Lists an order that changes now and an older one. `messages` is the answer to the first one's; nil is 404.
    private func serve(_ messages: String?, _ test: TestPull, at time: Timestamp) throws {
        let orders = try JSONText(
            parsing: #"[{"id":"a","updated_at":"\#(time.description)"},{"id":"b","updated_at":"2026-01-01"}]"#)
        let children = try messages.map { try JSONText(parsing: $0) }
        test.upstream.answering { request in
            if request.path == "/orders" { return .success(Page(records: orders, count: 2)) }
            let found = request.path == "/orders/a/messages" ? children : .array([JSONText]())
            guard let found else { return .failure(.gone(status: 404, "no such order")) }
            return .success(Page(records: found, count: found.elements.count))
        }
    }

    @Test("children that a server does not show yet come with the next pull", arguments: [nil, "[]"] as [String?])
    func list(_ early: String?) async throws {
        let test = try TestPull(Self.pull(Self.list))
        let time = test.clock.timestamp
        try serve(early, test, at: time)
        try await pull(test)
        #expect(try test.keys("messages").isEmpty)
        test.clock.advance(by: .seconds(61))
        try serve(#"[{"id":"m"}]"#, test, at: time)
        try await pull(test)
        #expect(try test.keys("messages") == ["m"])
        test.upstream.forget()
        try await test.pullDetails()
        #expect(test.upstream.requests.isEmpty, "once the time to settle is over, what came counts")
    }

    @Test("so does a single record of which a server is behind", arguments: [nil, "2026-01-02"] as [String?])
    func single(_ earlier: String?) async throws {
        let test = try TestPull(Self.pull(Self.single))
        let time = test.clock.timestamp
        try serve("[]", test, at: time)
        let old = earlier.map { #"{"id":"a","updated_at":"\#($0)","messages":[]}"# }
        let other = #"{"id":"b","updated_at":"2026-01-01","messages":[]}"#
        test.upstream.serveSingles { _, key in .success(key == "a" ? old : other) }
        try await pull(test)
        #expect(try test.keys("messages").isEmpty)
        test.clock.advance(by: .seconds(61))
        let new = #"{"id":"a","updated_at":"\#(time.description)","messages":[{"id":"m"}]}"#
        test.upstream.serveSingles { _, key in .success(key == "a" ? new : other) }
        try await pull(test)
        #expect(try test.keys("messages") == ["m"])
        let reads = test.upstream.reads.count
        try await pull(test)
        #expect(test.upstream.reads.count == reads)
    }
}
