import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

/// What a change is sent as while a later edit of the same fields waits behind it.
@Suite("Changes with later edits behind them")
struct LaterEditTests {
    private static let workflow = TestEngine.shop
        .replacing(
            "notes: { type: string }",
            with: """
                notes: { type: string }
                      status: { type: enum, steps: true, values: { open: Open, ready: Ready, done: Done } }
                """
        )
        .replacing(
            "create: { call: POST /orders }",
            with: """
                create:
                        - { call: POST /express, when: { notes: express } }
                        - { call: POST /orders }
                """
        )
        .replacing(
            #"update: { call: "PATCH /orders/{id}" }"#,
            with: """
                update:
                        - { call: "POST /orders/{id}/ready", when: { status: ready }, fields: [status], body: {} }
                        - { call: "POST /orders/{id}/done", when: { status: done }, fields: [status], body: {} }
                        - { call: "PATCH /orders/{id}", fields: [notes] }
                """)

    private func record(_ status: String) -> String { #"{"id":"a","notes":"n","status":"\#(status)"}"# }

    private func test() async throws -> TestEngine {
        let test = try TestEngine(schema: Self.workflow)
        let records = "[\(record("open"))]"
        try test.upstream.set("/orders", records)
        _ = try await test.store.apply(PulledPage(entity: "orders", records: records), at: test.clock.timestamp)
        return test
    }

    /// Answers the next two actions.
    private func answerSteps(_ test: TestEngine) throws {
        for status in ["ready", "done"] { try test.upstream.answer(record(status), times: 1, applying: false) }
    }

    private func paths(_ test: TestEngine) -> [String] { test.upstream.pushes.map(\.request.path) }

    @Test("each step calls the action of its own value")
    func steps() async throws {
        let test = try await test()
        try answerSteps(test)
        try await test.change("a", #"{"status":"ready"}"#)
        try await test.change("a", #"{"status":"done"}"#)
        for _ in 1...2 { try await test.send() }
        #expect(paths(test) == ["/orders/a/ready", "/orders/a/done"])
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
    }

    @Test("a step that is taken back before it is sent calls nothing, and leaves the queue")
    func takenBack() async throws {
        let test = try await test()
        try answerSteps(test)
        try await test.change("a", #"{"status":"ready"}"#)
        try await test.send()
        try test.upstream.set("/orders", "[\(record("ready"))]")
        for status in ["done", "ready"] { try await test.change("a", #"{"status":"\#(status)"}"#) }
        try await test.send()
        #expect(paths(test) == ["/orders/a/ready"])
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
    }

    @Test("a step that is taken back after an earlier one is not sent twice")
    func takenBackLater() async throws {
        let test = try await test()
        try answerSteps(test)
        for status in ["ready", "done", "ready"] { try await test.change("a", #"{"status":"\#(status)"}"#) }
        try await test.send()
        try test.upstream.set("/orders", "[\(record("ready"))]")
        try await test.send()
        #expect(paths(test) == ["/orders/a/ready"])
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
    }

    @Test("an action whose answer was lost is repeated as the same action")
    func repeatedAction() async throws {
        let test = try await test()
        try await test.change("a", #"{"status":"ready"}"#)
        test.upstream.fail(.unclear(status: nil, "no answer"))
        try await test.send()
        try answerSteps(test)
        // A repeat is followed by a reading.
        try test.upstream.set("/orders", "[\(record("ready"))]")
        try await test.change("a", #"{"status":"done"}"#)
        for _ in 1...2 { try await test.send() }
        #expect(paths(test) == ["/orders/a/ready", "/orders/a/ready", "/orders/a/done"])
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
    }

    @Test("a creation whose answer was lost is repeated by the same route")
    func repeatedCreation() async throws {
        let test = try await test()
        let body = JSONText.object(["notes": "plain"])
        let key = try await test.store.create("orders", body: body, at: test.clock.timestamp)
        test.upstream.fail(.unclear(status: nil, "no answer"))
        try await test.send()
        try await test.change(key, #"{"notes":"express"}"#)
        try await test.send()
        #expect(paths(test) == ["/orders", "/orders"])
    }
}
