import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("Another window than that of the last pull")
struct WindowChangeTests {
    private static let now = "2026-01-31T00:00:00Z"

    private func changing(_ yaml: String) -> String {
        yaml.replacing(
            "notes: { type: string }",
            with: "notes: { type: string }\n      number: { type: integer }\n      created_at: { type: time }")
    }

    private func pull(_ window: String, until: String? = "{$until}") -> String {
        let query = until.map { ", query: { before: \"\($0)\" }" } ?? ""
        return "since: { param: since, field: updated_at, overlap: 10s }\(query), where: \(window)"
    }

    private func days(_ count: Int) -> String { "{ created_at.gte: \"{$now-\(count)d}\" }" }

    private func cache(_ window: String) throws -> TestPull {
        let test = try TestPull(pull(window), changing: changing)
        test.serverNow.set(Self.now)
        try serve(test)
        return test
    }

    private func restarted(_ test: TestPull, _ window: String, until: String? = "{$until}") throws -> TestPull {
        let new = try TestPull(test, pull(window, until: until), changing: changing)
        new.serverNow.set(Self.now)
        try serve(new)
        return new
    }

    private func record(_ id: String, created: String, at time: String = "2026-01-30T00:00:00Z") -> String {
        #"{"id":"\#(id)","number":1,"created_at":"\#(created)","updated_at":"\#(time)"}"#
    }

    /// Three orders, of which one has a change time before all pulls.
    private func serve(_ test: TestPull) throws {
        let records = [
            record("new", created: "2026-01-30T00:00:00Z"), record("week", created: "2026-01-25T00:00:00Z"),
            record("old", created: "2026-01-05T00:00:00Z", at: "2026-01-05T00:00:00Z"),
        ]
        try test.upstream.serve(["[\(records.joined(separator: ","))]"], total: 3, singles: true)
    }

    private func sweep(_ test: TestPull) async throws {
        _ = try await WindowSweep(puller: test.puller()).run()
    }

    @Test("a narrower window asks only for what changed, and the rest leaves")
    func narrowed() async throws {
        let first = try cache(days(30))
        try await first.pull()
        #expect(try first.keys() == ["new", "week", "old"])
        let second = try restarted(first, days(7))
        try await second.pull()
        try await sweep(second)
        #expect(second.upstream.requests.map { $0.since == nil } == [false])
        #expect(second.upstream.reads.isEmpty)
        #expect(try second.keys() == ["new", "week"])
        second.upstream.forget()
        try await second.pull()
        #expect(second.upstream.requests.first?.since != nil)
    }

    /// The bound has 30 s and 1 s more, for a time that is measured again and for an upstream that leaves out the bound.
    @Test("a wider window asks for what is below the old bound, then for what changed")
    func widened() async throws {
        let first = try cache(days(3))
        try await first.pull()
        #expect(try first.keys() == ["new"])
        let watermark = try first.cursor.watermark
        let second = try restarted(first, days(30))
        let summary = try await second.pull()
        #expect(second.upstream.requests.map(\.values.until) == ["2026-01-28T00:00:31.000Z", nil])
        #expect(second.upstream.requests.map { $0.since == nil } == [true, false])
        #expect(summary.written == 2)
        #expect(try second.keys() == ["new", "week", "old"])
        #expect(try second.cursor.watermark == watermark, "old records have not moved it")
        #expect(try second.cursor.lateness == 0, "nor are they late")
        second.upstream.forget()
        try await second.pull()
        #expect(second.upstream.requests.map(\.values.until) == [nil])
    }

    @Test("a wider window without a bound to ask with reads the whole list")
    func whole() async throws {
        let first = try cache(days(3))
        try await first.pull()
        let second = try restarted(first, days(30), until: nil)
        try await second.pull()
        #expect(second.upstream.requests.map { $0.since == nil } == [true])
        #expect(try second.keys() == ["new", "week", "old"])
    }

    @Test("a window that tests another field reads the whole list, which shows whether it has that")
    func otherField() async throws {
        let first = try cache(days(30))
        try await first.pull()
        let second = try restarted(first, "{ created_at.gte: \"{$now-30d}\", number: 1 }")
        try await second.pull()
        #expect(second.upstream.requests.first?.since == nil)
        #expect(second.upstream.requests.first?.values.until == nil)
    }

    @Test("nothing leaves before a pull with the new window, so that the old one can be set again")
    func setBack() async throws {
        let first = try cache(days(30))
        try await first.pull()
        let second = try restarted(first, days(7))
        second.upstream.answering { _ in .failure(.unclear(status: 500, "oops")) }
        await #expect(throws: UpstreamError.self) { try await second.pull() }
        try await sweep(second)
        let third = try restarted(second, days(30))
        try await third.pull()
        #expect(third.upstream.requests.first?.since != nil)
        #expect(try third.keys() == ["new", "week", "old"])
    }

    @Test("a wider window that was cut off goes on with the same part")
    func cutOff() async throws {
        let first = try cache(days(3))
        try await first.pull()
        let second = try restarted(first, days(30))
        let page = try JSONText(parsing: "[\(record("week", created: "2026-01-25T00:00:00Z"))]")
        second.upstream.answering { request in
            guard request.position == nil else { return .failure(.offline("gone")) }
            return .success(Page(records: page, count: 1, total: 3, next: "2"))
        }
        await #expect(throws: UpstreamError.self) { try await second.pull() }
        #expect(try second.cursor.pull?.kind == .widening)
        let third = try restarted(second, days(30))
        try await third.pull()
        #expect(third.upstream.requests.first?.position == "2")
        #expect(third.upstream.requests.first?.values.until == "2026-01-28T00:00:31.000Z")
        #expect(third.upstream.requests.last?.since != nil)
        #expect(try third.keys() == ["new", "week", "old"])
    }

    @Test("a queued change keeps its record in a narrower window until it is done")
    func queued() async throws {
        let first = try cache(days(30))
        try await first.pull()
        _ = try await first.store.update(
            "orders", key: "old", body: .object(["notes": "mine"]), at: first.clock.timestamp)
        let second = try restarted(first, days(7))
        try await second.pull()
        try await sweep(second)
        #expect(try second.keys() == ["new", "week", "old"])
    }
}
