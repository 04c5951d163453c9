import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("Lists of what was deleted")
struct TombstonePullTests {
    private static let dated = """
        { path: /deletions, key: order.id, at: deleted_at, since: { param: after, overlap: 10s } }
        """
    private static let byToken = "{ path: /deletions, since: { token: next_token, param: token } }"

    private func test(_ list: String = dated) throws -> TestPull {
        try TestPull { $0.replacing("deleted: deleted_at", with: "deleted: \(list)") }
    }

    /// Serves these records and deletions, and each record by its key.
    private func serve(_ test: TestPull, _ records: String, _ deletions: String, delta: String? = nil) throws {
        let (records, deletions) = (try JSONText(parsing: records), try JSONText(parsing: deletions))
        test.upstream.answering { request in
            let list = request.path == "/deletions" ? deletions : records
            var page = Page(records: list, count: list.elementCount)
            page.delta = request.path == "/deletions" ? delta : nil
            return .success(page)
        }
        try test.upstream.serveSingles(of: records.text)
    }

    private static func order(_ key: String, _ time: String) -> String {
        #"{"id":"\#(key)","updated_at":"2026-01-01T\#(time)Z"}"#
    }

    private static func deletion(_ key: String, _ time: String) -> String {
        #"{"order":{"id":"\#(key)"},"deleted_at":"2026-01-01T\#(time)Z"}"#
    }

    private func filled(_ list: String = dated) async throws -> TestPull {
        let test = try test(list)
        let orders = ["a", "b", "c"].map { Self.order($0, "10:00:00") }.joined(separator: ",")
        try serve(test, "[\(orders)]", "[]", delta: "t1")
        try await test.pull()
        test.upstream.forget()
        return test
    }

    private func askedSince(_ test: TestPull) -> [String?] {
        test.upstream.requests.filter { $0.path == "/deletions" }.map(\.since?.value)
    }

    @Test("a deletion is applied, and the next pull asks from its time on")
    func applied() async throws {
        let test = try await filled()
        try serve(test, "[]", "[\(Self.deletion("b", "11:00:00"))]")
        #expect(try await test.pull().deleted == 1)
        #expect(try test.keys() == ["a", "c"])
        try serve(test, "[]", "[]")
        try await test.pull()
        #expect(askedSince(test) == ["2026-01-01T09:59:50.000Z", "2026-01-01T10:59:50.000Z"])
    }

    @Test("a time that is in the future since the upstream's clock was set back is dropped, and the whole list is read")
    func setBack() async throws {
        let test = try await filled()
        var cursor = try test.store.cursor(of: "orders:deleted")
        cursor.watermark = "2026-01-04T10:00:00.000Z"
        try await test.store.setCursor(of: "orders:deleted", to: cursor)
        test.serverNow.set("2026-01-01T12:00:10Z")
        try serve(test, "[]", "[\(Self.deletion("b", "12:00:00"))]")
        #expect(try await test.pull().deleted == 1)
        #expect(askedSince(test) == [nil])
        #expect(try test.store.cursor(of: "orders:deleted").watermark == "2026-01-01T12:00:00.000Z")
    }

    @Test("a list that says that it lacks deletions is read from the same place again, unless it always says so")
    func partial() async throws {
        let test = try await filled()
        let some = try JSONText(parsing: "[\(Self.deletion("c", "11:30:00"))]")
        test.upstream.answering { request in
            guard request.path == "/deletions" else { return .success(Page(records: .array([]), count: 0)) }
            var page = Page(records: some, count: 1)
            page.partial = "timed_out"
            return .success(page)
        }
        let summary = try await test.pull()
        #expect(summary.deleted == 1)
        #expect(summary.delay?.contains("lacks records (timed_out)") == true)
        for _ in 1...3 { try await test.pull() }
        let same = Array(repeating: "2026-01-01T09:59:50.000Z", count: 3)
        #expect(askedSince(test) == same + ["2026-01-01T11:29:50.000Z"])
    }

    @Test("a time that the upstream no longer goes back to is left out")
    func forgotten() async throws {
        let test = try await filled()
        let deletions = try JSONText(parsing: "[\(Self.deletion("b", "11:00:00"))]")
        test.upstream.answering { request in
            guard request.path == "/deletions" else { return .success(Page(records: .array([]), count: 0)) }
            guard request.since == nil else { return .failure(.gone(status: 410, "GET /deletions answered 410")) }
            return .success(Page(records: deletions, count: 1))
        }
        let summary = try await test.pull()
        #expect(summary.delay == nil)
        #expect(summary.deleted == 1)
        #expect(askedSince(test) == ["2026-01-01T09:59:50.000Z", nil])
    }

