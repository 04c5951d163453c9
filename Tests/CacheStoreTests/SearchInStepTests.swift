import EntitySchema
import GRDB
import JSONText
import Testing

@testable import CacheStore

@Suite("The index follows the records")
struct SearchInStepTests {
    private let now = TestCache.now

    private func filled() async throws -> TestCache {
        let cache = try TestCache(schema: SearchShop.schema)
        _ = try await cache.pull("clients", #"[{"id":"a","name":"Ada"},{"id":"b","name":"Bob","phone":"0700 1234"}]"#)
        return cache
    }

    private func change(_ cache: TestCache, _ key: String, _ body: String) async throws {
        try await cache.store.update("clients", key: key, body: JSONText(parsing: body), at: now)
    }

    @Test("a local edit is found at once, and no more once it is discarded")
    func localEdit() async throws {
        let cache = try await filled()
        try await change(cache, "b", #"{"name":"Robert","phone":"0800 5678"}"#)
        #expect(try cache.found("robert") == ["b"] && cache.found("8005") == ["b"])
        #expect(try cache.found("bob").isEmpty && cache.found("7001").isEmpty)
        let id = try #require(try cache.store.pending(after: 0, limit: 1).changes.first?["id"]?.integer)
        try await cache.store.discard(Int64(id), cascade: false, at: now)
        #expect(try cache.found("bob") == ["b"] && cache.found("7001") == ["b"])
        #expect(try cache.found("robert").isEmpty && cache.found("8005").isEmpty)
        try await cache.requireInStep()
    }

    @Test("a write that is taken back leaves the index as it was")
    func takenBack() async throws {
        let cache = try await filled()
        await #expect(throws: CancellationError.self) {
            try await cache.store.write(at: now) { transaction in
                try transaction.update(
                    "clients", key: "b", JSONText(parsing: #"{"name":"Robert","phone":"0800 5678"}"#))
                _ = try transaction.create("clients", JSONText(parsing: #"{"name":"Robert"}"#))
                try transaction.delete("clients", key: "a")
                throw CancellationError()
            }
        }
        #expect(try cache.found("bob") == ["b"] && cache.found("7001") == ["b"] && cache.found("ada") == ["a"])
        #expect(try cache.found("robert").isEmpty && cache.found("8005").isEmpty)
        try await cache.requireInStep()
    }

    @Test(
        "a record made here is found at once, under the key that the server gives it later, and gone with its discard")
    func created() async throws {
        let cache = try await filled()
        let key = try await cache.store.create("clients", body: JSONText(parsing: #"{"name":"Carl"}"#), at: now)
        #expect(try cache.found("carl") == [key])
        let change = try #require(try cache.store.readyChanges(limit: 1, at: now).first)
        #expect(try await cache.store.begin(change, at: now))
        let record = try JSONText(parsing: #"{"id":"srv-1","name":"Carl the Great"}"#)
        try await cache.store.settle(change.id, .acknowledged(record: record), at: now)
        #expect(try cache.found("great") == ["srv-1"] && cache.found("carl") == ["srv-1"])
        let other = try await cache.store.create("clients", body: JSONText(parsing: #"{"name":"Dora"}"#), at: now)
        #expect(try cache.found("dora") == [other])
        let id = try #require(try cache.store.pending(after: 0, limit: 1).changes.first?["id"]?.integer)
        try await cache.store.discard(Int64(id), cascade: false, at: now)
        #expect(try cache.found("dora").isEmpty)
        try await cache.requireInStep()
    }

    @Test("a deleted record is not found, from its deletion here on, and is again when that is discarded")
    func deleted() async throws {
        let cache = try await filled()
        try await cache.store.delete("clients", key: "b", at: now)
        #expect(try cache.found("bob").isEmpty && cache.hits("bob").isEmpty)
        let id = try #require(try cache.store.pending(after: 0, limit: 1).changes.first?["id"]?.integer)
        try await cache.store.discard(Int64(id), cascade: false, at: now)
        #expect(try cache.found("bob") == ["b"])
        _ = try await cache.pull("clients", #"[{"id":"b","deleted_at":"2026-01-01"}]"#)
        #expect(try cache.found("bob").isEmpty)
        try await cache.requireInStep()
    }

    @Test("what a pull changes is found as it now is; what it brings again costs the index nothing")
    func pulled() async throws {
        let cache = try await filled()
        _ = try await cache.pull("clients", #"[{"id":"b","name":"Bert"},{"id":"c","name":"Cleo"}]"#)
        #expect(try cache.found("bob").isEmpty && cache.found("bert") == ["b"] && cache.found("cleo") == ["c"])
        let before = try await cache.indexSize()
        _ = try await cache.pull("clients", #"[{"id":"b","name":"Bert"},{"id":"c","name":"Cleo","colour":"red"}]"#)
        #expect(try await cache.indexSize() == before)
        try await cache.requireInStep()
    }

    @Test("a row that is used again after a deletion is indexed as the new record that it is")
    func reusedRow() async throws {
        let cache = try await filled()
        _ = try await cache.pull("clients", #"[{"id":"b","deleted_at":"2026-01-01"}]"#)
        _ = try await cache.pull("clients", #"[{"id":"c","name":"Cleo"}]"#)
        #expect(try cache.found("cleo") == ["c"] && cache.found("bob").isEmpty)
        try await cache.requireInStep()
    }

    @Test("a load is indexed afterwards, in step with what happens to its records meanwhile")
    func load() async throws {
        let cache = try await filled()
        let records = (0..<2500).map { JSONText.object(["id": .string("k\($0)"), "name": .string("Load \($0)")]) }
        _ = try await cache.pull("clients", JSONText.array(records).text)
        #expect(try cache.store.search(SearchQuery("load"), limit: 1) == SearchResult(hits: [], isComplete: false))
        try await change(cache, "k7", #"{"name":"Seven"}"#)
        try await change(cache, "a", #"{"name":"Adele"}"#)
        _ = try await cache.pull("clients", #"[{"id":"k2499","deleted_at":"2026-01-01"}]"#)
        try await cache.store.completeSearch()
        #expect(try cache.found("load").count == 1000 && cache.found("seven") == ["k7"])
        #expect(
            try cache.found("adele") == ["a"] && cache.found("load 2499").isEmpty && cache.found("load 1234").count == 1
        )
        #expect(try cache.store.search(SearchQuery("load"), limit: 1).isComplete)
        try await cache.requireInStep()
    }

    @Test("a load that was cut off is indexed when the cache is opened again")
    func loadCutOff() async throws {
        let cache = try await filled()
        let records = (0..<300).map { JSONText.object(["id": .string("k\($0)"), "name": .string("Load \($0)")]) }
        _ = try await cache.pull("clients", JSONText.array(records).text)
        let reopened = try cache.reopened(schema: SearchShop.schema)
        #expect(try reopened.found("load").count == 300)
        try await reopened.requireInStep()
    }

    @Test(
        "the index is built anew when the schema searches other fields, or reads them from elsewhere",
        arguments: [
            ("notes: { type: string, search: words }", "notes: { type: string }", "gold", ["a"], "paint", []),
            (
                "phone: { type: string, search: fragments }", "phone: { type: string, search: true }", "0700", ["a"],
                "7001", []
            ),
            ("from: extra.rank", "from: rest.rank", "silver", ["a"], "gold", []),
            (
                "      rank: { type: string, index: true, from: extra.rank, search: true }\n", "", "paint", ["a"],
                "gold", []
            ),
            ("search: words", "search: fragments", "ellow pai", ["a"], "yellow", ["a"]),
        ])
    func schemaChange(
        _ found: String, _ replacement: String, _ query: String, _ keys: [String], _ other: String,
        _ otherKeys: [String]
    ) async throws {
        let cache = try TestCache(schema: SearchShop.schema)
        let record =
            #"[{"id":"a","name":"Ada","phone":"0700 1234","notes":"yellow paint","extra":{"rank":"gold"},"rest":{"rank":"silver"}}]"#
        _ = try await cache.pull("clients", record)
        let changed = SearchShop.schema.replacing(found, with: replacement)
        #expect(changed != SearchShop.schema)
        let reopened = try cache.reopened(schema: changed)
        #expect(try reopened.found(query) == keys)
        #expect(try reopened.found(other) == otherKeys)
        try await reopened.requireInStep()
        let back = try reopened.reopened(schema: SearchShop.schema)
        #expect(try back.found("gold paint") == ["a"] && back.found("7001") == ["a"])
        try await back.requireInStep()
    }

    @Test("an entity that is no longer searched keeps no index, and its records can still change")
    func unsearched() async throws {
        let cache = try await filled()
        let bare = SearchShop.schema.replacing(#/, search: \w+/#, with: "")
        let reopened = try cache.reopened(schema: bare)
        try await change(reopened, "a", #"{"name":"Adele"}"#)
        #expect(throws: CacheError.self) { try reopened.found("ada") }
        let left = try await reopened.store.pool.read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT name FROM sqlite_master WHERE name LIKE 'sync_clients%' AND name NOT LIKE '%stale'
                    """)
        }
        #expect(left.isEmpty)
    }
}

extension TestCache {
    /// Has FTS5 compare its index with what readers see (https://sqlite.org/fts5.html#the_integrity_check_command).
    func requireInStep() async throws {
        let tables = store.schema.entities.compactMap { SearchTable($0) }
        try await store.pool.write { db in
            for table in tables {
                try #require(try SearchIndex(table: table, db: db).lag() == 0)
                let names: [String] =
                    (table.words.isEmpty ? [] : [table.wordsName])
                    + (table.fragments.isEmpty ? [] : [table.fragmentsName])
                for name in names {
                    try db.execute(sql: "INSERT INTO \(name) (\(name), rank) VALUES ('integrity-check', 1)")
                }
            }
        }
    }

    /// How many rows FTS5 has written to keep the clients' index.
    func indexSize() async throws -> [Int] {
        try await store.pool.read { db in
            try ["words", "fragments"].flatMap { part in
                try Int.fetchAll(db, sql: "SELECT length(block) FROM sync_clients_\(part)_data ORDER BY id")
            }
        }
    }
}
