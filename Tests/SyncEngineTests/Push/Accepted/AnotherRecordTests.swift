import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

/// What becomes of a change whose answer was lost when the upstream, asked for its record, shows another one.
@Suite("An upstream that shows another record than it is asked for")
struct AnotherRecordTests {
    private static let byKey = TestEngine.shop
        .replacing("  idempotency_header: Idempotency-Key\n", with: "")
        .replacing("call: POST /orders }", with: "call: POST /orders, look_up: key }")

    private static let withDeletion = byKey.replacing(
        #"      update: { call: "PATCH /orders/{id}" }"#,
        with: """
                  update: { call: "PATCH /orders/{id}" }
                  delete: { call: "DELETE /orders/{id}" }
            """)

    private func test(_ yaml: String = Self.byKey) async throws -> TestEngine {
        let test = try await TestEngine.with(
            orders: #"[{"id":"a","notes":"n"},{"id":"z","notes":"new","deleted_at":null}]"#, yaml)
        test.upstream.keepKeys()
        return test
    }

    @Test("a lost creation is searched in the list, and sent again if it is not there")
    func creation() async throws {
        let test = try await test()
        let body = try JSONText(parsing: #"{"id":"b","notes":"words"}"#)
        _ = try await test.store.create("orders", body: body, at: test.clock.timestamp)
        test.upstream.fail(.unclear(status: nil, "no answer"))
        test.upstream.answerRecords(with: "a")
        try await test.send()
        try await test.send(after: .seconds(10))
        #expect(try test.store.pendingCount() == PendingCount(pending: 1, failed: 0))
        test.clock.advance(by: .seconds(90))
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.records("/orders").filter { $0["id"] == "b" }.count == 1)
        #expect(try test.record("b")?["notes"] == "words")
        #expect(try test.record("a")?["notes"] == "n")
    }

    @Test("a caller who asks for a record by another value than its id is told the id")
    func number() async throws {
        let test = try await test()
        test.upstream.answerRecords(with: "a")
        let orders = try #require(try EntitySchema(yaml: Self.byKey, file: "shop.yaml")["orders"])
        guard case .failed(let words) = await test.engine.refresh(orders, key: "1486") else {
            Issue.record("the answer is another record")
            return
        }
        #expect(words.contains("orders/a") && words.contains("orders/1486"), "\(words)")
    }

    @Test("a lost edit is sent again, though another record has its values")
    func edit() async throws {
        let test = try await test()
        try await test.change("a", #"{"notes":"new"}"#)
        test.upstream.fail(.unclear(status: nil, "no answer"))
        test.upstream.answerRecords(with: "z")
        try await test.send()
        try await test.send(after: .seconds(60))
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.records("/orders").first?["notes"] == "new")
        #expect(try test.record("a")?["id"] == "a")
    }

    @Test("a deletion is not sent again: the record may have been merged into that one, which would be deleted")
    func deletion() async throws {
        let test = try await test(Self.withDeletion)
        try await test.store.delete("orders", key: "a", at: test.clock.timestamp)
        test.upstream.fail(.unclear(status: nil, "no answer"))
        test.upstream.answerRecords(with: "z")
        try await test.send()
        try await test.send(after: .seconds(60))
        #expect(try test.store.pendingCount() == PendingCount(pending: 1, failed: 0))
        #expect(test.upstream.records("/orders").count == 2)
        #expect(try test.error("message")?.contains("answered with z; if the two were merged") == true)
    }

    @Test(
        "a change that is redirected to the record into which its own was merged fails alone, and says so",
        arguments: [301, 302, 303, 307, 308], [false, true])
    func redirected(status: Int, deletes: Bool) async throws {
        let test = try await test(Self.withDeletion)
        if deletes {
            try await test.store.delete("orders", key: "a", at: test.clock.timestamp)
        } else {
            try await test.change("a", #"{"notes":"mine"}"#)
        }
        test.upstream.fail(.barred(status: status, "answered \(status) to /orders/z"))
        test.upstream.answerRecords(with: "z")
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
        #expect(try test.error("message")?.contains("answered with z, so the two may have been merged") == true)
    }

    @Test("a change that is redirected elsewhere waits: its record is where it was", arguments: [301, 302])
    func redirectedElsewhere(status: Int) async throws {
        let test = try await test()
        try await test.change("a", #"{"notes":"mine"}"#)
        test.upstream.fail(.barred(status: status, "answered \(status) to /sign-in"))
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 1, failed: 0))
        #expect(try test.error() == "barred")
    }

    @Test("a deletion is sent again if its record cannot be asked for: nothing says that it was merged")
    func unreadableDeletion() async throws {
        let test = try await test(Self.withDeletion)
        try await test.store.delete("orders", key: "a", at: test.clock.timestamp)
        test.upstream.fail(.unclear(status: nil, "no answer"))
        test.upstream.failRecords(.refused(status: nil, "nothing was sent: its URL is too long"))
        try await test.send()
        try await test.send(after: .seconds(60))
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.records("/orders").map { $0["id"] } == ["z"])
    }

