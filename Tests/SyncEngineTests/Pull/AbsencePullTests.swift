import EntitySchema
import JSONText
import SchemaDrift
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

/// Lists and answers that lack records although the upstream has them.
@Suite("Records that seem to be gone")
struct AbsencePullTests {
    private static let full = "mode: full"

    private func page(_ range: Range<Int>) -> String {
        JSONText.array(range.map { .object(["id": .string("k\($0)"), "updated_at": "2026-01-01"]) }).text
    }

    private func marked(_ range: Range<Int>) -> String {
        let time: JSONText = "2026-01-02T00:00:00Z"
        return JSONText.array(
            range.map { .object(["id": .string("k\($0)"), "updated_at": time, "deleted_at": time]) }
        ).text
    }

    private func filled(_ count: Int, _ pull: String? = nil) async throws -> TestPull {
        let test = try pull.map { try TestPull($0) } ?? TestPull()
        try test.upstream.serve([page(0..<count)], total: count, singles: true)
        try await test.pull()
        return test
    }

    @Test("#3 a list that is suddenly empty empties nothing, whatever single reads answer")
    func emptyList() async throws {
        let test = try await filled(8)
        try test.upstream.serve(["[]"], total: 0, singles: true)
        for _ in 1...3 {
            let summary = try await test.pull(full: true)
            #expect(summary.deleted == 0)
            #expect(summary.held == 8)
        }
        #expect(try test.keys().count == 8)
        #expect(try test.cursor.held?.contains("the list of orders was empty, had 8") == true)
        // Well again.
        try test.upstream.serve([page(0..<8)], total: 8, singles: true)
        try await test.pull(full: true)
        #expect(try test.cursor.held == nil)
        #expect(try test.cursor.heldDeletions == 0)
    }

