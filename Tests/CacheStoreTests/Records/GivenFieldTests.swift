import Foundation
import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Fields computed on reading that the upstream sends")
struct GivenFieldTests {
    private static let schema = CreationDefaultTests.shop
    private static let plain = #"[{"id":"a","number":7}]"#
    private static let given = #"[{"id":"b","number":8,"ref":"server's"}]"#

    private func mayBeSent(_ cache: TestCache, _ entity: String = "orders") -> Bool? {
        cache.store.sealers.marks[entity]?.given?.isRaised
    }

    private func listed(_ cache: TestCache) throws -> [String: String] {
        let records = try JSONText(cache.store.list(ListQuery(entity: "orders")).records).elements
        return Dictionary(uniqueKeysWithValues: records.map { ($0["id"]?.string ?? "", $0["ref"]?.string ?? "") })
    }

    @Test("documents are searched for them once one was stored, and only those of its entity")
    func noted() async throws {
        let cache = try TestCache(schema: Self.schema)
        _ = try await cache.pull("orders", #"[{"id":"a","number":7,"inner":{"ref":"x"}}]"#)
        #expect(mayBeSent(cache) == false)
        #expect(try listed(cache) == ["a": "#7"])
        _ = try await cache.pull("orders", Self.given)
        #expect(mayBeSent(cache) == true)
        #expect(mayBeSent(cache, "clients") == false)
        #expect(try listed(cache) == ["a": "#7", "b": "server's"])
    }

    @Test("a record that the upstream sends without one, and then with it, shows the upstream's")
    func changed() async throws {
        let cache = try TestCache(schema: Self.schema)
        _ = try await cache.pull("orders", Self.plain)
        _ = try await cache.pull("orders", #"[{"id":"a","number":7,"ref":"server's"}]"#)
        #expect(try listed(cache) == ["a": "server's"])
        #expect(try cache.values("orders", "a", "ref") == [#""server's""#])
    }

    @Test("a null is replaced in its place")
    func null() async throws {
        let cache = try TestCache(schema: Self.schema)
        _ = try await cache.pull("orders", #"[{"id":"a","ref":null,"number":7}]"#)
        #expect(try cache.record("orders", "a")?.text.hasPrefix(##"{"id":"a","ref":"#7","number":7,"##) == true)
    }

    @Test("they are known after a restart, and not looked for again")
    func reopened() async throws {
        let cache = try TestCache(schema: Self.schema)
        _ = try await cache.pull("orders", Self.plain)
        let plain = try cache.reopened(schema: Self.schema)
        #expect(mayBeSent(plain) == false)
        _ = try await plain.pull("orders", Self.given)
        let given = try plain.reopened(schema: Self.schema)
        #expect(mayBeSent(given) == true)
        #expect(try listed(given) == ["a": "#7", "b": "server's"])
    }

    @Test("they are found in a database that was written before they were noted")
    func old() async throws {
        let cache = try TestCache(schema: Self.schema)
        _ = try await cache.pull("orders", Self.given)
        try await cache.store.writer.write { db in
            try db.execute(sql: "DELETE FROM sync_setting WHERE name LIKE 'given:%'")
        }
        let reopened = try cache.reopened(schema: Self.schema)
        #expect(mayBeSent(reopened) == true)
        #expect(try listed(reopened) == ["b": "server's"])
    }

    @Test("they are found in a restored backup, whatever it says of them")
    func restored() async throws {
        let cache = try TestCache(schema: Self.schema)
        _ = try await cache.pull("orders", Self.given)
        try await cache.store.writer.write { db in
            try db.execute(sql: "UPDATE sync_setting SET value = '0' || substr(value, 2) WHERE name = 'given:orders'")
        }
        try cache.store.close()
        let backup = cache.folder.path("backup.db")
        try FileManager.default.copyItem(atPath: cache.path, toPath: backup)
        _ = try await DatabaseRestore(
            path: cache.path, schema: cache.store.schema, sealer: RescueFixture.sealer(), makeID: { UUID().uuidString }
        ).run(from: backup, at: TestCache.now)
        let restored = try TestCache(schema: Self.schema, in: cache.folder)
        #expect(mayBeSent(restored) == true)
        #expect(try listed(restored) == ["b": "server's"])
    }

    @Test("they are found when the schema begins to compute a field that was stored")
    func computedLater() async throws {
        let plain = Self.schema.replacing(##", derive: { text: "#{number}" }"##, with: "")
        let cache = try TestCache(schema: plain)
        _ = try await cache.pull("orders", Self.given)
        #expect(mayBeSent(cache) == false)
        let reopened = try cache.reopened(schema: Self.schema)
        #expect(mayBeSent(reopened) == true)
        #expect(try listed(reopened) == ["b": "server's"])
    }

    @Test("they are found in an imported edit from when the field was not computed, and shown once")
    func imported() async throws {
        let cache = try TestCache(schema: Self.schema.replacing(#", derive: { text: "{first:1}{last:1}" }"#, with: ""))
        _ = try await cache.pull("clients", #"[{"id":"a","first":"M","last":"N"}]"#)
        try await cache.store.update("clients", key: "a", body: .object(["initials": "X"]), at: TestCache.now)
        let other = try TestCache(schema: Self.schema)
        _ = try await other.pull("clients", #"[{"id":"a","first":"M","last":"N"}]"#)
        _ = try await other.store.take(ExportedQueue(ofDatabaseAt: cache.path), at: RescueFixture.later)
        #expect(mayBeSent(other, "clients") == true)
        #expect(try other.record("clients", "a")?.count(of: "initials") == 1)
    }
}
