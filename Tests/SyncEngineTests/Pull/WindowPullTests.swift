import EntitySchema
import JSONText
import Logging
import SchemaDrift
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("Pulling what a window includes")
struct WindowPullTests {
    private static let since = "since: { param: since, field: updated_at, overlap: 10s }"

    private func test(_ window: String, store: TestPull? = nil) throws -> TestPull {
        try TestPull("\(Self.since), where: \(window)") {
            $0.replacing("notes: { type: string }", with: "notes: { type: string, index: true }")
        }
    }

    /// The same cache with another window.
    private func changed(_ test: TestPull, to window: String) throws -> TestPull {
        try TestPull(test, "\(Self.since), where: \(window)") {
            $0.replacing("notes: { type: string }", with: "notes: { type: string, index: true }")
        }
    }

    private func record(_ id: String, _ notes: String, at time: String = "2026-01-01T00:00:00Z") -> String {
        #"{"id":"\#(id)","notes":"\#(notes)","updated_at":"\#(time)"}"#
    }

    private func sweep(_ test: TestPull) async throws -> [String: Int] {
        try await WindowSweep(puller: test.puller()).run().left
    }

    @Test("the rest of an unfiltered list is no absence, and the cursor knows how much there is")
    func unfiltered() async throws {
        let test = try test("{ notes: mine }")
        try test.upstream.serve(
            ["[\(record("a", "mine")),\(record("b", "yours"))]", "[\(record("c", "mine"))]"], total: 3, singles: true)
        let summary = try await test.pull()
        #expect(!summary.hasGap)
        #expect(try test.keys() == ["a", "c"])
        #expect(try test.cursor.total == 3)
        #expect(try test.cursor.window != nil)
        let again = try await test.pull(full: true)
        #expect(again.deleted == 0)
        #expect(again.held == 0)
    }

    @Test("a list that shows nothing because everything left is not held")
    func emptied() async throws {
        let test = try test("{ updated_at.gte: \"{$now-1d}\" }")
        test.serverNow.set("2026-01-01T10:00:00Z")
        try test.upstream.serve(["[\(record("a", "x")),\(record("b", "x"))]"], total: 2)
        try await test.pull(full: true)
        #expect(try test.keys() == ["a", "b"])
        test.serverNow.set("2026-01-03T10:00:00Z")
        try test.upstream.serve(["[]"], total: 0)
        let summary = try await test.pull(full: true)
        #expect(summary.held == 0)
        #expect(summary.deleted == 0)
        #expect(test.upstream.reads.isEmpty)
        #expect(try await sweep(test) == ["orders": 2])
        #expect(try test.cursor.held == nil)
    }

    @Test("the server's time says which records a list need not show, outside of pulls too")
    func serverTime() async throws {
        let test = try test("{ updated_at.gte: \"{$now-5d}\" }, record: none")
        let now = test.clock.timestamp
        let left = record("a", "x", at: now.description)
        let shown = record("b", "x", at: (now + .seconds(9 * 86_400)).description)
        _ = try await test.store.apply(PulledPage(entity: "orders", records: "[\(left),\(shown)]"), at: now)
        try test.upstream.serve(["[\(shown)]"], total: 1)
        let environment = SyncEnvironment(
            store: test.store, upstream: test.upstream, settings: SyncSettings(),
            time: SyncTime(clock: test.clock, now: { now }, serverOffset: { .seconds(10 * 86_400) }), random: { 0.5 },
            callbacks: SyncCallbacks(), log: .silent)
        let orders = try #require(test.schema["orders"])
        let known = try #require(try test.store.remote(of: "orders", key: "a"))
        let verdict = try await AbsenceJudge(environment, test.upstream).verdict(on: known, of: orders)
        #expect(verdict == .cannotSay("orders/a is outside of pull.where, so its list need not show it"))
    }