    /// As `serve`, but the list of deletions fails.
    private func serveWithoutDeletions(_ test: TestPull, _ records: String) throws {
        let list = try JSONText(parsing: records)
        test.upstream.answering { request in
            request.path == "/deletions"
                ? .failure(.refused(status: 400, "GET /deletions answered 400"))
                : .success(Page(records: list, count: list.elementCount))
        }
        try test.upstream.serveSingles(of: records)
    }

    @Test(
        "a list of deletions that fails delays them and no record, with dates or without", arguments: [dated, byToken])
    func failing(_ list: String) async throws {
        let test = try await filled(list)
        try serveWithoutDeletions(test, "[\(Self.order("d", "11:00:00"))]")
        let summary = try await test.pull()
        #expect(try test.keys() == ["a", "b", "c", "d"])
        #expect(summary.held == 0, "none was read")
        #expect(
            summary.delay?.contains("deletions are delayed: /deletions failed: GET /deletions answered 400") == true)
    }

    @Test("a deletion without a time that comes late is not believed against a record that was created again since")
    func late() async throws {
        let test = try await filled(Self.byToken)
        // The upstream deletes a and b, and creates b again.
        let orders = "[\(Self.order("b", "12:00:00")),\(Self.order("c", "10:00:00"))]"
        try serveWithoutDeletions(test, orders)
        try await test.pull()
        try serve(test, orders, #"[{"id":"a"},{"id":"b"}]"#, delta: "t2")
        let summary = try await test.pull()
        #expect(summary.delay == nil)
        #expect(try test.keys() == ["b", "c"])
        // The list is believed again.
        try serve(test, "[]", #"[{"id":"c"}]"#, delta: "t3")
        try await test.pull()
        #expect(try test.keys() == ["b"])
    }

    @Test("nor after the list has failed again, though no record came meanwhile")
    func failingTwice() async throws {
        let test = try await filled(Self.byToken)
        try serveWithoutDeletions(test, "[\(Self.order("b", "12:00:00")),\(Self.order("c", "10:00:00"))]")
        for _ in 1...2 { try await test.pull() }
        // The upstream does not serve them by their keys now.
        try serve(test, "[]", #"[{"id":"a"},{"id":"b"}]"#, delta: "t2")
        let summary = try await test.pull()
        #expect(summary.deleted == 0 && summary.held == 2)
        #expect(try test.keys() == ["a", "b", "c"])
    }

    @Test("a list without times that lags does not delete a record that came back since")
    func lagging() async throws {
        let test = try await filled(Self.byToken)
        // The upstream deleted b and c, created b again, and says so in its list of records first.
        let orders = "[\(Self.order("a", "10:00:00")),\(Self.order("b", "12:00:00"))]"
        try serve(test, orders, "[]", delta: "t2")
        try await test.pull()
        try serve(test, orders, #"[{"id":"b"},{"id":"c"}]"#, delta: "t3")
        #expect(try await test.pull().deleted == 1)
        #expect(try test.keys() == ["a", "b"])
        #expect(try test.store.cursor(of: "orders:deleted").delta == "t3")
    }

    @Test("deletions without times wait while the records cannot be asked for")
    func unaskable() async throws {
        let test = try await filled(Self.byToken)
        try serve(test, "[]", #"[{"id":"b"}]"#, delta: "t2")
        test.upstream.serveSingles { _, _ in .failure(.unclear(status: 500, "oops")) }
        #expect(try await test.pull().delay?.contains("deletions are delayed") == true)
        #expect(try test.keys() == ["a", "b", "c"])
        try serve(test, "[\(Self.order("a", "10:00:00"))]", #"[{"id":"b"}]"#, delta: "t2")
        #expect(try await test.pull().deleted == 1)
        #expect(askedSince(test) == ["t1", "t1"])
    }

    @Test("what was deleted while the list failed, from the first pull on, is asked for once it answers")
    func failingAtFirst() async throws {
        let test = try test()
        try serveWithoutDeletions(test, "[\(Self.order("a", "10:00:00")),\(Self.order("b", "10:00:00"))]")
        try await test.pull()
        try serveWithoutDeletions(test, "[\(Self.order("c", "12:00:00"))]")
        try await test.pull()
        try serve(test, "[]", "[\(Self.deletion("b", "11:00:00"))]")
        try await test.pull()
        #expect(askedSince(test).last == "2026-01-01T09:59:50.000Z")
        #expect(try test.keys() == ["a", "c"])
    }

    @Test("what was deleted before the first pull is not asked for")
    func first() async throws {
        let test = try test()
        try serve(test, "[\(Self.order("a", "10:00:00"))]", "[]")
        try await test.pull()
        #expect(askedSince(test) == ["2026-01-01T09:59:50.000Z"])
    }

    @Test("a deletion does not touch a record that was created again since, however often it is listed")
    func createdAgain() async throws {
        let test = try await filled()
        try serve(test, "[\(Self.order("b", "12:00:00"))]", "[\(Self.deletion("b", "11:00:00"))]")
        for _ in 1...2 { #expect(try await test.pull().deleted == 0) }
        #expect(try test.keys() == ["a", "b", "c"])
    }

    @Test("a deletion without a time is believed once the record was asked for")
    func undated() async throws {
        let test = try await filled()
        let deletions = #"[{"order":{"id":"b"}},{"order":{"id":"c"},"deleted_at":"2026-01-01"}]"#
        // The upstream serves a and c.
        try serve(test, "[\(Self.order("a", "10:00:00")),\(Self.order("c", "10:00:00"))]", deletions)
        try await test.pull()
        #expect(try test.keys() == ["a", "c"])
    }

    @Test("an entry that names no record deletes none, even with an id of its own that a record has")
    func ownID() async throws {
        let test = try await filled()
        try serve(test, "[]", #"[{"id":"b","order":null,"deleted_at":"2026-01-01T11:00:00Z"}]"#)
        #expect(try await test.pull().deleted == 0)
        #expect(try test.keys() == ["a", "b", "c"])
    }

    @Test("a list that suddenly names everything is held, and read again from the same place")
    func everything() async throws {
        let test = try test()
        let orders = (0..<20).map { Self.order("k\($0)", "10:00:00") }.joined(separator: ",")
        try serve(test, "[\(orders)]", "[]")
        try await test.pull()
        let all = (0..<20).map { Self.deletion("k\($0)", "11:00:00") }.joined(separator: ",")
        // Asked for one by one, the records cannot be read.
        try serve(test, "[]", "[\(all)]")
        test.upstream.serveSingles { _, _ in .failure(.unclear(status: 500, "oops")) }
        test.upstream.forget()
        let summary = try await test.pull()
        #expect(summary.deleted == 0 && summary.held == 20)
        #expect(try test.keys().count == 20)
        #expect(try test.cursor.held?.contains("marks 20 orders as deleted at once") == true)
        try await test.pull()
        #expect(Set(askedSince(test)).count == 1)
        // A person confirms.
        #expect(try await test.pull(confirmed: ["orders"]).deleted == 20)
        #expect(try test.cursor.held == nil)
    }

    @Test("a record that is named again and again counts once")
    func namedAgain() async throws {
        let test = try await filled()
        let names = (0..<120).map { Self.deletion("b", "11:\(10 + $0 / 60):\(10 + $0 % 50)") }
        let orders = ["a", "c"].map { Self.order($0, "10:00:00") }.joined(separator: ",")
        try serve(test, "[\(orders)]", "[\(names.joined(separator: ","))]")
        let summary = try await test.pull()
        #expect(summary.held == 0 && summary.deleted == 1)
        #expect(try test.keys() == ["a", "c"])
    }

    /// A pull holds the deletion of b, since no record can be asked for. The list has `orders`.
    private func holding(_ orders: String) async throws -> TestPull {
        let test = try await filled()
        try serve(test, orders, #"[{"order":{"id":"b"}}]"#)
        test.upstream.serveSingles { _, _ in .failure(.unclear(status: 500, "oops")) }
        #expect(try await test.pull().held == 1)
        return test
    }

    @Test("one deletion that is held is reported until the list no longer names it")
    func oneHeld() async throws {
        let orders = "[\(Self.order("a", "10:00:00")),\(Self.order("b", "10:00:00"))]"
        let test = try await holding(orders)
        #expect(try test.cursor.held != nil)
        let reads = test.upstream.reads.count
        #expect(try await test.pull().held == 1)
        #expect(test.upstream.reads.count == reads, "it was asked for, and nothing is new")
        try serve(test, orders, "[]")
        #expect(try await test.pull().held == 0)
        #expect(try test.cursor.held == nil)
    }

    @Test("one that could not be decided is asked for again by a full pull")
    func askedAgain() async throws {
        let orders = "[\(Self.order("a", "10:00:00")),\(Self.order("c", "10:00:00"))]"
        let test = try await holding(orders)
        try test.upstream.serveSingles(of: orders)
        #expect(try await test.pull().held == 1)
        let summary = try await test.pull(full: true)
        #expect(summary.held == 0 && summary.deleted == 1)
        #expect(try test.keys() == ["a", "c"])
    }

    @Test("a list by tokens names each deletion once, and before the records are read")
    func tokens() async throws {
        let test = try await filled(Self.byToken)
        // b was deleted and created again, c was deleted.
        try serve(test, "[\(Self.order("b", "12:00:00"))]", #"[{"id":"b"},{"id":"c"}]"#, delta: "t2")
        try await test.pull()
        #expect(try test.keys() == ["a", "b"])
        #expect(test.upstream.requests.map(\.path).first == "/deletions")
        try serve(test, "[]", "[]", delta: "t3")
        try await test.pull()
        #expect(askedSince(test) == ["t1", "t2"])
    }

    @Test("once the token has expired, deletions that are named again do not touch what was created again")
    func expired() async throws {
        let test = try await filled(Self.byToken)
        let deletions = try JSONText(parsing: #"[{"id":"b"},{"id":"c"}]"#)
        test.upstream.answering { request in
            guard request.path == "/deletions" else { return .success(Page(records: .array([]), count: 0)) }
            guard request.since == nil else { return .failure(.gone(status: 410, "expired")) }
            var page = Page(records: deletions, count: 2)
            page.delta = "t9"
            return .success(page)
        }
        // b was created again long ago, and c is gone.
        try test.upstream.serveSingles(of: "[\(Self.order("a", "10:00:00")),\(Self.order("b", "10:00:00"))]")
        #expect(try await test.pull().deleted == 1)
        #expect(try test.keys() == ["a", "b"])
        #expect(askedSince(test) == ["t1", nil])
        #expect(try test.store.cursor(of: "orders:deleted").delta == "t9")
    }

    @Test("of a list that also names changes, only the deletions count, and none of its entries is read again")
    func mixed() async throws {
        let test = try await filled(
            "{ path: /deletions, key: id, at: at, where: { kind: [deleted, gone] }, since: { param: after, overlap: 10s } }"
        )
        let entries = """
            [{"id":"a","kind":"changed","at":"2026-01-01T11:30:00Z"},{"id":"b","kind":"gone","at":"2026-01-01T11:00:00Z"},
            {"id":"c","at":"2026-01-01T11:10:00Z"},{"kind":"other","at":"2999-01-01T00:00:00Z"}]
            """
        test.serverNow.set("2026-01-01T12:00:00Z")
        try serve(test, "[]", entries)
        #expect(try await test.pull().deleted == 1)
        #expect(try test.keys() == ["a", "c"])
        try await test.pull()
        #expect(askedSince(test).last == "2026-01-01T11:29:50.000Z")
    }

    /// The cache of another test, whose schema has this list now.
    private func reopened(_ test: TestPull, _ list: String) throws -> TestPull {
        try TestPull(test, "since: { param: since, field: updated_at, overlap: 10s }") {
            $0.replacing("deleted: deleted_at", with: "deleted: \(list)")
        }
    }

    @Test("once it is read in another way, all records are read again, and it is asked from their time on")
    func otherList() async throws {
        let test = try await filled()
        let other = try reopened(test, Self.dated.replacing("order.id", with: "order_id"))
        let left = ["a", "c"].map { Self.order($0, "10:00:00") }.joined(separator: ",")
        try serve(other, "[\(left)]", "[]")
        #expect(try await other.pull().deleted == 1)
        #expect(try other.keys() == ["a", "c"])
        #expect(askedSince(other) == ["2026-01-01T09:59:50.000Z"])
        try await other.pull()
        #expect(other.upstream.requests.filter { $0.path == "/orders" }.map { $0.since == nil } == [true, false])
    }

    @Test("another one gets no token of the one before")
    func otherTokens() async throws {
        let test = try await filled(Self.byToken)
        let other = try reopened(test, Self.byToken.replacing("since:", with: "query: { of: orders }, since:"))
        let orders = ["a", "b", "c"].map { Self.order($0, "10:00:00") }.joined(separator: ",")
        try serve(other, "[\(orders)]", "[]", delta: "t2")
        for _ in 1...2 { try await other.pull() }
        #expect(askedSince(other) == [nil, "t2"])
    }

    @Test("without a time, or tokens, the schema is refused")
    func refused() {
        #expect {
            try test("{ path: /deletions }")
        } throws: { ($0 as? SchemaError)?.problem.contains("the key at is missing") == true }
    }
}
