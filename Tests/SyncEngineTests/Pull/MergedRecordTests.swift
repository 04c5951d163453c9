import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

/// The list lacks a record, and the upstream answers a request for it with another one.
@Suite("Records that were merged into another")
struct MergedRecordTests {
    private func page(_ range: Range<Int>) -> String {
        JSONText.array(range.map { .object(["id": .string("k\($0)"), "updated_at": "2026-01-01"]) }).text
    }

    private func filled(_ count: Int) async throws -> TestPull {
        let test = try TestPull()
        try test.upstream.serve([page(0..<count)], total: count, singles: true)
        try await test.pull()
        return test
    }

    @Test("a record that was merged into another is deleted once the upstream has shown that for the time to settle")
    func merged() async throws {
        let test = try await filled(8)
        test.clock.advance(by: .seconds(1))
        try test.upstream.serve([page(0..<7)], total: 7)
        test.upstream.serveSingles { _, key in .success(#"{"id":"\#(key == "k7" ? "k1" : key)"}"#) }
        let first = try await test.pull(full: true)
        #expect(first.deleted == 0 && first.held == 1)
        #expect(try test.cursor.lastFullAt == nil)
        test.clock.advance(by: .seconds(30))
        #expect(try await test.pull(full: true).held == 1)
        test.clock.advance(by: .seconds(31))
        #expect(try await test.pull(full: true).deleted == 1)
        #expect(try test.keys() == Set((0..<7).map { "k\($0)" }))
        #expect(try test.cursor.held == nil)
    }

    @Test("a list that a gateway repeats does not show for the time to settle that a record was merged")
    func keptByGateway() async throws {
        let test = try await filled(8)
        let records = try JSONText(parsing: page(0..<7))
        test.upstream.answering { _ in .success(Page(records: records, count: 7, total: 7, age: .seconds(100))) }
        test.upstream.serveSingles { _, key in .success(#"{"id":"\#(key == "k7" ? "k1" : key)"}"#) }
        for _ in 1...2 {
            test.clock.advance(by: .seconds(61))
            #expect(try await test.pull(full: true).held == 1)
        }
        test.clock.advance(by: .seconds(61))
        #expect(try await test.pull(full: true).deleted == 1)
    }

    @Test("a record stays if the upstream answers every request with the same record")
    func sameForAll() async throws {
        let test = try await filled(8)
        try test.upstream.serve([page(0..<7)], total: 7)
        test.upstream.serveSingles { _, _ in .success(#"{"id":"k1"}"#) }
        for _ in 1...3 {
            test.clock.advance(by: .seconds(61))
            _ = try await test.pull(full: true)
        }
        #expect(try test.keys().count == 8)
    }

    @Test("an upstream that answers every request with the same record is no witness for others")
    func noWitness() async throws {
        let test = try await filled(8)
        let (judge, orders) = (test.puller().judge, try #require(test.schema["orders"]))
        test.upstream.serveSingles { _, _ in .success(#"{"id":"k1"}"#) }
        #expect(try await !judge.servesAnother(of: orders, than: ["k7"]))
        test.upstream.serveSingles { _, key in .success(#"{"id":"\#(key)"}"#) }
        #expect(try await judge.servesAnother(of: orders, than: ["k7"]))
    }

    @Test("a record stays if the upstream answers with another one that its list also lacks")
    func mergedIntoAnUnlisted() async throws {
        let test = try await filled(8)
        try test.upstream.serve([page(0..<6)], total: 6)
        test.upstream.serveSingles { _, key in .success(#"{"id":"\#(key == "k7" ? "k6" : key)"}"#) }
        for _ in 1...3 {
            test.clock.advance(by: .seconds(61))
            _ = try await test.pull(full: true)
        }
        #expect(try test.keys().count == 8)
    }
}
