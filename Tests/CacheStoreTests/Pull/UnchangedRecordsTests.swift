import GRDB
import JSONText
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

    private struct Undone: Error { var outcome: PageOutcome }

    /// What writing a page would do.
    private func outcome(_ page: String, _ cache: TestCache) async throws -> PageOutcome {
        let store = cache.store
        let table = try store.table("orders")
        do {
            return try await store.change(at: TestCache.now) { context in
                let incoming = try IncomingPage(JSONText(parsing: page), of: table.entity)
                throw Undone(
                    outcome: try PageApplier(table: table, context: context).apply(incoming, clear: incoming, .init()))
            }
        } catch let undone as Undone {
            return undone.outcome
        }
    }

    @Test("a page that the cache already has writes nothing")
    func all() async throws {
        let cache = try await filled()
        #expect(try await outcome("[\(Self.orders)]", cache).changed == false)
        #expect(try await outcome(" [ \(Self.orders) ] ", cache).changed == false)
    }

    @Test("new, changed and deleted records are written")
    func some() async throws {
        let cache = try await filled(Self.orders + #",{"id":"d","deleted_at":null}"#)
        let changed = #"{"id":"a","status":"ready"}"#
        let (new, gone) = (#"{"id":"new"}"#, #"{"id":"d","deleted_at":"x"}"#)
        let found = try await outcome("[\(new),\(Self.orders),\(gone)]", cache)
        #expect((found.written, found.deleted, found.hadBefore) == (1, 1, 3))
        #expect(try await outcome("[\(changed)]", cache).written == 1)
    }

    @Test("when a page has two versions of one record, the last counts, and nothing is written if the cache has that")
    func twice() async throws {
        let cache = try await filled()
        let changed = #"{"id":"a","status":"ready"}"#
        #expect(try await outcome("[\(Self.orders),\(changed)]", cache).written == 1)
        #expect(try await outcome("[\(changed),\(Self.orders)]", cache).written == 0)
        _ = try await cache.pull("orders", "[\(changed),\(Self.orders)]")
        #expect(try cache.record("orders", "a")?["status"]?.string == "open")
    }

    @Test(
        "a record in another notation is another version of the same record",
        arguments: [#"{"id":"\u0061"}"#, #"{"id": "a"}"#, #"{"status":"open","id":"a"}"#])
    func notation(_ record: String) async throws {
        let cache = try await filled()
        #expect(try await outcome("[\(Self.orders),\(record)]", cache).written == 1)
        #expect(try await outcome("[\(record),\(Self.orders)]", cache).written == 0)
    }

    @Test(
        "what is no record with a usable key is set aside",
        arguments: [
            #"{"id":null}"#, #"{"id":""}"#, #"{"id":1.5}"#, #"{"id":1e3}"#, #"{"id":"a\u0000b"}"#, #"{"id":{}}"#, "{}",
            "[]", "9",
        ])
    func odd(_ record: String) async throws {
        let cache = try await filled()
        let found = try await outcome("[\(Self.orders),\(record)]", cache)
        #expect((found.written, found.setAside, found.records) == (0, 1, 4))
    }

    @Test("the times of a page are compared in every notation, and an implausible one is not the latest")
    func times() async throws {
        let cache = try await filled()
        func times(_ texts: String...) async throws -> [String?] {
            let records = texts.enumerated().map { #"{"id":"t\#($0)","updated_at":\#($1)}"# }
            let found = try await outcome("[\(records.joined(separator: ","))]", cache)
            return [found.endingChange, found.latestChange]
        }
        #expect(
            try await times(
                #""2026-11-20T10:00:00Z""#, #""2026-11-20T10:00:00.5Z""#, #""2099-01-01T00:00:00Z""#,
                #""2026-11-20T10:30:00+02:00""#, "null")
                == ["2026-11-20T08:30:00.000Z", "2026-11-20T10:00:00.500Z"])
        #expect(try await times(#""2099-01-01T00:00:00Z""#) == ["2099-01-01T00:00:00.000Z", nil])
        #expect(try await times("null") == [nil, nil])
    }

    @Test("records with spaces between their parts are treated like others", arguments: TestRun.seeds(8, full: 40))
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
            page.records = try JSONText(
                parsing: "[\(records.map { $0.replacing("{", with: "{ ") }.joined(separator: ","))]")
            var other = try await spaced.store.apply(page, at: TestCache.now)
            other.known = outcome.known.sorted() == other.known.sorted() ? outcome.known : other.known
            #expect(outcome == other, "\(TestRun.note(seed)), round \(round): \(page.records)")
            #expect(
                try contents(compact) == contents(spaced).map { $0.replacing("{ ", with: "{") },
                "\(TestRun.note(seed)), round \(round): \(page.records)")
        }
        for cache in [compact, spaced] { try await cache.store.completeIndexes() }
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
