import EntitySchema
import JSONText
import SchemaDrift
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("Pulling newest first")
struct NewestFirstTests {
    private static let mode = "mode: newest_first, changed_at: updated_at"

    private func serve(_ records: [(id: String, day: Int)], failingAt page: Int? = nil, _ test: TestPull) {
        serve(records.map { ($0.id, day($0.day)) }, failingAt: page, test)
    }

    /// Serves these records in order, two a page; fails once at the page given.
    private func serve(_ records: [(id: String, time: String)], failingAt page: Int? = nil, _ test: TestPull) {
        serve(records.map { ($0.id, JSONText.string($0.time)) }, failingAt: page, test)
    }

    private func serve(_ records: [(id: String, time: JSONText)], failingAt page: Int? = nil, _ test: TestPull) {
        let elements = records.map { JSONText.object(["id": .string($0.id), "updated_at": $0.time]) }
        let fails = Flag()
        test.upstream.forget()
        test.upstream.answering { request in
            let number = request.position.flatMap { Int($0) } ?? 1
            if number == page, fails.take() { return .failure(.unclear(status: 500, "oops")) }
            let records = Array(elements.dropFirst((number - 1) * 2).prefix(2))
            return .success(
                Page(
                    records: .array(records), count: records.count, total: elements.count,
                    next: number * 2 < elements.count ? "\(number + 1)" : nil))
        }
    }

    private func day(_ day: Int) -> String { "2026-01-\(day < 10 ? "0" : "")\(day)T00:00:00Z" }

    private let old = (1...10).reversed().map { (id: "o\($0)", day: $0) }

    private func filled() async throws -> TestPull {
        let test = try TestPull(Self.mode)
        serve(old, test)
        try await test.pull()
        #expect(test.upstream.requests.count == 5)
        return test
    }

    @Test("the first pull reads everything, the next one stops at the first known page")
    func stops() async throws {
        let test = try await filled()
        serve([("n1", 12), ("n2", 11)] + old, test)
        try await test.pull()
        #expect(test.upstream.positions == [nil, "2"])
        #expect(try test.keys().count == 12)
        serve([("n1", 12), ("n2", 11)] + old, test)
        let before = try test.cursor
        try await test.pull()
        #expect(test.upstream.positions == [nil])
        #expect(try test.cursor == before)
    }

    @Test("times may be seconds or milliseconds since 1970", arguments: [1, 1000])
    func numbers(_ unit: Int) async throws {
        let test = try TestPull(Self.mode) {
            $0.replacing("updated_at: { type: time", with: "updated_at: { type: integer")
        }
        let records = { (days: [Int]) in
            days.map { (id: "o\($0)", time: JSONText.integer((1_767_225_600 + $0 * 86_400) * unit)) }
        }
        serve(records((1...10).reversed()), test)
        try await test.pull()
        #expect(test.upstream.requests.count == 5)
        serve(records((1...12).reversed()), test)
        try await test.pull()
        #expect(test.upstream.positions == [nil, "2"])
        #expect(try test.keys().count == 12)
    }

    @Test("an interrupted first pull resumes until it has everything")
    func firstCutOff() async throws {
        let test = try TestPull(Self.mode)
        serve(old, failingAt: 3, test)
        await #expect(throws: UpstreamError.self) { try await test.pull() }
        try await test.pull()
        #expect(try test.keys().count == 10)
    }

    @Test("a resumed pull reads past the interruption, however many records are newer")
    func pastTheCut() async throws {
        let test = try await filled()
        let news = (21...28).reversed().map { (id: "n\($0)", day: $0) }
        serve(news + old, failingAt: 3, test)
        await #expect(throws: UpstreamError.self) { try await test.pull() }
        #expect(try test.keys().count == 14)
        // Two more, then an interruption: the missing records are behind two known pages.
        serve([("m1", 30), ("m2", 29)] + news + old, failingAt: 2, test)
        await #expect(throws: UpstreamError.self) { try await test.pull() }
        serve([("m1", 30), ("m2", 29)] + news + old, test)
        try await test.pull()
        #expect(try test.keys().count == 20)
        // The third page holds the interruption; the sixth is the first known page after it.
        #expect(test.upstream.requests.count == 6)
        #expect(try test.cursor.pull == nil)
    }