    @Test("#3 nor does one of an upstream that serves no single records, however often")
    func emptyListAlone() async throws {
        let test = try TestPull()
        try test.upstream.serve([page(0..<8)], total: 8)
        try await test.pull()
        try test.upstream.serve(["[]"], total: 0)
        for _ in 1...3 { #expect(try await test.pull(full: true).held == 8) }
        #expect(try test.keys().count == 8)
        #expect(try test.cursor.held?.contains("the list of orders was empty, had 8") == true)
    }

    @Test("a list that became empty is believed once each record was asked for and something else is there")
    func emptied() async throws {
        let test = try await filled(8)
        let messages = try #require(test.schema["messages"])
        _ = try await test.store.apply(
            PulledPage(entity: "messages", records: #"[{"id":"m"}]"#), at: test.clock.timestamp)
        // The upstream has served a single record before.
        let judge = test.puller().judge
        let orders = try #require(test.schema["orders"])
        #expect(try await judge.read(.object(["id": "k0"]), of: orders) != nil)
        let listed = try JSONText(parsing: #"[{"id":"m"}]"#)
        test.upstream.answering { request in
            .success(
                request.path == messages.pull?.path ? Page(records: listed, count: 1) : Page(records: "[]", count: 0))
        }
        try test.upstream.serveSingles(of: "[]")
        #expect(try await test.pull(full: true).deleted == 8)
    }

    @Test("the list of an entity whose records are only here need not show any")
    func onlyHere() async throws {
        let test = try TestPull()
        let messages = try #require(test.schema["messages"])
        _ = try await test.store.create("orders", body: .object(["notes": "new"]), at: test.clock.timestamp)
        try test.upstream.serve(["[]"], total: 0)
        #expect(try await test.puller().judge.isWell(beside: messages) == nil, "nothing can be said")
        _ = try await test.store.apply(
            PulledPage(entity: "orders", records: #"[{"id":"k"}]"#), at: test.clock.timestamp)
        #expect(try await test.puller().judge.isWell(beside: messages) == false)
    }

    @Test("where the cache has nothing either, an empty list does not say that a record is gone")
    func nothingElse() async throws {
        let test = try TestPull()
        let orders = try #require(test.schema["orders"])
        try test.upstream.serve(["[]"], total: 0)
        let verdict = try await test.puller().judge.verdict(on: .object(["id": "k"]), of: orders, wasRead: true)
        #expect(verdict == .cannotSay("the list of orders is empty, the cache has 0"))
    }

    @Test("#4 an empty list takes no failed change along")
    func failedChanges() async throws {
        let test = try await filled(12)
        for number in 0..<12 {
            try await test.store.update(
                "orders", key: "k\(number)", body: .object(["notes": "mine"]), at: test.clock.timestamp)
        }
        for change in try test.store.readyChanges(limit: 20, at: test.clock.timestamp) {
            _ = try await test.store.begin(change, at: test.clock.timestamp)
            try await test.store.finish(
                change.id, .failed(PushFailure(.refused, message: "no")), at: test.clock.timestamp)
        }
        try test.upstream.serve(["[]"], total: 0, singles: true)
        try await test.pull(full: true)
        #expect(try test.store.pendingCount().failed == 12)
        #expect(try test.keys().count == 12)
    }

    @Test("where single records are not allowed, a record goes that two pulls lack", arguments: [405, 501])
    func notAllowed(status: Int) async throws {
        let test = try await filled(8)
        try test.upstream.serve([page(0..<7)], total: 7)
        test.upstream.serveSingles { _, _ in .failure(.refused(status: status, "GET is not supported here")) }
        #expect(try await test.pull(full: true).deleted == 0)
        #expect(try await test.pull(full: true).deleted == 1)
        #expect(try test.keys().count == 7)
    }

    @Test("#5 records that slid past the pages are asked for and stay; the one that is gone goes")
    func slides() async throws {
        let test = try await filled(12)
        try await test.store.update("orders", key: "k5", body: .object(["notes": "mine"]), at: test.clock.timestamp)
        try test.upstream.serveSingles(of: page(1..<12))
        let pages = try [page(1..<4), page(6..<12)].map { try JSONText(parsing: $0) }
        test.upstream.answering { .success(PagedUpstream.page(pages, $0.position)) }
        let summary = try await test.pull(full: true)
        #expect(summary.deleted == 1)
        #expect(try test.keys() == Set((1..<12).map { "k\($0)" }))
        #expect(try test.store.pendingCount().pending == 1)
        #expect(test.upstream.reads.filter { $0 != "k11" } == ["k0", "k4", "k5", "k0"])
    }

    @Test("a record that was asked for keeps the members that only its list shows")
    func listMembers() async throws {
        let test = try TestPull()
        func listed(_ keys: [String]) -> String {
            "[\(keys.map { #"{"id":"\#($0)","notes":"n","updated_at":"2026-01-01"}"# }.joined(separator: ","))]"
        }
        let singles = #"[{"id":"a","updated_at":"2026-01-01"},{"id":"b","updated_at":"2026-01-01"}]"#
        try test.upstream.serve([listed(["a", "b"])])
        try test.upstream.serveSingles(of: singles)
        try await test.pull()
        try test.upstream.serve([listed(["a"])])
        #expect(try await test.pull(full: true).deleted == 0)
        #expect(try test.store.remote(of: "orders", key: "b")?["notes"] == "n")
    }

    @Test("#2 a gateway that answers 404 to single reads deletes nothing")
    func gateway() async throws {
        let test = try await filled(12)
        let judge = test.puller().judge
        let orders = try #require(test.schema["orders"])
        #expect(try await judge.read(.object(["id": "k0"]), of: orders) != nil)
        try test.upstream.serve([page(0..<10)], total: 10)
        try test.upstream.serveSingles(of: "[]")
        for _ in 1...2 { #expect(try await test.pull(full: true).held == 2) }
        #expect(try test.keys().count == 12)
        await #expect(throws: UpstreamError.self) {
            try await judge.verdict(on: .object(["id": "k11"]), of: orders, wasRead: true)
        }
    }

    @Test(
        "a record that the account may no longer read stays, makes no pull a full one, and holds up no other's deletion"
    )
    func revoked() async throws {
        let test = try await filled(8)
        test.clock.advance(by: .seconds(1))
        try test.upstream.serve([page(0..<6)], total: 6)
        test.upstream.serveSingles { _, key in
            if key == "k7" { return .failure(.barred(status: 403, "GET /orders/k7 answered 403")) }
            return .success(key == "k6" ? nil : #"{"id":"\#(key)"}"#)
        }
        let summary = try await test.pull(full: true)
        #expect(summary.deleted == 1 && summary.held == 1)
        #expect(try test.keys() == Set((0..<6).map { "k\($0)" } + ["k7"]))
        #expect(try test.cursor.held?.contains("answered 403") == true)
        #expect(try test.cursor.lastFullAt == test.clock.timestamp)
        #expect(try await test.pull(full: true, confirmed: ["orders"]).deleted == 1)
    }

    @Test(
        "a record that was merged, may not be seen, or at which the upstream fails holds up no other's deletion",
        arguments: [
            UpstreamError.barred(status: 301, "GET /orders/k7 answered 301 to /orders/k1"),
            .unauthorized("GET /orders/k7 answered 401: you are not authorized to see it"),
            .unclear(status: 500, "GET /orders/k7 answered 500"),
        ])
    func undecidable(_ error: UpstreamError) async throws {
        let test = try await filled(8)
        test.clock.advance(by: .seconds(1))
        try test.upstream.serve([page(0..<6)], total: 6)
        test.upstream.serveSingles { _, key in
            key == "k7" ? .failure(error) : .success(key == "k6" ? nil : #"{"id":"\#(key)"}"#)
        }
        let summary = try await test.pull(full: true)
        #expect(summary.deleted == 1 && summary.held == 1)
        #expect(try test.keys().contains("k7"))
        #expect(try test.cursor.held?.contains(error.message) == true)
        let isAskedAgain = try test.cursor.lastFullAt == nil
        #expect(isAskedAgain == (error == .unclear(status: 500, error.message)), "only a failure may pass")
        #expect(try await test.pull(full: true, confirmed: ["orders"]).deleted == 1)
    }

    @Test("a gateway that refuses every single read is asked a few times, and deletes nothing")
    func refused() async throws {
        let test = try await filled(30)
        let reads = test.upstream.reads.count
        test.clock.advance(by: .seconds(1))
        try test.upstream.serve([page(0..<10)], total: 10)
        test.upstream.serveSingles { _, _ in .failure(.barred(status: 403, "no")) }
        #expect(try await test.pull(full: true).held == 20)
        #expect(try test.keys().count == 30)
        #expect(test.upstream.reads.count == reads + 10)
        #expect(try test.cursor.lastFullAt == test.clock.timestamp)
        // The list lacks one, and a person has confirmed that it is gone.
        try test.upstream.serve([page(0..<29)], total: 29)
        await #expect(throws: UpstreamError.self) { try await test.pull(full: true, confirmed: ["orders"]) }
        #expect(try test.keys().count == 30)
    }

    @Test("records that are still there are taken before many large ones are in memory")
    func large() async throws {
        let test = try await filled(3)
        let orders = try #require(test.schema["orders"])
        let suspects = (0..<3).map {
            CacheStore.UnseenRecord(key: "k\($0)", remote: .object(["id": .string("k\($0)")]))
        }
        for (bytes, expected) in [(1, [["k0"], ["k1"], ["k2"]]), (1000, [["k0", "k1", "k2"]])] {
            var judge = test.puller().judge
            judge.mostBytes = bytes
            var taken: [[String]] = []
            let findings = try await judge.findings(on: suspects, of: orders) { here in
                taken.append(here.compactMap { $0.record["id"]?.plain })
            }
            #expect(findings?.here == 3 && taken == expected)
        }
    }

    @Test("the reads of one pull are at most a hundred, twice, each time with one more as a witness")
    func bounded() async throws {
        let test = try await filled(600)
        try test.upstream.serve([page(0..<500)], total: 500, singles: true)
        #expect(try await test.pull(full: true).deleted == 100)
        #expect(test.upstream.reads.count == 203, "one more after the first pull, to learn whether any are served")
    }

    @Test("tombstones of more records than the guard allows wait, unless each record is gone when asked for")
    func tombstones() async throws {
        for isGone in [false, true] {
            let test = try await filled(60)
            try test.upstream.serve([marked(0..<30)])
            try test.upstream.serveSingles(of: page((isGone ? 30 : 0)..<60))
            let summary = try await test.pull()
            #expect(summary.deleted == (isGone ? 30 : 0))
            #expect(try test.keys().count == (isGone ? 30 : 60))
        }
    }

    @Test("marks that are held count once, however often a pull of what changed meets them")
    func tombstonesAgain() async throws {
        let test = try await filled(60)
        try test.upstream.serve([marked(0..<30)])
        test.upstream.serveSingles { _, _ in .failure(.unclear(status: 500, "oops")) }
        for _ in 1...3 { try await test.pull() }
        #expect(try test.cursor.heldDeletions == 30)
    }

    // MARK: Lists that cannot be whole

    @Test("#16 a list whose total is always off is reported, read once, and deletions are found by asking")
    func totalOff() async throws {
        let test = try await filled(10)
        try test.upstream.serve([page(0..<10)], total: 13, singles: true)
        for _ in 1...2 { try await test.pull(full: true) }
        test.upstream.forget()
        try await test.pull(full: true)
        #expect(test.upstream.requests.count == 1, "it is no longer read twice")
        let drift = try #require(try test.store.drift().first { $0.kind == .list })
        #expect(drift.found == "its total is always 3 more than its records")
        #expect(try test.cursor.held?.contains("total is always 3 more") == true)
        try test.upstream.serve([page(0..<9)], total: 12, singles: true)
        #expect(try await test.pull(full: true).deleted == 1)
        // Without single records nothing is inferred from it, and that is said.
        try test.upstream.serve([page(0..<8)], total: 11)
        test.upstream.serveSingles { _, _ in .success(nil) }
        for _ in 1...3 { #expect(try await test.pull(full: true).deleted == 0) }
        #expect(try test.cursor.heldDeletions == 1)
    }

    @Test("#16 a list that always shows a record twice is reported, and deletions are found by asking")
    func twice() async throws {
        let test = try await filled(10)
        let pages = [page(0..<5), page(4..<10)]
        try test.upstream.serve(pages, singles: true)
        for _ in 1...2 { try await test.pull(full: true) }
        test.upstream.forget()
        try await test.pull(full: true)
        #expect(test.upstream.requests.count == 2, "it is no longer read twice")
        #expect(try test.store.drift().first { $0.kind == .list }?.found == "it always shows a record twice")
        try test.upstream.serve([page(0..<5), page(4..<9)], singles: true)
        #expect(try await test.pull(full: true).deleted == 1)
        // A list without the double is believed again.
        try test.upstream.serve([page(0..<9)], singles: true)
        try await test.pull(full: true)
        #expect(try test.store.drift().filter { $0.kind == .list }.isEmpty)
        #expect(try test.cursor.held == nil)
    }

    @Test(
        "#16 a list that ends at a round number without paging is reported and shows no deletions",
        arguments: [50, 100])
    func cut(_ limit: Int) async throws {
        let test = try TestPull("mode: full, pagination: { style: single }")
        try test.upstream.serve([page(0..<120)])
        try await test.pull()
        try test.upstream.serve([page(0..<limit)])
        for _ in 1...2 { #expect(try await test.pull(full: true).deleted == 0) }
        #expect(try test.keys().count == 120)
        let drift = try #require(try test.store.drift().first { $0.kind == .list })
        #expect(drift.found == "it ends at exactly \(limit) records, and the schema declares no pages")
        #expect(drift.expected?.contains("pagination") == true)
        try test.upstream.serve([page(0..<120)])
        try await test.pull(full: true)
        #expect(try test.store.drift().filter { $0.kind == .list }.isEmpty)
    }

    @Test("#16 a list that names a next page that is not followed is reported and shows no deletions")
    func unfollowed() async throws {
        let test = try await filled(20)
        let some = try JSONText(parsing: page(0..<19))
        test.upstream.answering { _ in .success(Page(records: some, count: 19, unfollowed: "has_more")) }
        test.upstream.serveSingles { _, _ in .success(nil) }
        for _ in 1...3 { #expect(try await test.pull(full: true).deleted == 0) }
        #expect(try test.store.drift().first { $0.kind == .list }?.found.contains("has_more") == true)
        #expect(try test.cursor.heldDeletions == 1)
    }

    @Test("a list of which one page says that it lacks records shows no deletions", arguments: [0, 1])
    func partial(_ number: Int) async throws {
        let test = try await filled(20)
        let halves = try [page(0..<10), page(10..<19)].map { try JSONText(parsing: $0) }
        test.upstream.answering { request in
            let index = request.position == nil ? 0 : 1
            var page = Page(records: halves[index], count: index == 0 ? 10 : 9, next: index == 0 ? "2" : nil)
            if index == number { page.partial = "errors" }
            return .success(page)
        }
        test.upstream.serveSingles { _, _ in .success(nil) }
        for _ in 1...3 { #expect(try await test.pull(full: true).deleted == 0) }
        #expect(try test.store.drift().first { $0.kind == .list }?.found.contains("errors") == true)
        #expect(try test.cursor.heldDeletions == 1)
    }

    // MARK: Times in the future

    @Test("#15 a row that claims a time in the future is applied and does not move the watermark")
    func future() async throws {
        let test = try TestPull()
        test.serverNow.set("2026-01-01T12:00:10Z")
        try test.upstream.serve([
            #"[{"id":"a","updated_at":"2026-01-01T12:00:00Z"},{"id":"b","updated_at":"2026-01-02T08:00:00Z"}]"#
        ])
        try await test.pull()
        #expect(try test.keys() == ["a", "b"])
        #expect(try test.cursor.watermark == "2026-01-01T12:00:00.000Z")
        test.upstream.forget()
        try await test.pull()
        #expect(test.upstream.requests.map(\.since?.value) == ["2026-01-01T11:59:50.000Z"])
    }

    @Test("#15 a watermark that an earlier version moved into the future is dropped, and everything is read")
    func futureWatermark() async throws {
        let test = try await filled(3)
        var cursor = try test.cursor
        cursor.watermark = "2026-01-02T08:00:00.000Z"
        try await test.store.setCursor(of: "orders", to: cursor)
        test.serverNow.set("2026-01-01T12:00:10Z")
        test.upstream.forget()
        try test.upstream.serve([#"[{"id":"new","updated_at":"2026-01-01T12:00:05Z"}]"#])
        try await test.pull()
        #expect(test.upstream.requests.map(\.since?.value).first == .some(nil))
        #expect(try test.keys().contains("new"))
        #expect(try test.cursor.watermark == "2026-01-01T12:00:05.000Z")
    }
}
