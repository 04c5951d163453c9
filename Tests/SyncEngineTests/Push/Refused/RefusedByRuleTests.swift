import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("A 409 that is about a rule of the server")
struct RefusedByRuleTests {
    private func test(_ yaml: String) async throws -> TestEngine {
        let test = try TestEngine(schema: yaml)
        try test.upstream.set("/orders", #"[{"id":"a","notes":"n"}]"#)
        _ = try await test.store.apply(
            PulledPage(entity: "orders", records: #"[{"id":"a","notes":"n"}]"#), at: test.clock.timestamp)
        return test
    }

    @Test("a change that is answered 409 twice fails if no one else has changed the record", arguments: [409, 412])
    func rule(_ status: Int) async throws {
        for operation in [Operation.update, .delete] {
            let route = #"delete: { call: "DELETE /orders/{id}" }"#
            let test = try await test(TestEngine.shop.replacing("create: { call: POST /orders }", with: route))
            if operation == .update {
                try await test.change("a", #"{"notes":"mine"}"#)
            } else {
                try await test.store.delete("orders", key: "a", at: test.clock.timestamp)
            }
            try test.upstream.set("/orders", #"[{"id":"a","notes":"n","total":5}]"#)
            test.upstream.fail(.changed(status: status, "it was paid"), times: 9)
            for _ in 1...9 { try await test.send() }
            #expect(test.upstream.pushes.count == (status == 409 ? 2 : 3))
            #expect(try test.store.pendingCount().failed == 1)
            #expect(try test.error() == (status == 409 ? "refused" : "conflict"))
        }
    }

    @Test("a change whose body names a version is sent again as often as others change the record first")
    func versionInBody() async throws {
        let update = #"update: { call: "PATCH /orders/{id}""#
        let test = try await test(
            TestEngine.shop
                .replacing("\(update) }", with: #"\#(update), body: { <<: $fields, rev: "{revision}" } }"#)
                .replacing("      notes:", with: "      revision: { type: integer }\n      notes:"))
        func serve(_ revision: Int) throws {
            try test.upstream.set("/orders", #"[{"id":"a","notes":"n","revision":\#(revision)}]"#)
        }
        try await test.change("a", #"{"notes":"mine"}"#)
        test.upstream.fail(.changed(status: 400, "stale"), times: 2)
        for revision in 2...4 {
            try serve(revision)
            try await test.send()
        }
        #expect(test.upstream.pushes.count == 3)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
    }

    @Test(
        "a change that sends a version is not refused while the record that is read may be behind",
        arguments: [#"PATCH /orders/{id}", body: { <<: $fields, rev: "{revision}" }"#, #"PUT /orders/{id}""#],
        [false, true])
    func staleReading(_ call: String, _ isSettled: Bool) async throws {
        let test = try await test(
            TestEngine.shop
                .replacing(#"update: { call: "PATCH /orders/{id}" }"#, with: "update: { call: \"\(call) }")
                .replacing("      notes:", with: "      revision: { type: integer }\n      notes:"))
        try await failsOnceSettled(test, .changed(status: 400, "stale"), isSettled)
    }

    @Test("where changes name a version, a 409 counts as a rule once the record has settled", arguments: [false, true])
    func ruleWithVersions(_ isSettled: Bool) async throws {
        let test = try await test(
            TestEngine.shop
                .replacing("  pagination:", with: "  version: { field: revision, header: X-Revision }\n  pagination:")
                .replacing("      notes:", with: "      revision: { type: integer }\n      notes:"))
        try await failsOnceSettled(test, .changed(status: 409, "it was paid"), isSettled)
    }

    /// Sends an edit of a record with a revision, whose every attempt ends with `error`: it waits until the record has settled, and
    /// has failed then.
    private func failsOnceSettled(_ test: TestEngine, _ error: UpstreamError, _ isSettled: Bool) async throws {
        let record = #"[{"id":"a","notes":"n","revision":7}]"#
        try test.upstream.set("/orders", record)
        _ = try await test.store.apply(PulledPage(entity: "orders", records: record), at: test.clock.timestamp)
        try await test.change("a", #"{"notes":"mine"}"#)
        test.upstream.fail(error, times: 9)
        try await test.send()
        try await test.send(after: .seconds(isSettled ? 70 : 5))
        let count = try test.store.pendingCount()
        #expect(count == (isSettled ? PendingCount(pending: 0, failed: 1) : PendingCount(pending: 1, failed: 0)))
    }
}
