import EntitySchema
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("Lists that take long")
struct ListTurnTests {
    private let pages = [#"[{"id":"a"},{"id":"b"}]"#, #"[{"id":"c"},{"id":"d"}]"#, #"[{"id":"e"}]"#]

    private func pull(_ test: TestPull, _ turn: ListTurn, full: Bool = true) async throws -> PullSummary {
        var puller = test.puller()
        puller.turn = turn
        return try await puller.pull(#require(test.schema["orders"]), full: full)
    }

    @Test("a list that takes longer than its turn lets others be read before its next page, and is read to its end")
    func givesWay() async throws {
        let test = try TestPull()
        try test.upstream.serve(pages)
        let others = Counter()
        let turn = ListTurn(test.clock, length: .zero) { others.next() }
        #expect(try await pull(test, turn).seen == 5)
        #expect(others.count > 0)
        #expect(try test.keys() == ["a", "b", "c", "d", "e"])
        #expect(try test.cursor.pull == nil)
    }

    @Test("a list that is quicker than a turn lets no others be read")
    func keepsOn() async throws {
        let test = try TestPull()
        try test.upstream.serve(pages)
        let others = Counter()
        #expect(try await pull(test, ListTurn(test.clock) { others.next() }).seen == 5)
        #expect(others.count == 0)
    }

    @Test("a list whose turn ends while another one waits continues at its next page")
    func continues() async throws {
        let test = try TestPull()
        try test.upstream.serve(pages)
        let turn = ListTurn(test.clock, length: .zero) { throw ListTurn.Ended() }
        await #expect(throws: ListTurn.Ended.self) { _ = try await pull(test, turn) }
        #expect(try test.keys() == ["a", "b"])
        #expect(try test.cursor.pull?.position == "2")
        test.upstream.forget()
        try await test.pull()
        #expect(test.upstream.positions == ["2", "3"])
        #expect(try test.keys() == ["a", "b", "c", "d", "e"])
    }

    @Test("a scroll, which would expire meanwhile, is read to its end first")
    func scroll() async throws {
        let test = try TestPull("pagination: { style: cursor, next: next, scroll: true }")
        try test.upstream.serve(pages)
        let turn = ListTurn(test.clock, length: .zero) { throw ListTurn.Ended() }
        #expect(try await pull(test, turn).seen == 5)
        #expect(test.upstream.positions == [nil, "2", "3"])
    }

    @Test("a list that was read to its end is done, however long it took", arguments: [true, false])
    func atEnd(full: Bool) async throws {
        let test = try TestPull("mode: newest_first, changed_at: updated_at")
        try test.upstream.serve([#"[{"id":"a","updated_at":"2026-01-01T00:00:00Z"}]"#])
        try await test.pull()
        try test.upstream.serve([#"[{"id":"a","updated_at":"2026-01-02T00:00:00Z"}]"#])
        let turn = ListTurn(test.clock, length: .zero) { throw ListTurn.Ended() }
        #expect(try await pull(test, turn, full: full).seen == 1)
        #expect(try test.remote("a")?.contains("01-02") == true)
    }

    @Test("after others were read, a whole turn begins")
    func next() async throws {
        let clock = ManualClock()
        let others = Counter()
        let turn = ListTurn(clock, length: .seconds(60)) { others.next() }
        for (passed, count) in [(59, 0), (1, 1), (59, 1), (1, 2)] {
            clock.advance(by: .seconds(passed))
            try await turn.giveWay()
            #expect(others.count == count)
        }
    }
}
