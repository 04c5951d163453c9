import EntitySchema
import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Updates of the search index")
struct SearchIndexTests {
    private let now = TestCache.now

    private func filled() async throws -> TestCache {
        let cache = try TestCache(schema: SearchShop.schema)
        _ = try await cache.pull("clients", #"[{"id":"a","name":"Ada"},{"id":"b","name":"Bob","phone":"0700 1234"}]"#)
        return cache
    }

    private func change(_ cache: TestCache, _ key: String, _ body: String) async throws {
        try await cache.store.update("clients", key: key, body: JSONText(parsing: body), at: now)
    }

    @Test("a local edit is found at once, and no longer after it is discarded")
    func localEdit() async throws {
        let cache = try await filled()
        try await change(cache, "b", #"{"name":"Robert","phone":"0800 5678"}"#)
        #expect(try await cache.found("robert") == ["b"])
        #expect(try await cache.found("8005") == ["b"])
        #expect(try await cache.found("bob").isEmpty)
        #expect(try await cache.found("7001").isEmpty)
        let id = try #require(try cache.store.pending(PendingQuery(limit: 1)).changes.first?["id"]?.integer)
        try await cache.store.discard(Int64(id), cascade: false, at: now)
        #expect(try await cache.found("bob") == ["b"])
        #expect(try await cache.found("7001") == ["b"])
        #expect(try await cache.found("robert").isEmpty)
        #expect(try await cache.found("8005").isEmpty)
        try await cache.requireInStep()
    }

    @Test("a few edits wait for the next search, across a restart too; more than a few do not wait")
    func waiting() async throws {
        let cache = try await filled()
        let before = try await cache.indexSize()
        try await change(cache, "b", #"{"name":"Robert"}"#)
        try await change(cache, "b", #"{"name":"Rupert"}"#)
        #expect(try await cache.indexSize() == before)
        let reopened = try cache.reopened(schema: SearchShop.schema)
        #expect(try await reopened.found("rupert") == ["b"])
        #expect(try await reopened.indexSize() != before)
        let records = (0...SearchCatchUp.mostWaiting).map { number in
            JSONText.object(["id": .string("k\(number)"), "name": .string("Many \(number)")])
        }
        _ = try await reopened.pull("clients", JSONText.array(records).text)
        try await reopened.store.completeSearch()
        let others = records.map { $0.setting("name", to: "Other") }
        let filled = try await reopened.indexSize()
        _ = try await reopened.pull("clients", JSONText.array(Array(others.dropFirst())).text)
        await reopened.store.awaitWriter()
        #expect(try await reopened.indexSize() == filled)
        _ = try await reopened.pull("clients", JSONText.array(others).text)
        // No writer waits for the index, but the next one comes after it.
        await reopened.store.awaitWriter()
        #expect(try await reopened.indexSize() != filled)
        #expect(try await reopened.found("many").isEmpty)
        try await reopened.requireInStep()
    }

    @Test("while the database cannot be written, a search finds what was indexed last")
    func unwritable() async throws {
        let cache = try await filled()
        try await change(cache, "b", #"{"name":"Robert"}"#)
        try await cache.store.pool.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA query_only = 1") }
        #expect(try await cache.found("ada") == ["a"])
        #expect(try await cache.found("robert").isEmpty)
        try await cache.store.pool.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA query_only = 0") }
        #expect(try await cache.found("robert") == ["b"])
    }

    @Test("records that are made, changed and removed in one transaction are found by what they say at its end")
    func sameTransaction() async throws {
        let cache = try await filled()
        func body(_ key: String?, _ name: String) -> JSONText {
            .object(members: (key.map { [("id", .string($0))] } ?? []) + [(key: "name", value: .string(name))])
        }
        let bodies = [body(nil, "Zed"), body("k", "One"), body(nil, "Two"), body("l", "Three"), body(nil, "Four")]
        try await cache.store.write(at: now) { transaction in
            try transaction.update("clients", key: "a", bodies[0])
            _ = try transaction.create("clients", bodies[1])
            try transaction.update("clients", key: "k", bodies[2])
            try transaction.delete("clients", key: "k")
            _ = try transaction.create("clients", bodies[3])
            try transaction.update("clients", key: "l", bodies[4])
        }
        for (text, keys) in [("zed", ["a"]), ("four", ["l"]), ("one", []), ("two", []), ("three", []), ("ada", [])] {
            #expect(try await cache.found(text) == keys, "\(text)")
        }
        #expect(try cache.store.inconsistencies() == [])
        try await cache.requireInStep()
    }

    @Test("a rolled-back write leaves the index as it was")
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
        #expect(try await cache.found("bob") == ["b"])
        #expect(try await cache.found("7001") == ["b"])
        #expect(try await cache.found("ada") == ["a"])
        #expect(try await cache.found("robert").isEmpty)
        #expect(try await cache.found("8005").isEmpty)
        try await cache.requireInStep()
    }

    @Test(
        "a record created here is found at once, also under its later server key, and is gone after a discard")
    func created() async throws {
        let cache = try await filled()
        let key = try await cache.store.create("clients", body: JSONText(parsing: #"{"name":"Carl"}"#), at: now)
        #expect(try await cache.found("carl") == [key])
        let change = try await cache.begun()
        let record = try JSONText(parsing: #"{"id":"srv-1","name":"Carl the Great"}"#)
        try await cache.store.finish(change.id, .acknowledged(record: record), at: now)
        #expect(try await cache.found("great") == ["srv-1"])
        #expect(try await cache.found("carl") == ["srv-1"])
        let other = try await cache.store.create("clients", body: JSONText(parsing: #"{"name":"Dora"}"#), at: now)
        #expect(try await cache.found("dora") == [other])
        let id = try #require(try cache.store.pending(PendingQuery(limit: 1)).changes.first?["id"]?.integer)
        try await cache.store.discard(Int64(id), cascade: false, at: now)
        #expect(try await cache.found("dora").isEmpty)
        try await cache.requireInStep()
    }

    @Test("a locally deleted record is not found, and is found again when the deletion is discarded")
    func deleted() async throws {
        let cache = try await filled()
        try await cache.store.delete("clients", key: "b", at: now)
        #expect(try await cache.found("bob").isEmpty)
        #expect(try await cache.hits("bob").isEmpty)
        let id = try #require(try cache.store.pending(PendingQuery(limit: 1)).changes.first?["id"]?.integer)
        try await cache.store.discard(Int64(id), cascade: false, at: now)
        #expect(try await cache.found("bob") == ["b"])
        _ = try await cache.pull("clients", #"[{"id":"b","deleted_at":"2026-01-01"}]"#)
        #expect(try await cache.found("bob").isEmpty)
        try await cache.requireInStep()
    }

    @Test("a record changed by a pull is found as it is now; an unchanged one costs the index nothing")
    func pulled() async throws {
        let cache = try await filled()
        _ = try await cache.pull("clients", #"[{"id":"b","name":"Bert"},{"id":"c","name":"Cleo"}]"#)
        #expect(try await cache.found("bob").isEmpty)
        #expect(try await cache.found("bert") == ["b"])
        #expect(try await cache.found("cleo") == ["c"])
        let before = try await cache.indexSize()
        _ = try await cache.pull("clients", #"[{"id":"b","name":"Bert"},{"id":"c","name":"Cleo","colour":"red"}]"#)
        #expect(try await cache.indexSize() == before)
        try await cache.requireInStep()
    }

    @Test("a row that is reused after a deletion is indexed as the new record")
    func reusedRow() async throws {
        let cache = try await filled()
        _ = try await cache.pull("clients", #"[{"id":"b","deleted_at":"2026-01-01"}]"#)
        _ = try await cache.pull("clients", #"[{"id":"c","name":"Cleo"}]"#)
        #expect(try await cache.found("cleo") == ["c"])
        #expect(try await cache.found("bob").isEmpty)
        try await cache.requireInStep()
    }

    @Test("a bulk load is indexed afterwards, consistent with changes to its records in the meantime")
    func load() async throws {
        let cache = try await filled()
        let records = (0..<2500).map { JSONText.object(["id": .string("k\($0)"), "name": .string("Load \($0)")]) }
        _ = try await cache.pull("clients", JSONText.array(records).text)
        #expect(
            try await cache.store.search(SearchQuery("load"), limit: 1) == SearchResult(hits: [], isComplete: false))
        try await change(cache, "k7", #"{"name":"Seven"}"#)
        try await change(cache, "a", #"{"name":"Adele"}"#)
        _ = try await cache.pull("clients", #"[{"id":"k2499","deleted_at":"2026-01-01"}]"#)
        try await cache.store.completeSearch()
        #expect(try await cache.found("load").count == 1000)
        #expect(try await cache.found("seven") == ["k7"])
        #expect(try await cache.found("adele") == ["a"])
        #expect(try await cache.found("load 2499").isEmpty)
        #expect(try await cache.found("load 1234").count == 1)
        #expect(try await cache.store.search(SearchQuery("load"), limit: 1).isComplete)
        try await cache.requireInStep()
    }

    @Test("an interrupted bulk load is indexed when the cache is opened again")
    func loadCutOff() async throws {
        let cache = try await filled()
        let records = (0..<300).map { JSONText.object(["id": .string("k\($0)"), "name": .string("Load \($0)")]) }
        _ = try await cache.pull("clients", JSONText.array(records).text)
        let reopened = try cache.reopened(schema: SearchShop.schema)
        #expect(try await reopened.found("load").count == 300)
        try await reopened.requireInStep()
    }

    @Test("a change leaves the parts of the index alone whose fields it does not touch")
    func untouchedParts() async throws {
        let cache = try await filled()
        func changedParts(_ body: String) async throws -> [String] {
            let before = try await cache.indexParts()
            try await change(cache, "b", body)
            try await cache.store.catchUpSearch()
            let after = try await cache.indexParts()
            return before.keys.filter { before[$0] != after[$0] }.sorted()
        }
        #expect(try await changedParts(#"{"notes":"pays in cash"}"#) == ["words"])
        #expect(try await changedParts(#"{"phone":"0800 5678"}"#) == ["fragments"])
        #expect(try await changedParts(#"{"name":"Robert"}"#) == ["titles", "words"])
        #expect(try await changedParts(#"{"phone":"0900","notes":"owes"}"#) == ["fragments", "words"])
        #expect(try await changedParts(#"{"pin":"4711"}"#) == [])
        #expect(try await cache.found("owes robert") == ["b"])
        try await cache.requireInStep()
    }

    @Test(
        "a field by itself is what the whole document says, however the edit is stored",
        arguments: [
            #"{"name":"Robert"}"#, #"{"notes":null}"#, #"{"notes":null,"phone":"0900"}"#, #"{"extra":{"rank":"7"}}"#,
            #"{"rank":"9"}"#, #"{"tags":["new"]}"#, #"{"tags":null,"born":"1990-01-02"}"#, #"{"weight":1.50}"#,
        ])
    func fieldAlone(_ body: String) async throws {
        let schema = SearchShop.schema.replacing(
            "pin: { type: string, secret: true }\n    many:",
            with: """
                extra: { type: object }
                      tags: { type: list }
                      first: { type: string, from: tags.0 }
                      born: { type: date }
                      weight: { type: number }
                    many:
                """)
        let cache = try TestCache(schema: schema)
        _ = try await cache.pull(
            "clients",
            """
            [{"id":"a","name":"Ada","notes":"old","extra":{"rank":"3"},"tags":["x"],"born":"1980-05-06","weight":2},
             {"id":"b","name":null,"phone":"0700 1234","tags":[]}]
            """)
        for key in ["a", "b"] { try await change(cache, key, body) }
        _ = try await cache.store.create("clients", body: JSONText(parsing: body), at: now)
        let table = try cache.store.table("clients")
        for field in table.entity.fields.map(\.name) {
            let differing = try await cache.store.pool.read { db in
                try Int.fetchOne(
                    db,
                    sql: """
                        SELECT count(*) FROM \(table.name) AS now
                        WHERE \(table.plainAlone(for: field, of: "now.")) IS NOT \(table.plain(for: field, of: "now."))
                        """)
            }
            #expect(differing == 0, "\(field)")
        }
        try await cache.store.catchUpSearch()
        try await cache.requireInStep()
    }

    @Test("a large load is merged into one segment, also when it is interrupted")
    func merged() async throws {
        let cache = try await filled()
        let records = (0..<6500).map { number in
            JSONText.object([
                "id": .string("k\(number)"), "name": .string("Load \(number)"), "phone": .string("0700 \(number)"),
            ])
        }
        _ = try await cache.pull("clients", JSONText.array(records).text)
        while try await cache.store.writer.write({ db in try cache.index(db).load() }) {}
        #expect(try await cache.segments().allSatisfy { $0 > 1 })
        _ = try await cache.store.writer.write { db in try cache.index(db).merge() }
        let reopened = try cache.reopened(schema: SearchShop.schema)
        try await reopened.store.completeSearch()
        #expect(try await reopened.segments() == [1, 1, 1])
        let before = try await reopened.indexSize()
        try await reopened.store.completeSearch()
        #expect(try await reopened.indexSize() == before)
        #expect(try await reopened.found("load 6499") == ["k6499"])
        try await reopened.requireInStep()
    }

    @Test("an index of an older definition is rebuilt after the start; a search says so meanwhile")
    func olderDefinition() async throws {
        let cache = try await filled()
        let records = (0..<4100).map { JSONText.object(["id": .string("k\($0)"), "name": .string("Load \($0)")]) }
        _ = try await cache.pull("clients", JSONText.array(records).text)
        try await cache.store.completeSearch()
        try await cache.store.pool.write { db in
            try db.execute(sql: "UPDATE sync_search SET definition = 'older'")
        }
        let reopened = try cache.reopened(schema: SearchShop.schema)
        #expect(try await !reopened.store.search(SearchQuery("load"), limit: 1).isComplete)
        try await change(reopened, "k7", #"{"name":"Seven"}"#)
        try await reopened.store.completeSearch()
        #expect(try await reopened.store.search(SearchQuery("load"), limit: 1).isComplete)
        #expect(try await reopened.found("seven") == ["k7"])
        #expect(try await reopened.found("load 4099") == ["k4099"])
        try await reopened.requireInStep()
    }

    @Test(
        "the index is rebuilt when the schema searches other fields, or reads them from other paths",
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
        #expect(try await reopened.found(query) == keys)
        #expect(try await reopened.found(other) == otherKeys)
        try await reopened.requireInStep()
        let back = try reopened.reopened(schema: SearchShop.schema)
        #expect(try await back.found("gold paint") == ["a"])
        #expect(try await back.found("7001") == ["a"])
        try await back.requireInStep()
    }

    @Test("an entity that is no longer searched keeps no index, and its records can still change")
    func unsearched() async throws {
        let cache = try await filled()
        let bare = SearchShop.schema.replacing(#/, search: \w+/#, with: "")
        let reopened = try cache.reopened(schema: bare)
        try await change(reopened, "a", #"{"name":"Adele"}"#)
        await #expect(throws: CacheError.self) { try await reopened.found("ada") }
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
