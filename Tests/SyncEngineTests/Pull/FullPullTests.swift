import EntitySchema
import JSONText
import SchemaDrift
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("Deletions by full pulls")
struct FullPullTests {
    private func page(_ range: Range<Int>) -> String {
        JSONText.array(range.map { .object(["id": .string("k\($0)"), "updated_at": "2026-01-01"]) }).text
    }

    private func filled(_ count: Int, singles: Bool = true) async throws -> TestPull {
        let test = try TestPull()
        try test.upstream.serve([page(0..<count)], total: count, singles: singles)
        try await test.pull()
        return test
    }

    @Test("a full pull deletes records that it did not see; an incremental pull deletes nothing")
    func deletes() async throws {
        let test = try await filled(60)
        try test.upstream.serve([page(0..<20), page(20..<50)], total: 50, singles: true)
        try await test.pull()
        #expect(try test.keys().count == 60)
        let summary = try await test.pull(full: true)
        #expect(summary.deleted == 10)
        #expect(try test.keys().count == 50)
        #expect(try test.store.rowCounts()["orders"] == 50)
    }

    @Test("of an empty list only the first pull is noted as a full one, and none where every pull is full")
    func noted() async throws {
        let test = try TestPull()
        try test.upstream.serve(["[]"], total: 0)
        let first = test.clock.timestamp
        for _ in 1...2 {
            try await test.pull()
            #expect(try test.cursor.lastFullAt == first)
            test.clock.advance(by: .seconds(60))
        }
        let full = try TestPull("mode: full")
        try full.upstream.serve([page(0..<3)], total: 3)
        try await full.pull()
        #expect(try full.cursor.lastFullAt == nil)
    }

    @Test("a full pull that lacks a record which was just created is repeated by the next pull")
    func unseenCreation() async throws {
        let test = try await filled(60, singles: false)
        let made = JSONText.object(["id": "new", "updated_at": "2026-01-01"])
        _ = try await test.store.create("orders", body: made, at: test.clock.timestamp)
        let change = try #require(try test.store.readyChanges(limit: 1, at: test.clock.timestamp).first)
        #expect(try await test.store.begin(change, at: test.clock.timestamp))
        try await test.store.finish(change.id, .acknowledged(record: made), at: test.clock.timestamp)
        try await test.pull(full: true)
        #expect(try test.cursor.lastFullAt == nil && test.keys().contains("new"))
        test.clock.advance(by: .seconds(61))
        for _ in 1...2 { try await test.pull(full: true) }
        #expect(try test.cursor.lastFullAt != nil && !test.keys().contains("new"))
    }

