import EntitySchema
import GRDB
import JSONText
import TestSupport
import Testing

@testable import CacheStore

/// What is kept of long values while they settle: each page reads it, and all writes wait meanwhile.
@Suite("Settling: long values")
struct LongValueTests {
    private let now = TestCache.now

    private static func notes(_ name: String, _ length: Int) -> String { name + String(repeating: ".", count: length) }

    private static func record(_ key: String, _ name: String, _ length: Int = 300_000) -> String {
        #"{"id":"\#(key)","notes":"\#(notes(name, length))"}"#
    }

    private func edit(_ cache: TestCache, _ key: String, _ name: String, _ length: Int = 300_000) async throws {
        try await cache.change("orders", key, #"{"notes":"\#(Self.notes(name, length))"}"#)
        try await cache.send(answer: Self.record(key, name, length))
    }

    private func shown(_ cache: TestCache, _ key: String) throws -> Character? {
        try cache.record("orders", key)?["notes"]?.string?.first
    }

    @Test("however often a value is changed, only the one before is kept, and is not taken for new when it comes back")
    func changedOften() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", "[\(Self.record("a", "A"))]")
        for name in ["B", "C", "D", "E"] { try await edit(cache, "a", name) }
        let length = try cache.store.read { try Int.fetchOne($0, sql: "SELECT length(fields) FROM sync_settling") }
        #expect(try #require(length) < 700_000)
        _ = try await cache.pull("orders", "[\(Self.record("a", "D"))]")
        #expect(try shown(cache, "a") == "E")
        _ = try await cache.pull("orders", "[\(Self.record("a", "X"))]")
        #expect(try shown(cache, "a") == "X")
    }

    @Test("a text of 90 kB that was changed twice is no news when it comes back as it was before")
    func changedTwice() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", "[\(Self.record("a", "A", 90_000))]")
        for name in ["B", "C"] { try await edit(cache, "a", name, 90_000) }
        _ = try await cache.pull("orders", "[\(Self.record("a", "A", 90_000))]")
        #expect(try shown(cache, "a") == "C")
    }

    @Test("what the server was seen to have is kept also if another long value was sent before")
    func corrected() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", "[\(Self.record("a", "A"))]")
        try await cache.change("orders", "a", #"{"notes":"\#(Self.notes("B", 300_000))"}"#)
        let id = try #require(try cache.store.readyChanges(limit: 1, at: now).first?.id)
        try await cache.send(.waiting(PushFailure(.timeout, message: "no answer"), at: now, counted: true))
        let correction = try JSONText(parsing: #"{"notes":"\#(Self.notes("C", 300_000))"}"#)
        try await cache.store.correct(id, setting: correction, at: now)
        try await cache.send(answer: Self.record("a", "C"))
        _ = try await cache.pull("orders", "[\(Self.record("a", "A"))]")
        #expect(try shown(cache, "a") == "C")
    }

    @Test("that a field had no value before is kept beside long values, so a list without it takes nothing away")
    func absentBefore() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":null}]"#)
        for name in ["B", "C"] { try await edit(cache, "a", name) }
        _ = try await cache.pull("orders", #"[{"id":"a"}]"#)
        #expect(try shown(cache, "a") == "C")
    }

    @Test("the values of many records are not in memory at once, and each still counts for its record")
    func manyRecords() async throws {
        let cache = try TestCache()
        let keys = (0..<10).map { "k\($0)" }
        let before = "[\(keys.map { Self.record($0, "A") }.joined(separator: ","))]"
        _ = try await cache.pull("orders", before)
        for key in keys { try await edit(cache, key, "B") }
        let isHeld = try cache.store.read { db in
            let table = SettlingTable(entity: "orders", db: db)
            return (all: try table.all(atMost: 500) != nil, one: try table.row(of: "k9") != nil)
        }
        #expect(!isHeld.all && isHeld.one)
        _ = try await cache.pull("orders", before)
        for key in keys { #expect(try shown(cache, key) == "B") }
    }

    @Test("what is known of a record that is read again is without its secrets, or only its key if it was deleted")
    func known() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","passcode":"1234"}]"#)
        try await cache.change("orders", "a", #"{"notes":"mine"}"#)
        try await cache.send(answer: nil)
        var record = try #require(try await cache.store.unconfirmed(limit: 9, at: now + .seconds(61)).first)
        #expect(try cache.store.known(of: record).text == #"{"id":"a","notes":"mine"}"#)
        record.key = "b"
        #expect(try cache.store.known(of: record).text == #"{"id":"b"}"#)
    }
}