    @Test("old records that are pinned to the top do not hide what an interrupted pull has left")
    func pinned() async throws {
        let test = try await filled()
        let news = (11...14).reversed().map { (id: "n\($0)", day: $0) }
        let listed = [(id: "o1", day: 1)] + news + Array(old.dropLast())
        serve(listed, failingAt: 2, test)
        await #expect(throws: UpstreamError.self) { try await test.pull() }
        serve(listed, test)
        try await test.pull()
        #expect(try test.keys().isSuperset(of: ["n14", "n13", "n12", "n11"]))
        serve(listed, test)
        try await test.pull()
        #expect(test.upstream.positions == [nil, "2"])
        #expect(try !test.store.drift().contains { $0.kind == .list })
    }

    @Test("a list in another order is read to its end and reported, until a full pull finds it in order")
    func unsorted() async throws {
        let test = try await filled()
        let changed = (1...10).map { (id: "o\($0)", day: $0 == 7 ? 12 : $0) }
        serve(changed, test)
        try await test.pull()
        #expect(test.upstream.positions == [nil, "2", "3", "4", "5"])
        #expect(try test.remote("o7")?.contains("2026-01-12") == true)
        #expect(try test.store.drift().contains { $0.kind == .list && $0.found.contains("newest first") })
        serve([("o7", 12)] + old.filter { $0.id != "o7" }, test)
        try await test.pull(full: true)
        #expect(try !test.store.drift().contains { $0.kind == .list })
    }

    @Test("our own acknowledged changes on top do not hide the changes of others between them")
    func behindOurOwn() async throws {
        let test = try await filled()
        for (id, number) in [("m1", 13), ("m2", 12)] {
            _ = try await test.store.create(
                "orders", body: .object(["id": .string(id)]), at: test.clock.timestamp)
            let change = try #require(try test.store.readyChanges(limit: 1, at: test.clock.timestamp).first)
            #expect(try await test.store.begin(change, at: test.clock.timestamp))
            let record = JSONText.object(["id": .string(id), "updated_at": .string(day(number))])
            try await test.store.finish(change.id, .acknowledged(record: record), at: test.clock.timestamp)
        }
        let all = [("m1", 13), ("m2", 12), ("theirs", 11)] + old
        serve(all, test)
        try await test.pull()
        #expect(try test.keys().contains("theirs"))
        serve(all, test)
        try await test.pull()
        #expect(test.upstream.positions == [nil], "it stops at pages that the previous pull has read")
    }

    @Test("a row that is committed late below known rows is found")
    func lateRow() async throws {
        let test = try await filled()
        let older = old.map { (id: $0.id, time: day($0.day)) }
        let newest = [("n1", "2026-01-12T12:02:00Z"), ("n2", "2026-01-12T12:01:00Z")]
        serve(newest + older, test)
        try await test.pull()
        serve(newest + [("late", "2026-01-12T12:00:00Z")] + older, test)
        try await test.pull()
        #expect(try test.keys().contains("late"))
    }

    @Test("without usable change times every pull reads everything")
    func withoutTimes() async throws {
        let test = try TestPull(Self.mode)
        let ahead = (1...4).map { JSONText.object(["id": .string("o\($0)"), "updated_at": "2999-01-01T00:00:00Z"]) }
        for _ in 1...2 {
            test.upstream.forget()
            test.upstream.answering { request in
                let number = request.position.flatMap { Int($0) } ?? 1
                return .success(
                    Page(
                        records: .array(Array(ahead.dropFirst((number - 1) * 2).prefix(2))), count: 2, total: 4,
                        next: number == 1 ? "2" : nil))
            }
            try await test.pull()
            #expect(test.upstream.positions == [nil, "2"])
        }
    }

    @Test("a page of records without keys proves nothing")
    func setAside() async throws {
        let test = try await filled()
        let pages = [try JSONText(parsing: #"[{"x":1},{"x":2}]"#), try JSONText(parsing: #"[{"id":"n"}]"#)]
        test.upstream.answering { request in .success(PagedUpstream.page(pages, request.position)) }
        try await test.pull()
        #expect(try test.keys().contains("n"))
    }

    @Test("a full pull reads everything and deletes missing records")
    func full() async throws {
        let test = try await filled()
        serve(Array(old.dropLast()), test)
        try test.upstream.serveSingles(of: JSONText.array(old.dropLast().map { .object(["id": .string($0.id)]) }).text)
        try await test.pull()
        #expect(try test.keys().count == 10)
        try await test.pull(full: true)
        #expect(try test.keys().count == 9)
    }
}
