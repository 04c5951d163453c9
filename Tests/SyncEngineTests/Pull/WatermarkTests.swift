import EntitySchema
import Foundation
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("Watermark and overlap")
struct WatermarkTests {
    private let early = "2026-01-01T12:00:00.000Z"

    private func asked(_ test: TestPull) -> [String?] { test.upstream.requests.map(\.since?.value) }

    /// An upstream that filters by time, inclusively or exclusively.
    private func serve(_ records: [String], inclusive: Bool = true, _ test: TestPull) throws {
        let records = try records.map { try JSONText(parsing: $0) }
        test.upstream.answering { request in
            let matching = records.filter { record in
                guard let since = request.since?.value, let time = record["updated_at"]?.string else { return true }
                return inclusive ? time >= since : time > since
            }
            return .success(Page(records: .array(matching), count: matching.count, total: matching.count))
        }
    }

    @Test("the duration of a pull is left for the next one, since changes may be behind its pages")
    func duration() async throws {
        let test = try TestPull()
        let page = try JSONText(parsing: #"[{"id":"a","updated_at":"2026-01-01T12:00:00Z"}]"#)
        test.upstream.answering { _ in
            test.clock.advance(by: .seconds(30))
            return .success(Page(records: page, count: 1))
        }
        try await test.pull()
        #expect(try test.cursor.watermark == "2026-01-01T11:59:30.000Z")
        #expect(try test.cursor.pull == nil)
    }

    @Test("a list that the schema asks for in another way is read from the beginning, once")
    func otherList() async throws {
        let test = try TestPull()
        let records = [#"{"id":"a","updated_at":"2026-01-01T12:00:00Z"}"#]
        try serve(records, test)
        try await test.pull()
        let again = try TestPull(
            test, "since: { param: since, field: updated_at, overlap: 10s }, query: { state: open }")
        try serve(records, again)
        try await again.pull()
        try await again.pull()
        #expect(asked(again).map { $0 == nil } == [true, false])
    }

    @Test("a pull resumed after a restart counts from its first page")
    func durationAcrossRestart() async throws {
        let test = try TestPull()
        let one = try JSONText(parsing: #"[{"id":"a","updated_at":"2026-01-01T12:00:00Z"}]"#)
        let two = try JSONText(parsing: #"[{"id":"b","updated_at":"2026-01-01T11:00:00Z"}]"#)
        test.upstream.answering { request in
            request.position == nil
                ? .success(Page(records: one, count: 1, next: "2")) : .failure(.unclear(status: 500, "oops"))
        }
        await #expect(throws: UpstreamError.self) { try await test.pull() }
        test.clock.advance(by: .seconds(100))
        test.upstream.answering { _ in .success(Page(records: two, count: 1)) }
        try await test.pull()
        #expect(try test.cursor.watermark == "2026-01-01T11:58:20.000Z")
    }

    @Test("the watermark never moves back, and stays when a pull brings nothing new")
    func neverBack() async throws {
        let test = try TestPull()
        try test.upstream.serve([#"[{"id":"a","updated_at":"2026-01-01T12:00:00Z"}]"#])
        try await test.pull()
        let page = try JSONText(parsing: #"[{"id":"b","updated_at":"2026-01-01T12:00:05Z"}]"#)
        test.upstream.answering { _ in
            test.clock.advance(by: .seconds(30))
            return .success(Page(records: page, count: 1))
        }
        try await test.pull()
        #expect(try test.cursor.watermark == early)
        let before = try test.cursor
        try await test.pull()
        #expect(try test.cursor == before)
    }

    @Test("the watermark stays while a page says that it lacks records, and moves once none does")
    func lackingRecords() async throws {
        let test = try TestPull()
        try test.upstream.serve([#"[{"id":"a","updated_at":"2026-01-01T12:00:00Z"}]"#])
        try await test.pull()
        let late = try JSONText(parsing: #"[{"id":"c","updated_at":"2026-01-01T12:40:00Z"}]"#)
        test.upstream.answering { _ in
            var page = Page(records: late, count: 1)
            page.partial = "errors"
            return .success(page)
        }
        let delay = try await test.pull().delay
        #expect(delay?.contains("lacks records (errors); what changed is asked for again") == true)
        #expect(try test.keys() == ["a", "c"])
        #expect(try test.cursor.watermark == early)
        let all = try JSONText(
            parsing: """
                [{"id":"b","updated_at":"2026-01-01T12:20:00Z"},{"id":"c","updated_at":"2026-01-01T12:40:00Z"}]
                """)
        test.upstream.answering { _ in .success(Page(records: all, count: 2)) }
        #expect(try await test.pull().delay == nil)
        #expect(try test.cursor.watermark == "2026-01-01T12:40:00.000Z")
    }

    @Test(
        "the watermark stays an hour back if a list of changes shows less than its total, which counts only these",
        arguments: [(8, 2, true), (8, 4, false), (9, 2, false)])
    func shortList(_ listed: Int, _ total: Int, _ isShort: Bool) async throws {
        let test = try TestPull()
        let all = (1...8).map { #"{"id":"k\#($0)","updated_at":"2026-01-01T12:00:00Z"}"# }
        try test.upstream.serve(["[\(all.joined(separator: ","))]"], total: listed)
        try await test.pull()
        #expect(try test.cursor.watermark == early)
        let late = #"{"id":"k2","updated_at":"2026-01-01T12:40:00Z"}"#
        try test.upstream.serve(["[\(late)]"], total: total)
        #expect(try await test.pull().delay == nil, "the total may count what is never shown")
        #expect(try test.remote("k2")?.contains("12:40") == true)
        #expect(try (test.cursor.watermark == early) == isShort)
        try test.upstream.serve([#"[{"id":"k1","updated_at":"2026-01-01T12:20:00Z"},\#(late)]"#], total: 2)
        try await test.pull()
        #expect(try test.cursor.watermark == "2026-01-01T12:40:00.000Z")
        // Where the total always counts more, an hour is read again, and no more.
        try test.upstream.serve([#"[{"id":"k3","updated_at":"2026-01-01T20:00:00Z"}]"#], total: total)
        try await test.pull()
        #expect(try test.cursor.watermark == "2026-01-01T\(isShort ? 19 : 20):00:00.000Z")
    }

    @Test(
        "a list that always says that it lacks records is read with the watermark all the same",
        arguments: [
            ("since: { param: since, field: updated_at, overlap: 10s }", nil),
            // What changed is counted right.
            ("since: { param: since, field: updated_at, overlap: 10s }", 5),
            // What changed is read to the first page that is known.
            ("mode: newest_first, changed_at: updated_at", nil),
        ])
    func alwaysLackingRecords(_ pull: String, _ total: Int?) async throws {
        let test = try TestPull(pull)
        func serve(hour: Int, pages: Int, total: Int?) {
            let times = [hour, 10, 9].prefix(pages)
            test.upstream.answering { request in
                let number = request.position.flatMap { Int($0) } ?? 0
                let time = JSONText.string("2026-01-01T\(times[number] < 10 ? "0" : "")\(times[number]):00:00Z")
                let record = JSONText.object(["id": .string("at\(times[number])"), "updated_at": time])
                let next = number + 1 < times.count ? "\(number + 1)" : nil
                var page = Page(records: .array([record]), count: 1, total: total, next: next)
                page.partial = "errors"
                return .success(page)
            }
        }
        serve(hour: 12, pages: 3, total: total)
        #expect(try await test.pull().delay == nil)
        #expect(try test.cursor.watermark == nil)
        #expect(try await test.pull().delay == nil)
        #expect(try test.cursor.watermark == early)
        for hour in [13, 14] {
            serve(hour: hour, pages: pull.hasPrefix("since") ? 1 : 3, total: total.map { _ in 1 })
            #expect(try await test.pull().delay == nil)
            #expect(try test.cursor.watermark == "2026-01-01T\(hour):00:00.000Z")
        }
    }

    @Test("rows of the same millisecond as the last one seen are requested again")
    func ties() async throws {
        for inclusive in [true, false] {
            let test = try TestPull("since: { param: since, field: updated_at, overlap: 0ms }")
            try serve([#"{"id":"a","updated_at":"\#(early)"}"#], inclusive: inclusive, test)
            try await test.pull()
            try serve(
                [#"{"id":"a","updated_at":"\#(early)"}"#, #"{"id":"b","updated_at":"\#(early)"}"#],
                inclusive: inclusive, test)
            try await test.pull()
            #expect(try test.keys() == ["a", "b"])
            #expect(asked(test) == [nil, "2026-01-01T11:59:59.000Z"])
        }
    }

    @Test(
        "rows that a form without seconds cannot tell apart are requested again",
        arguments: [
            "since: { param: since, field: updated_at, overlap: 0ms, format: yyyy-MM-dd HH:mm }",
            #"query: { q: "{$since:yyyy-MM-dd HH:mm}" }, since: { field: updated_at, overlap: 0ms }"#,
        ])
    func minutes(_ pull: String) async throws {
        let test = try TestPull(pull)
        let plan = try #require(test.schema["orders"]?.pull)
        let cursor = PullCursor(watermark: "2026-01-01T12:00:59.900Z")
        let since = try #require(PullStart(plan: plan, cursor: cursor, full: false).pull.since)
        #expect(since == "2026-01-01T11:59:59.900Z")
        let sent = plan.request(of: "orders", since: since).request.path.removingPercentEncoding
        // An upstream that compares whole minutes and leaves out the one that it is asked for still has all of 12:00.
        #expect(sent?.contains("2026-01-01 11:59") == true, "\(sent ?? "")")
    }

    @Test("a row committed late is found in the overlap, and widens it to twice its lateness")
    func widens() async throws {
        let test = try TestPull()
        let first = #"{"id":"a","updated_at":"\#(early)"}"#
        let late = #"{"id":"b","updated_at":"2026-01-01T11:59:51.000Z"}"#
        try serve([first], test)
        try await test.pull()
        try serve([first, late], test)
        try await test.pull()
        #expect(try test.keys() == ["a", "b"])
        #expect(try test.cursor.lateness == 9000)
        test.upstream.forget()
        try await test.pull()
        #expect(asked(test) == ["2026-01-01T11:59:42.000Z"])
    }

    @Test("a late record that is unchanged no longer counts, nor does a first pull")
    func countsOnce() async throws {
        let test = try TestPull()
        try serve([#"{"id":"a","updated_at":"\#(early)"}"#, #"{"id":"b","updated_at":"2025-01-01T00:00:00Z"}"#], test)
        try await test.pull()
        try await test.pull(full: true)
        #expect(try test.cursor.lateness == 0)
    }

    @Test("the overlap grows to a day and no further")
    func capped() throws {
        let test = try TestPull()
        let plan = try #require(test.schema["orders"]?.pull)
        let cursor = PullCursor(watermark: early, lateness: 20 * 3_600_000)
        #expect(PullStart(plan: plan, cursor: cursor, full: false).pull.since == "2025-12-31T12:00:00.000Z")
    }

    private let older = #"{"id":"a","notes":"n","updated_at":"2026-01-01T08:00:00.000Z"}"#
    private let newer = #"{"id":"a","notes":"theirs","updated_at":"2026-01-01T11:00:00.000Z"}"#
    private var latest: String { #"{"id":"b","updated_at":"\#(early)"}"# }

    @Test("a full pull from a server that is behind moves it back to the first version that was taken back")
    func behind() async throws {
        let test = try TestPull()
        try serve([newer, latest], test)
        try await test.pull()
        #expect(try test.cursor.watermark == early)
        try serve([older, latest], test)
        try await test.pull(full: true)
        #expect(try test.cursor.watermark == "2026-01-01T11:00:00.000Z")
        #expect(try test.cursor.lateness == 0, "an older version is not late")
        try serve([newer, latest], test)
        test.upstream.forget()
        try await test.pull()
        #expect(asked(test) == ["2026-01-01T10:59:50.000Z"])
        #expect(try test.remote("a") == newer)
        #expect(try test.cursor.watermark == early)
    }

    @Test("so does one whose list disagrees with its total, and is read twice")
    func behindWithGap() async throws {
        let test = try TestPull()
        try serve([newer, latest], test)
        try await test.pull()
        let page = try JSONText(parsing: "[\(older),\(latest)]")
        test.upstream.answering { _ in .success(Page(records: page, count: 2, total: 3)) }
        try await test.pull(full: true)
        #expect(test.upstream.requests.count == 3)
        #expect(try test.cursor.watermark == "2026-01-01T11:00:00.000Z")
    }

    @Test("so does one that is interrupted after that, and goes on while the server is still behind")
    func behindAndInterrupted() async throws {
        let test = try TestPull()
        try serve([newer, latest], test)
        try await test.pull()
        let (one, two) = (try JSONText(parsing: "[\(older)]"), try JSONText(parsing: "[\(latest)]"))
        for isBroken in [true, false] {
            test.upstream.answering { request in
                if request.position == nil { return .success(Page(records: one, count: 1, next: "2")) }
                return isBroken ? .failure(.unclear(status: 500, "oops")) : .success(Page(records: two, count: 1))
            }
            _ = try? await test.pull(full: true)
            #expect(try (test.cursor.pull != nil) == isBroken)
            #expect(try test.cursor.watermark == "2026-01-01T11:00:00.000Z")
        }
    }

    @Test("a full pull that takes back what a read has brought since the last pull does not move it past that")
    func behindARead() async throws {
        let test = try TestPull()
        try serve([older], test)
        try await test.pull()
        let found = RemoteRecord(try JSONText(parsing: newer))
        let orders = try #require(test.schema["orders"])
        try await test.store.apply([found], of: orders, position: test.store.position(), at: test.clock.timestamp)
        try serve([older, latest], test)
        try await test.pull(full: true)
        #expect(try test.remote("a") == older)
        #expect(try test.cursor.watermark == "2026-01-01T08:00:00.000Z")
    }

    @Test("so does a read of one record")
    func readBehind() async throws {
        let test = try TestPull()
        try serve([newer, latest], test)
        try await test.pull()
        let found = RemoteRecord(try JSONText(parsing: older))
        let orders = try #require(test.schema["orders"])
        try await test.store.apply([found], of: orders, position: test.store.position(), at: test.clock.timestamp)
        #expect(try test.cursor.watermark == "2026-01-01T11:00:00.000Z")
        try await test.pull()
        #expect(try test.remote("a") == newer)
    }

    @Test("a pull of changes that shows an older version moves on all the same")
    func olderChange() async throws {
        let test = try TestPull()
        try serve([newer], test)
        try await test.pull()
        let page = try JSONText(parsing: "[\(older),\(latest)]")
        test.upstream.answering { _ in .success(Page(records: page, count: 2)) }
        try await test.pull()
        #expect(try test.cursor.watermark == early)
    }

    @Test("a pull that ends with a gap is repeated from the same time")
    func gap() async throws {
        let test = try TestPull()
        try serve([#"{"id":"a","updated_at":"\#(early)"}"#], test)
        try await test.pull()
        test.upstream.forget()
        let page = try JSONText(parsing: #"[{"id":"b","updated_at":"2026-01-01T13:00:00Z"}]"#)
        test.upstream.answering { _ in .success(Page(records: page, count: 1, total: 2)) }
        let summary = try await test.pull()
        #expect(asked(test) == ["2026-01-01T11:59:50.000Z", "2026-01-01T11:59:50.000Z"])
        #expect(summary.hasGap)
        #expect(try test.cursor.watermark == "2026-01-01T13:00:00.000Z")
    }

    @Test(
        "a first pull moves the watermark if the list only grew at its end meanwhile, so that each record was seen",
        arguments: [([1, 2], true), ([3, 2], false), ([1, 3], false)])
    func growing(totals: [Int], moves: Bool) async throws {
        let test = try TestPull()
        let one = try JSONText(parsing: #"[{"id":"a","updated_at":"2026-01-01T11:00:00Z"}]"#)
        let two = try JSONText(parsing: #"[{"id":"b","updated_at":"\#(early)"}]"#)
        test.upstream.answering { request in
            request.position == nil
                ? .success(Page(records: one, count: 1, total: totals[0], next: "2"))
                : .success(Page(records: two, count: 1, total: totals[1]))
        }
        let summary = try await test.pull()
        #expect(summary.hasGap, "deletions are not inferred from it")
        #expect(try test.cursor.watermark == (moves ? early : nil))
    }
}