    @Test("#18 a listed record with NaN is set aside, kept as it was, and not deleted")
    func notANumber() async throws {
        let test = try await filled(30)
        let before = try test.store.record("orders", key: "k7")
        let rows = (0..<30).map { number in
            number == 7
                ? JSONText.string(#"{"id":"k7","total":NaN}"#)
                : .object(["id": .string("k\(number)"), "updated_at": "2026-01-02"])
        }
        try test.upstream.serve([JSONText.array(rows).text], total: 30)
        let summary = try await test.pull(full: true)
        #expect(summary.setAside == 1 && summary.deleted == 0 && summary.written == 29)
        #expect(try test.store.record("orders", key: "k7") == before)
        #expect(try test.store.setAsideRecords(limit: 9).map(\.record) == [#"{"id":"k7","total":NaN}"#])
    }

    @Test("a listed record with too many combining marks is set aside, kept as it was, and not deleted")
    func manyMarks() async throws {
        let test = try await filled(30)
        let before = try test.store.record("orders", key: "k7")
        let odd = #"{"id":"k7","note":"e\#(String(repeating: "\u{316}", count: 129))"}"#
        let rows = (0..<30).map { number in
            number == 7 ? JSONText.string(odd) : .object(["id": .string("k\(number)"), "updated_at": "2026-01-02"])
        }
        try test.upstream.serve([JSONText.array(rows).text], total: 30)
        let summary = try await test.pull(full: true)
        #expect(summary.setAside == 1 && summary.deleted == 0 && summary.written == 29)
        #expect(try test.store.record("orders", key: "k7") == before)
    }

    @Test(
        "a list with something that has no usable key deletes nothing where only lists exist",
        arguments: ["null", "false", #""k59""#, #"{"error":"could not be loaded"}"#, #"{"id":null}"#, #"{"id":59.0}"#])
    func withoutKey(_ element: String) async throws {
        let test = try await filled(60, singles: false)
        try test.upstream.serve(["\(page(0..<59).dropLast()),\(element)]"], total: 60)
        for _ in 1...3 {
            let summary = try await test.pull(full: true)
            #expect(summary.deleted == 0 && summary.held == 1 && summary.setAside == 1)
        }
        #expect(try test.keys().contains("k59"))
        #expect(try test.cursor.held?.contains("without a usable key") == true)
        try test.upstream.serve([page(0..<59)], total: 59)
        #expect(try await test.pull(full: true).deleted == 0)
        #expect(try await test.pull(full: true).deleted == 1)
    }

    @Test("a record seen twice shows that the list moved: unseen records are not deleted")
    func moved() async throws {
        let test = try await filled(60, singles: false)
        test.upstream.forget()
        try test.upstream.serve([page(0..<30), page(29..<30), page(31..<60)], total: 60)
        let summary = try await test.pull(full: true)
        #expect(summary.deleted == 0)
        #expect(try test.keys().contains("k30"))
        #expect(test.upstream.requests.count == 6, "it read the list once more")
    }

    @Test(
        "more deletions than the guard allows wait until a person confirms or the records are back",
        arguments: [true, false])
    func held(confirms: Bool) async throws {
        let test = try await filled(60, singles: false)
        try test.upstream.serve([page(0..<47)])
        #expect(try await test.pull(full: true).held == 13)
        #expect(try test.keys().count == 60)
        #expect(try test.cursor.heldDeletions == 13)
        try await test.pull()
        #expect(try test.cursor.heldDeletions == 13)
        if confirms {
            try await test.pull(full: true, confirmed: ["orders"])
            #expect(try test.keys().count == 47)
        } else {
            try test.upstream.serve([page(0..<60)])
            try await test.pull(full: true)
            #expect(try test.keys().count == 60)
        }
        #expect(try test.cursor.heldDeletions == 0)
    }

    @Test("deletions that cannot be asked for one by one wait for a second full pull that agrees")
    func twice() async throws {
        let test = try await filled(60, singles: false)
        try test.upstream.serve([page(0..<50)], total: 50)
        #expect(try await test.pull(full: true).deleted == 0)
        #expect(try test.cursor.lastFullAt == nil, "the next pull reads everything")
        // One of them is back, and another one is missing now.
        try test.upstream.serve([page(0..<49), page(50..<51)], total: 50)
        #expect(try await test.pull(full: true).deleted == 9)
        #expect(try test.keys().contains("k50") && test.keys().contains("k49"))
        #expect(try await test.pull(full: true).deleted == 1)
        #expect(try test.keys().count == 50)
        #expect(try test.cursor.lastFullAt == test.clock.timestamp)
    }

    @Test("a list that a gateway kept from before the first full pull is no second one; a later one is")
    func keptByGateway() async throws {
        let test = try await filled(8, singles: false)
        let records = try JSONText(parsing: page(0..<7))
        test.upstream.answering { _ in .success(Page(records: records, count: 7, total: 7, age: .seconds(30))) }
        for _ in 1...2 {
            try await test.pull(full: true)
            #expect(try test.keys().count == 8)
            test.clock.advance(by: .seconds(10))
        }
        test.clock.advance(by: .seconds(15))
        #expect(try await test.pull(full: true).deleted == 1)
    }

    @Test("a page that a gateway repeats is no second full pull, however long the pull of the pages after it takes")
    func keptWhileOthersAreRead() async throws {
        let test = try await filled(8, singles: false)
        let (first, second) = (try JSONText(parsing: page(0..<4)), try JSONText(parsing: page(4..<7)))
        let clock = test.clock
        test.upstream.answering { request in
            if request.position == nil {
                return .success(Page(records: first, count: 4, total: 7, next: "2", age: .seconds(30)))
            }
            clock.advance(by: .seconds(40))
            return .success(Page(records: second, count: 3, total: 7))
        }
        for _ in 1...2 {
            try await test.pull(full: true)
            #expect(try test.keys().count == 8)
        }
        #expect(try await test.pull(full: true).deleted == 1)
    }

    @Test("hundreds of deletions of thousands of records are made without being asked")
    func many() async throws {
        let test = try await filled(1200)
        try test.upstream.serve([page(0..<1000)], total: 1000, singles: true)
        #expect(try await test.pull(full: true).deleted == 0)
        #expect(test.upstream.reads.count < 10)
        #expect(try await test.pull(full: true).deleted == 200)
        #expect(try test.store.rowCounts()["orders"] == 1000)
        #expect(try test.cursor.heldDeletions == 0)
    }

    @Test("many records that a list lacks twice are kept if the upstream still has one of them")
    func stillThere() async throws {
        let test = try await filled(1200)
        let all = Set((0..<1200).map { "k\($0)" })
        try test.upstream.serve([page(0..<1000)], total: 1000)
        test.upstream.serveSingles { _, key in .success(all.contains(key) ? #"{"id":"\#(key)"}"# : nil) }
        for _ in 1...2 { #expect(try await test.pull(full: true).held == 200) }
        #expect(try test.cursor.held?.contains("still has k1000") == true)
    }

    @Test("a person who is asked to confirm what an empty list lacks is told that the upstream still has it")
    func emptyListOfMany() async throws {
        let test = try await filled(150)
        try test.upstream.serve(["[]"], total: 0)
        test.upstream.serveSingles { _, key in .success(#"{"id":"\#(key)"}"#) }
        #expect(try await test.pull(full: true).held == 150)
        let held = try #require(try test.cursor.held)
        #expect(held.contains("the list of orders was empty, had 150; the upstream still has k"), "\(held)")
        for failure in [UpstreamError.unclear(status: 500, "out of order"), .unauthorized("answered 401")] {
            test.upstream.serveSingles { _, _ in .failure(failure) }
            #expect(try await test.pull(full: true).held == 150)
            let unread = try #require(try test.cursor.held)
            #expect(unread.hasPrefix("the list of orders was empty, had 150"), "\(unread)")
            #expect(!unread.contains("still has"), "\(unread)")
        }
    }

    @Test("without single records even one of four is too many to delete; asked for one by one, all may go")
    func noMinimum() async throws {
        let lists = try await filled(4, singles: false)
        try lists.upstream.serve([page(0..<3)], total: 3)
        for _ in 1...2 { #expect(try await lists.pull(full: true).held == 1) }
        let singles = try await filled(11)
        try singles.upstream.serve([page(0..<1)], total: 1, singles: true)
        #expect(try await singles.pull(full: true).deleted == 10)
    }

    @Test("a pull whose count differs from the reported one runs again, and deletes nothing if it still differs")
    func gap() async throws {
        let test = try await filled(5, singles: false)
        test.upstream.forget()
        try test.upstream.serve([page(0..<4)], total: 5)
        let summary = try await test.pull(full: true)
        #expect(test.upstream.requests.count == 2)
        #expect(summary.hasGap)
        #expect(try test.keys().count == 5)
        let misses = Flag()
        let (less, all) = (try JSONText(parsing: page(0..<3)), try JSONText(parsing: page(0..<4)))
        test.upstream.answering { _ in
            .success(misses.take() ? Page(records: less, count: 3, total: 4) : Page(records: all, count: 4, total: 4))
        }
        try test.upstream.serveSingles(of: page(0..<4))
        #expect(try await test.pull(full: true).deleted == 1)
        #expect(try test.keys() == ["k0", "k1", "k2", "k3"])
    }

    private static let failure = Result<Page, UpstreamError>.failure(.unclear(status: 500, "oops"))

    @Test("an interrupted pull keeps its records and is followed by a whole pull, which alone may delete")
    func cutOff() async throws {
        let test = try await filled(5)
        let pages = [#"[{"id":"k1","notes":"n"},{"id":"k2"}]"#, page(3..<6)]
        try test.upstream.serve(pages, after: Self.failure, at: "2")
        await #expect(throws: UpstreamError.self) { try await test.pull(full: true) }
        test.upstream.forget()
        try test.upstream.serveSingles(of: page(1..<6))
        try await test.pull(full: true)
        #expect(test.upstream.positions == ["2", nil, "2"])
        #expect(try test.keys() == ["k1", "k2", "k3", "k4", "k5"])
    }

    @Test("an interrupted pull goes on where it stopped, also if it has brought nothing new")
    func cutOffWithoutNews() async throws {
        let test = try await filled(6)
        try test.upstream.serve([page(0..<2), page(2..<4), page(4..<6)], after: Self.failure, at: "3")
        await #expect(throws: UpstreamError.self) { try await test.pull(full: true) }
        #expect(try test.cursor.pull?.position == "3")
        try test.upstream.serve([page(0..<2), page(2..<4), #"[{"id":"k4"},{"id":"k5","notes":"n"}]"#])
        test.upstream.forget()
        try await test.pull(full: true)
        #expect(test.upstream.positions == ["3", nil, "2", "3"])
        let record = try #require(try test.store.record("orders", key: "k5"))
        #expect(String(decoding: record, as: UTF8.self).contains(#""notes":"n""#))
    }

    @Test("a list that stays empty is stored as pulled once, and again when a full pull is due")
    func staysEmpty() async throws {
        let test = try TestPull()
        try test.upstream.serve(["[]"], total: 0)
        try await test.pull()
        let first = try test.cursor
        #expect(first.lastFullAt == test.clock.timestamp)
        test.clock.advance(by: .seconds(60))
        try await test.pull()
        #expect(try test.cursor == first)
        try await test.pull(full: true)
        #expect(try test.cursor.lastFullAt == test.clock.timestamp)
    }

    @Test("an interrupted first pull resumes and moves the watermark, and the next sync reads everything")
    func firstCutOff() async throws {
        let test = try TestPull()
        try test.upstream.serve([page(0..<2), page(2..<4)], after: Self.failure, at: "2")
        await #expect(throws: UpstreamError.self) { try await test.pull(full: true) }
        test.upstream.forget()
        try await test.pull(full: true)
        #expect(test.upstream.positions == ["2"])
        #expect(try test.cursor.watermark != nil && test.cursor.lastFullAt == nil)
    }

    @Test("a resumed first pull that meets a known record is repeated: the list moved")
    func firstSlides() async throws {
        let test = try TestPull()
        try test.upstream.serve([page(0..<2), page(2..<4)], after: Self.failure, at: "2")
        await #expect(throws: UpstreamError.self) { try await test.pull() }
        test.upstream.forget()
        try test.upstream.serve([page(1..<3), #"[{"id":"k3"},{"id":"k0","notes":"changed"}]"#])
        try await test.pull()
        #expect(test.upstream.positions == ["2", nil, "2"])
        #expect(try test.keys() == ["k0", "k1", "k2", "k3"])
    }
}
