import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Unchanged records in a page")
struct UnchangedRecordsTests {
    private static let orders = """
        {"id":"a","status":"open","updated_at":"2026-11-20T10:00:00Z"},\
        {"id":7,"total":1.50,"updated_at":"2026-11-20T09:00:00Z"},{"id":"c","notes":"{\\"x\\": [\\\\\\""}
        """

    private func filled(_ records: String = orders) async throws -> TestCache {
        let cache = try TestCache()
        _ = try await cache.pull("orders", "[\(records)]")
        return cache
    }

    /// The records of a page that remain to be written.
    private func left(_ page: String, _ cache: TestCache) async throws -> [String] {
        let table = try cache.store.table("orders")
        return try await cache.store.writer.write { db in
            let unchanged = try IncomingRecords(table, db, at: TestCache.now).fill(page)
            let values = try String.fetchAll(db, sql: "SELECT value FROM sync_incoming ORDER BY rowid")
            let rest = try JSONText(parsing: unchanged.rest(of: page)).elements
            #expect(rest.count == values.count)
            // With secrets, anything that is not a record is dropped.
            for (element, value) in zip(rest, values) where value != "…" {
                #expect(element.text.filter { $0 != " " } == value.filter { $0 != " " })
            }
            return values
        }
    }

    @Test("a page that the cache already has leaves nothing to write")
    func all() async throws {
        let cache = try await filled()
        #expect(try await left("[\(Self.orders)]", cache) == [])
        #expect(try await left(" [ \(Self.orders) ] ", cache) == [])
    }

    @Test("new, changed and deleted records remain, in their order")
    func some() async throws {
        let cache = try await filled(Self.orders + #",{"id":"d","deleted_at":null}"#)
        let changed = #"{"id":"a","status":"ready"}"#
        let (new, gone) = (#"{"id":"new"}"#, #"{"id":"d","deleted_at":"x"}"#)
        #expect(try await left("[\(new),\(Self.orders),\(gone)]", cache) == [new, gone])
        #expect(try await left("[\(changed)]", cache) == [changed])
    }

    @Test("when a page has two versions of one record, the second is written too")
    func twice() async throws {
        let cache = try await filled()
        let changed = #"{"id":"a","status":"ready"}"#
        #expect(try await left("[\(changed),\(Self.orders)]", cache).count == 2)
        _ = try await cache.pull("orders", "[\(changed),\(Self.orders)]")
        #expect(try cache.record("orders", "a")?["status"]?.string == "open")
    }

    @Test(
        "an unusual notation is left to SQLite, and so are later versions of the same record",
        arguments: [
            #"{"id":"\u0061"}"#, #"{"id":null}"#, #"{"id":-7}"#, #"{"id":""}"#, "{}", "[]", "9", #"{"id": "a"}"#,
        ])
    func odd(_ record: String) async throws {
        let cache = try await filled()
        #expect(try await left("[\(Self.orders),\(record)]", cache).count == 1)
        #expect(try await left("[\(record),\(Self.orders)]", cache).count == 4)
    }

    @Test(
        "a record remains if its change time is implausible or cannot be compared as text",
        arguments: [
            "2026-11-20T10:00:00+02:00", "2026-11-20", "now", "", "2026-11-22T10:42:00Z", "2099-01-01T00:00:00Z",
        ])
    func times(_ time: String) async throws {
        let odd = Self.orders + #",{"id":"e","updated_at":"\#(time)"}"#
        let cache = try await filled(odd)
        #expect(try await left("[\(odd)]", cache).count == 1)
    }

    /// Records with extra spaces are never recognised as unchanged by their text.
    @Test(
        "recognising a record by its text or by parsing gives the same result", arguments: TestRun.seeds(8, full: 40))
    func same(_ seed: UInt64) async throws {
        let (compact, spaced) = (try TestCache(), try TestCache())
        var dice = Dice(random: SeededRandom(seed: seed))
        for round in 0..<12 {
            let records = (0..<dice.roll(12)).map { _ in dice.record() }
            if dice.roll(3) == 0 {
                let status = dice.roll(2) == 0 ? "open" : "ready"
                for cache in [compact, spaced] where try cache.record("orders", "o1") != nil {
                    try await cache.store.update(
                        "orders", key: "o1", body: .object(["status": .string(status)]), at: TestCache.now)
                }
            }
            var page = PulledPage(entity: "orders", records: "[\(records.joined(separator: ","))]", position: .max)
            page.began = 0
            page.knownUpTo = dice.roll(4) == 0 ? nil : 5
            page.watermark = "2026-11-20T12:00:00.000Z"
            if dice.roll(2) == 0 { page.cursor = PullCursor(pull: PullInProgress(kind: .newest)) }
            let outcome = try await compact.store.apply(page, at: TestCache.now)
            page.records = "[\(records.map { $0.replacing("{", with: "{ ") }.joined(separator: ","))]"
            var other = try await spaced.store.apply(page, at: TestCache.now)
            other.known = outcome.known.sorted() == other.known.sorted() ? outcome.known : other.known
            #expect(outcome == other, "\(TestRun.note(seed)), round \(round): \(page.records)")
            #expect(try contents(compact) == contents(spaced), "\(TestRun.note(seed)), round \(round): \(page.records)")
        }
    }

    private func contents(_ cache: TestCache) throws -> [String] {
        try cache.store.read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT _pk || ' ' || _key || ' ' || coalesce(_remote, '-') || coalesce(_document, '-')
                    FROM records_orders ORDER BY _pk
                    """)
        }
    }
}

private struct Dice {
    var random: SeededRandom

    mutating func roll(_ sides: Int) -> Int { random.below(sides) }

    mutating func record() -> String {
        let key = roll(20) == 0 ? #""\u006f\#(roll(9))""# : roll(20) == 0 ? "null" : #""o\#(roll(9))""#
        let time = [
            "2026-11-20T1\(roll(9)):00:00Z", "2026-11-20T1\(roll(9)):00:00.\(roll(9))Z", "2099-01-01T00:00:00Z",
        ]
        let changed = roll(8) == 0 ? "" : #","updated_at":"\#(time[roll(10) == 0 ? 2 : roll(10) == 0 ? 1 : 0])""#
        let deleted = roll(9) == 0 ? #","deleted_at":"2026-11-20""# : ""
        return #"{"id":\#(key),"total":\#(roll(3))\#(changed)\#(deleted)}"#
    }
}