    @Test("a record that is gone from an empty list goes, though another one outside of the window is gone too")
    func goneBesideAnother() async throws {
        let test = try test("{ updated_at.lt: \"{$now-1h}\" }")
        test.serverNow.set("2026-01-01T10:00:00Z")
        let messages = try #require(test.schema["messages"])
        _ = try await test.store.apply(
            PulledPage(entity: "messages", records: #"[{"id":"m"}]"#), at: test.clock.timestamp)
        // The second one is cached because it was asked for.
        let cached = "[\(record("a", "x")),\(record("b", "x", at: "2026-01-01T09:30:00Z"))]"
        _ = try await test.store.apply(PulledPage(entity: "orders", records: cached), at: test.clock.timestamp)
        try test.upstream.serveSingles(of: cached)
        let orders = try #require(test.schema["orders"])
        #expect(try await test.puller().judge.read(.object(["id": "a"]), of: orders) != nil)
        test.clock.advance(by: .seconds(3600))
        let listed = try JSONText(parsing: #"[{"id":"m"}]"#)
        test.upstream.answering { request in
            .success(
                request.path == messages.pull?.path ? Page(records: listed, count: 1) : Page(records: "[]", count: 0))
        }
        try test.upstream.serveSingles(of: "[]")
        let summary = try await test.pull(full: true)
        #expect(summary.deleted == 1 && summary.held == 0)
        #expect(try test.keys() == ["b"])
    }

    @Test("what a wrong time took out of the window comes back with the first pull at the right time")
    func wrongTime() async throws {
        let test = try test("{ updated_at.gte: \"{$now-1d}\" }")
        test.serverNow.set("2026-01-01T10:00:00Z")
        try test.upstream.serve(["[\(record("a", "x")),\(record("b", "x"))]"], total: 2)
        try await test.pull()
        test.serverNow.set("2026-01-11T10:00:00Z")
        #expect(try await sweep(test) == ["orders": 2])
        test.serverNow.set("2026-01-01T10:10:00Z")
        test.upstream.forget()
        try await test.pull()
        #expect(test.upstream.requests.first?.since == nil)
        #expect(try test.keys() == ["a", "b"])
        test.upstream.forget()
        try await test.pull()
        #expect(test.upstream.requests.first?.since != nil, "once")
    }

    @Test("what a pull at a wrong time left out comes with the first pull at the right time")
    func wrongTimeOfPull() async throws {
        let test = try test("{ updated_at.gte: \"{$now-1d}\" }")
        test.serverNow.set("2026-01-11T10:00:00Z")
        try test.upstream.serve(["[\(record("a", "x"))]"], total: 1)
        try await test.pull()
        #expect(try test.keys().isEmpty)
        test.serverNow.set("2026-01-01T10:10:00Z")
        test.upstream.forget()
        try await test.pull()
        #expect(test.upstream.requests.first?.since == nil, "its change time is not new")
        #expect(try test.keys() == ["a"])
    }

    @Test("another window reads the list once, takes in what it includes and drops the rest")
    func widened() async throws {
        let first = try test("{ notes: mine }")
        try first.upstream.serve(["[\(record("a", "mine")),\(record("b", "yours"))]"], total: 2, singles: true)
        try await first.pull()
        #expect(try first.keys() == ["a"])
        let second = try changed(first, to: "{ notes: yours }")
        try second.upstream.serve(["[\(record("a", "mine")),\(record("b", "yours"))]"], total: 2, singles: true)
        try await second.pull()
        #expect(second.upstream.requests.first?.since == nil)
        #expect(try await sweep(second) == ["orders": 1])
        #expect(try second.keys() == ["b"])
        second.upstream.forget()
        try await second.pull()
        #expect(second.upstream.requests.first?.since != nil)
    }

    @Test("a full pull that was cut off under another window starts over")
    func cutOff() async throws {
        let first = try test("{ notes: mine }")
        let pages = ["[\(record("a", "mine")),\(record("b", "yours"))]", "[\(record("c", "yours"))]"]
        first.upstream.answering { request in
            if request.position != nil { return .failure(.offline("gone")) }
            guard let records = try? JSONText(parsing: pages[0]) else { return .failure(.offline("")) }
            return .success(Page(records: records, count: 2, total: 3, next: "2"))
        }
        await #expect(throws: UpstreamError.self) { try await first.pull() }
        #expect(try first.cursor.pull?.position == "2")
        let second = try changed(first, to: "{ notes: yours }")
        try second.upstream.serve(pages, total: 3, singles: true)
        try await second.pull()
        #expect(second.upstream.positions.first == .some(nil))
        _ = try await sweep(second)
        #expect(try second.keys() == ["b", "c"])
        #expect(try second.cursor.window?.contains("yours") == true)
    }

    private func note(_ id: String) -> String { #"{"id":"\#(id)","updated_at":"2026-01-01T00:00:00Z"}"# }

    @Test("no cached record leaves because a list of cached records alone no longer shows the member")
    func hidden() async throws {
        let test = try test("{ notes: mine }")
        try test.upstream.serve(["[\(record("a", "mine"))]"], total: 1, singles: true)
        try await test.pull()
        try test.upstream.serve(["[\(note("a"))]"], total: 1, singles: true)
        try await test.pull(full: true)
        #expect(try await sweep(test) == [:])
        #expect(try test.keys() == ["a"])
        #expect(try test.cursor.held?.contains("none of its records has notes") == true)
    }

    @Test("a list whose records lack the member that the window tests is said, and no cached record leaves for that")
    func untested() async throws {
        let test = try test("{ notes: mine }")
        try test.upstream.serve(["[\(record("a", "mine"))]"], total: 1, singles: true)
        try await test.pull()
        try test.upstream.serve(["[\(note("a")),\(note("b"))]", "[\(note("c"))]"], total: 3, singles: true)
        try await test.pull(full: true)
        #expect(try await sweep(test) == [:])
        #expect(try test.keys() == ["a"])
        let words = "none of its records has notes, which pull.where tests; cached ones stay, and 2 "
        #expect(try test.cursor.held?.contains(words) == true)
        let drift = try #require(test.store.drift().first)
        #expect(drift.entity == "orders" && drift.kind == .list && drift.found.contains("run sync --full"))
        try test.upstream.serve(
            ["[\(record("a", "yours")),\(note("b"))]", "[\(record("c", "mine"))]"], total: 3, singles: true)
        try await test.pull(full: true)
        #expect(try await sweep(test) == ["orders": 1])
        #expect(try test.keys() == ["c"])
        #expect(try test.cursor.held == nil && test.store.drift().isEmpty)
    }

    @Test(
        "a member that is missing where the window allows it is no reason to doubt",
        arguments: ["null", "[null, mine]"])
    func allowed(_ values: String) async throws {
        let test = try test("{ notes: \(values), updated_at.gte: 2025-01-01T00:00:00Z }")
        let old = #"{"id":"old","updated_at":"2024-01-01T00:00:00Z"}"#
        try test.upstream.serve(["[\(note("a")),\(old)]"], total: 2, singles: true)
        try await test.pull()
        #expect(try test.keys() == ["a"])
        #expect(try test.cursor.held == nil)
    }

    @Test("null in place of the object that has the tested member is no reason to doubt")
    func nullAbove() async throws {
        let test = try TestPull("\(Self.since), where: { notes: mine }") {
            $0.replacing("notes: { type: string }", with: "notes: { type: string, index: true, from: text.body }")
        }
        let time = #""updated_at":"2026-01-01T00:00:00Z""#
        try test.upstream.serve([#"[{"id":"a",\#(time),"text":{"body":"mine"}}]"#], total: 1, singles: true)
        try await test.pull()
        #expect(try test.keys() == ["a"])
        let empty = #"[{"id":"a",\#(time),"text":null},{"id":"b",\#(time),"text":null}]"#
        try test.upstream.serve([empty], total: 2, singles: true)
        try await test.pull(full: true)
        #expect(try test.cursor.held == nil && test.store.drift().isEmpty)
        #expect(try await sweep(test) == ["orders": 1])
        #expect(try test.keys().isEmpty)
    }

    @Test("a window that opens with time is read whole each time")
    func opening() async throws {
        let test = try test("{ updated_at.lt: \"{$now-1h}\" }")
        test.serverNow.set("2026-01-01T00:30:00Z")
        try test.upstream.serve(["[\(record("a", "x"))]"], total: 1, singles: true)
        try await test.pull()
        #expect(try test.keys().isEmpty)
        test.serverNow.set("2026-01-01T01:30:00Z")
        try await test.pull()
        #expect(try test.keys() == ["a"])
    }

    @Test("what kept records refer to is read one by one, and what is not there only once")
    func references() async throws {
        let test = try test("{ notes: mine }")
        _ = try await test.store.apply(
            PulledPage(
                entity: "messages",
                records: #"[{"id":"m","order_id":"z","text":"x"},{"id":"n","order_id":"gone","text":"x"}]"#),
            at: test.clock.timestamp)
        try test.upstream.serveSingles(of: "[\(record("z", "yours"))]")
        _ = try await sweep(test)
        // Children that are deleted with their order do not keep it.
        #expect(test.upstream.reads.isEmpty)
        let keeping = try TestPull("\(Self.since), where: { notes: mine }") {
            $0.replacing("on_delete: cascade", with: "on_delete: keep")
        }
        _ = try await keeping.store.apply(
            PulledPage(
                entity: "messages",
                records: #"[{"id":"m","order_id":"z","text":"x"},{"id":"n","order_id":"gone","text":"x"}]"#),
            at: keeping.clock.timestamp)
        try keeping.upstream.serveSingles(of: "[\(record("z", "yours"))]")
        _ = try await sweep(keeping)
        #expect(try keeping.keys() == ["z"])
        #expect(Set(keeping.upstream.reads) == ["gone", "z"])
        #expect(try await sweep(keeping).isEmpty)
        #expect(keeping.upstream.reads.count == 2)
        // What was there and left the cache is asked for again.
        _ = try await keeping.store.delete(["z"], of: "orders", position: .max, at: keeping.clock.timestamp)
        _ = try await sweep(keeping)
        #expect(try keeping.keys() == ["z"])
    }

    /// A cache whose messages refer to these orders, which are outside of the window and not cached.
    private func referring(to keys: [String]) async throws -> TestPull {
        let test = try TestPull("\(Self.since), where: { notes: mine }") {
            $0.replacing("on_delete: cascade", with: "on_delete: keep")
                .replacing(
                    "notes: { type: string }",
                    with: "notes: { type: string }\n      part_of: { type: reference, to: orders }")
        }
        let messages = keys.map { #"{"id":"m-\#($0)","order_id":"\#($0)","text":"x"}"# }.joined(separator: ",")
        _ = try await test.store.apply(
            PulledPage(entity: "messages", records: "[\(messages)]"), at: test.clock.timestamp)
        return test
    }

    private func problem(_ test: TestPull, asksAgain: Bool = false) async throws -> String? {
        try await WindowSweep(puller: test.puller()).run(asksAgain: asksAgain).problems["orders"]?.text
    }

    /// Serves every order but one, which is answered with `error`.
    private func serve(_ test: TestPull, but key: String, _ error: UpstreamError) {
        test.upstream.serveSingles { _, asked in
            asked == key ? .failure(error) : .success(#"{"id":"\#(asked)","notes":"yours"}"#)
        }
    }

    @Test(
        "a referenced record that is refused does not stop the others, is shown, and is asked for again after an hour")
    func refusedReference() async throws {
        let test = try await referring(to: ["a", "b", "c"])
        serve(test, but: "a", .barred(status: 403, "not yours"))
        let words = try #require(try await problem(test))
        #expect(words.contains("1 of the orders that cached records refer to") && words.contains("(not yours)"))
        #expect(try test.keys() == ["b", "c"])
        test.clock.advance(by: .seconds(3599))
        #expect(try await problem(test)?.contains("not yours") == true)
        #expect(test.upstream.reads.count == 3)
        serve(test, but: "", .barred(status: 403, "not yours"))
        test.clock.advance(by: .seconds(1))
        #expect(try await problem(test) == nil)
        #expect(try test.keys() == ["a", "b", "c"])
    }

    @Test("a full sync asks at once for a referenced record that was refused")
    func askedAgain() async throws {
        let test = try await referring(to: ["a"])
        serve(test, but: "a", .barred(status: 403, "not yours"))
        #expect(try await problem(test) != nil)
        serve(test, but: "", .barred(status: 403, "not yours"))
        #expect(try await problem(test, asksAgain: true) == nil)
        #expect(try test.keys() == ["a"])
    }

    @Test("a referenced record that failed for a moment is read by the next pull, though nothing else changed")
    func failedReference() async throws {
        let test = try await referring(to: ["a", "b"])
        serve(test, but: "a", .unclear(status: 500, "oops"))
        #expect(try await problem(test)?.contains("oops") == true)
        #expect(try test.keys() == ["b"])
        serve(test, but: "", .unclear(status: 500, "oops"))
        #expect(try await problem(test) == nil)
        #expect(try test.keys() == ["a", "b"])
        let count = test.upstream.reads.count
        #expect(try await problem(test) == nil)
        #expect(test.upstream.reads.count == count, "nothing is missing any more")
    }

    @Test("the next pulls complete more references than one pull may read")
    func manyReferences() async throws {
        let test = try await referring(to: (0..<150).map { "k\($0)" })
        serve(test, but: "", .malformed(""))
        _ = try await sweep(test)
        #expect(try test.keys().count == 100)
        _ = try await sweep(test)
        #expect(try test.keys().count == 150)
    }

    @Test("the same pull reads what a referenced record refers to in turn")
    func chain() async throws {
        let test = try await referring(to: ["z"])
        try test.upstream.serveSingles(
            of: #"[{"id":"z","notes":"yours","part_of":"y"},{"id":"y","notes":"yours","part_of":"x"},{"id":"x"}]"#)
        _ = try await sweep(test)
        #expect(try test.keys() == ["x", "y", "z"])
    }
}