    @Test("a record is not gone because another one is marked as deleted")
    func deleted() async throws {
        let test = try await test(
            Self.byKey.replacing("path: /orders\n", with: "path: /orders\n      deleted: deleted_at\n"))
        try test.upstream.set("/orders", #"[{"id":"a","notes":"n"},{"id":"z","deleted_at":"2026-01-01T00:00:00Z"}]"#)
        try await test.change("a", #"{"notes":"mine"}"#)
        test.upstream.fail(.gone(status: 404, "not found"))
        test.upstream.answerRecords(with: "z")
        try await test.send(after: .seconds(600))
        #expect(try test.store.pendingCount() == PendingCount(pending: 1, failed: 0))
        #expect(try test.record("a")?["notes"] == "mine")
    }

    // MARK: Parents

    private static let talking = TestEngine.shop
        .replacing(
            "      order_id: { type: reference, to: orders, required: true }",
            with: """
                      order_id: { type: reference, to: orders, required: true }
                      text: { type: string }
                """
        )
        .replacing(
            #"create: { call: "POST /orders/{order_id}/messages" }"#,
            with: #"create: { call: "POST /orders/{order_id}/messages", LOOK_UP }"#)

    /// A shop in which a message was made whose answer is its order.
    private func answeredWithParent(_ answer: String, _ yaml: String) async throws -> (test: TestEngine, key: String) {
        let test = try await test(yaml)
        let body = try JSONText(parsing: #"{"order_id":"a","text":"new"}"#)
        let key = try await test.store.create("messages", body: body, at: test.clock.timestamp)
        try test.upstream.answer(answer, times: 1)
        try await test.send()
        return (test, key)
    }

    @Test(
        "a creation answered with the record that it refers to does not get that one's key, but is looked up",
        arguments: [#"{"id":"a","text":"the order's"}"#, #"{"id":"a","notes":"n"}"#])
    func parent(_ answer: String) async throws {
        let lookUp = #"look_up: { match: [text], path: "/orders/{order_id}/messages" }"#
        let (test, key) = try await answeredWithParent(answer, Self.talking.replacing("LOOK_UP", with: lookUp))
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try test.record(key, "messages")?["text"] == "new")
        #expect(try test.record("a", "messages") == nil)
        #expect(test.upstream.pushes.count == 1)
    }

    @Test("without a look-up it is left to a person, unless the answer may be about the new record")
    func parentWithoutLookUp() async throws {
        let yaml = Self.talking.replacing(", LOOK_UP", with: "")
        let (other, _) = try await answeredWithParent(#"{"id":"a","text":"the order's"}"#, yaml)
        #expect(try other.error() == "unclear")
        #expect(try other.error("message")?.contains("which is that of a record that this one refers to") == true)
        // Messages and orders may have the same numbers, and no order refers to itself.
        for text in ["new", "the upstream's words"] {
            let answer = #"{"id":"a","order_id":"a","text":"\#(text)"}"#
            let (same, key) = try await answeredWithParent(answer, yaml)
            #expect(try same.store.pendingCount() == PendingCount(pending: 0, failed: 0))
            #expect(try same.record(key, "messages")?["id"] == "a")
        }
    }

    @Test("an edit answered with the record that it refers to, which has the same key, does not get that one's values")
    func parentOfEdit() async throws {
        let yaml = TestEngine.shop.replacing(
            "    pull: { path: /parts }",
            with: """
                      order_id: { type: reference, to: orders }
                      text: { type: string }
                    pull: { path: /parts }
                    push: { update: { call: "PATCH /parts/{id}" } }
                """)
        let test = try await test(yaml)
        let part = #"[{"id":"a","order_id":"a","text":"old","notes":"the part's"}]"#
        try test.upstream.set("/parts", part)
        _ = try await test.store.apply(PulledPage(entity: "parts", records: part), at: test.clock.timestamp)
        let body = try JSONText(parsing: #"{"text":"new"}"#)
        try await test.store.update("parts", key: "a", body: body, at: test.clock.timestamp)
        try test.upstream.answer(#"{"id":"a","notes":"the order's","parts":[{"text":"new"}]}"#, times: 1)
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try test.record("a", "parts")?["notes"] == "the part's")
        #expect(try test.record("a", "parts")?["text"] == "new")
    }

    @Test("a creation answered with an older record names that one as long as it is looked for, and once it has failed")
    func named() async throws {
        let test = try await test(TestEngine.shopWithLookUp)
        let body = try JSONText(parsing: #"{"notes":"mine"}"#)
        _ = try await test.store.create("orders", body: body, at: test.clock.timestamp)
        try test.upstream.answer(#"{"id":"a","notes":"n"}"#, times: 1, applying: false)
        for number in 0...7 {
            test.upstream.failList("/orders", number == 2 ? .unclear(status: 503, "down, and back soon") : nil)
            try await test.send(after: .seconds(600 * number))
            let message = try #require(try test.error("message"))
            #expect(message.contains("orders/a, which was there before") && message.contains("down") == (number == 2))
        }
        #expect(try test.error() == "unclear")
    }

    // MARK: Records that the cache does not know

    @Test("a creation answered with an old record that the cache lacks, such as an archived one, does not become it")
    func longSince() async throws {
        let yaml = TestEngine.shop.replacing(
            "      notes: { type: string }\n", with: "      notes: { type: string }\n      phone: { type: string }\n")
        // A day has no hour, and may be the one before in the upstream's zone.
        let times = [("2026-01-01T09:00:00Z", false), ("2026-11-21T09:00:00Z", true), ("2026-11-20", true)]
        for (changed, isOwn) in times {
            let test = try TestEngine(schema: yaml, clockOffset: { .zero })
            let body = try JSONText(parsing: #"{"notes":"mine","phone":"555"}"#)
            _ = try await test.store.create("orders", body: body, at: test.clock.timestamp)
            let answer = #"{"id":"x","notes":"theirs","phone":"555","updated_at":"\#(changed)"}"#
            try test.upstream.answer(answer, times: 1, applying: false)
            try await test.running { try await test.until { try test.store.pendingCount().pending == 0 } }
            #expect(try test.store.pendingCount().failed == (isOwn ? 0 : 1))
            #expect((try test.record("x") != nil) == isOwn)
            if !isOwn { #expect(try test.error("message")?.contains("orders/x, which was there before") == true) }
        }
    }
}
