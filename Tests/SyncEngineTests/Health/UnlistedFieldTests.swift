import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

/// Fields that only the record's own address shows: a pull does not tell whether others have changed them.
@Suite("Edits of fields that lists leave out")
struct UnlistedFieldTests {
    private static func shop(detail: String) -> String {
        TestEngine.shop.replacing(
            "      notes: { type: string }\n",
            with: "      notes: { type: string }\n      place: { type: string, from: address.place }\n"
        ).replacing(
            #"detail: { path: "/orders/{id}/messages", into: messages, when_changed: updated_at }"#, with: detail)
    }

    /// The cache has the record as its list and its own address showed it; upstream others have changed it since.
    private func test(
        list: String = #"{"id":"a","updated_at":"2026-01-01T00:00:00Z"}"#,
        detail: String = "detail: { read: single, when_changed: any, into: { messages: messages } }",
        method: String = "PATCH"
    ) async throws -> TestEngine {
        let schema = Self.shop(detail: detail).replacing("PATCH /orders/{id}", with: "\(method) /orders/{id}")
        let test = try TestEngine(schema: schema)
        let whole = #"{"id":"a","updated_at":"2026-01-01T00:00:00Z","notes":"n","address":{"place":"p"}}"#
        for (record, view) in [(list, RecordView.list), (whole, .single)] {
            _ = try await test.store.apply(
                PulledPage(entity: "orders", records: "[\(record)]", view: view), at: test.clock.timestamp)
        }
        let theirs = #"{"id":"a","updated_at":"2026-01-01T00:00:00Z","notes":"theirs","address":{"place":"theirs"}}"#
        try test.upstream.set("/orders", "[\(theirs)]")
        return test
    }

    @Test(
        "a fresh edit is merged with what others wrote before it is sent",
        arguments: [(#"{"notes":"mine"}"#, "notes"), (#"{"place":"mine"}"#, "place")])
    func merged(body: String, field: String) async throws {
        let test = try await test()
        try await test.change("a", body)
        try await test.send()
        #expect(test.upstream.recordRequests == 1)
        let conflict = try #require(try test.store.conflicts(before: nil, open: false, limit: 9).conflicts.first)
        #expect(conflict["field"]?.string == field)
        #expect(conflict["server"] == "theirs")
    }

    @Test("an edit of a field that the list shows is sent at once", arguments: ["notes", "address"])
    func listed(shown: String) async throws {
        let list = #"{"id":"a","updated_at":"2026-01-01T00:00:00Z","notes":"n","address":{"place":"p"}}"#
        let test = try await test(list: list)
        try await test.change("a", shown == "notes" ? #"{"notes":"mine"}"# : #"{"place":"mine"}"#)
        try await test.send()
        #expect(test.upstream.recordRequests == 0)
        #expect(test.upstream.pushes.count == 1)
    }

    @Test("an edit is sent at once if a change time tells when to read the record")
    func timed() async throws {
        let test = try await test(
            detail: "detail: { read: single, when_changed: updated_at, into: { messages: messages } }")
        try await test.change("a", #"{"notes":"mine"}"#)
        try await test.send()
        #expect(test.upstream.recordRequests == 0)
        #expect(test.upstream.records("/orders").first?["notes"] == "mine")
    }

    @Test(
        "a reading that failed is made again before the edit is sent",
        arguments: [
            UpstreamError.unclear(status: 503, "down"), .barred(status: 302, "sign in"), .malformed("cut off"),
        ])
    func failedReading(error: UpstreamError) async throws {
        let test = try await test()
        test.upstream.failRecords(error)
        try await test.change("a", #"{"notes":"mine"}"#)
        try await test.send()
        test.upstream.failRecords(nil)
        try await test.send(after: .seconds(100))
        #expect(test.upstream.recordRequests == 2)
        #expect(try test.store.conflicts(before: nil, open: false, limit: 9).conflicts.count == 1)
    }

    @Test(
        "an edit is sent unread if its record still cannot be read after the time to settle, unless it sends the whole record",
        arguments: [("PATCH", 500, 1), ("PATCH", nil, 1), ("PUT", 500, 0)] as [(String, Int?, Int)])
    func brokenReading(method: String, status: Int?, pushes: Int) async throws {
        let test = try await test(method: method)
        test.upstream.failRecords(.unclear(status: status, "broken"))
        try await test.change("a", #"{"notes":"mine"}"#)
        for second in [0, 30] { try await test.send(after: .seconds(second)) }
        #expect(test.upstream.pushes.isEmpty)
        try await test.send(after: .seconds(61))
        #expect(test.upstream.pushes.count == pushes)
        #expect(try test.store.pendingCount().pending == 1 - pushes)
    }

    @Test("a whole record that cannot be read for a day is left to a person, who is told why it is read")
    func brokenForADay() async throws {
        let test = try await test(method: "PUT")
        test.upstream.failRecords(.unclear(status: 500, "broken"))
        try await test.change("a", #"{"notes":"mine"}"#)
        for hour in [0, 23] {
            try await test.send(after: .seconds(hour * 3600))
            #expect(try test.store.pendingCount() == PendingCount(pending: 1, failed: 0))
        }
        #expect(try test.error("message")?.contains("body: $fields") == true)
        try await test.send(after: .seconds(25 * 3600))
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
        #expect(test.upstream.pushes.isEmpty)
    }

    @Test(
        "but not soon after an outage, nor by the change that finds out whether one is over", arguments: [true, false])
    func unreadAfterOutage(isTrial: Bool) async throws {
        let test = try await test(method: "PUT")
        test.upstream.failRecords(.unclear(status: 500, "broken"))
        try await test.change("a", #"{"notes":"mine"}"#)
        try await test.send()
        let now = test.clock.timestamp + .seconds(25 * 3600)
        var pusher = test.pusher(at: now, callableSince: isTrial ? test.clock.timestamp : now - .seconds(599))
        pusher.isTrial = isTrial
        let change = try #require(try test.store.readyChanges(limit: 1, at: now).first)
        _ = try await pusher.send(change)
        #expect(try test.store.pendingCount() == PendingCount(pending: 1, failed: 0))
    }

    private static func replacing(version: String) -> String {
        TestEngine.shop
            .replacing("  pagination:", with: "  version: \(version)\n  pagination:")
            .replacing("      notes:", with: "      revision: { type: integer }\n      notes:")
            .replacing("PATCH /orders/{id}", with: "PUT /orders/{id}")
    }

    @Test("a whole record is read before it is sent with the version that its list shows, which leaves out members")
    func wholeWithVersion() async throws {
        let schema = Self.replacing(version: "{ field: revision, header: If-Match }")
        let test = try await TestEngine.with(orders: #"[{"id":"a","notes":"n","revision":7}]"#, schema)
        try test.upstream.set("/orders", #"[{"id":"a","notes":"n","revision":7,"due":"monday"}]"#)
        try await test.change("a", #"{"notes":"mine"}"#)
        try await test.send()
        let body = try #require(test.upstream.pushes.first?.request.body)
        #expect(body["notes"] == "mine")
        #expect(body["due"] == "monday")
    }

    @Test("so is a new one with the ETag of an answer that had only a part of it")
    func wholeAfterPart() async throws {
        let test = try TestEngine(schema: Self.replacing(version: "{ etag: true }"))
        let now = test.clock.timestamp
        _ = try await test.store.create("orders", body: JSONText(parsing: #"{"notes":"new"}"#), at: now)
        let creation = try #require(try test.store.readyChanges(limit: 1, at: now).first)
        #expect(try await test.store.begin(creation, at: now))
        let answer = try JSONText(parsing: #"{"id":"a","notes":"new"}"#)
        try await test.store.finish(
            creation.id, .acknowledged(record: answer, version: "\"1\""), takingBack: false, at: now)
        try test.upstream.set("/orders", #"[{"id":"a","notes":"new","due":"monday"}]"#)
        try await test.change("a", #"{"notes":"mine"}"#)
        try await test.send()
        let body = try #require(test.upstream.pushes.first?.request.body)
        #expect(body["notes"] == "mine")
        #expect(body["due"] == "monday")
    }
}
