import EntitySchema
import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

/// FTS5 takes a tenth of a second or two for a megabyte, and all other writes wait meanwhile.
@Suite("Indexing long texts")
struct LongSearchTextTests {
    /// So many clients with names of 32 KiB.
    private func clients(_ count: Int, _ word: String) -> String {
        let name = String(repeating: "\(word) ", count: (32 << 10) / (word.count + 1))
        return JSONText.array(
            (0..<count).map { JSONText.object(["id": .string("k\($0)"), "name": .string("\(name)\($0)")]) }
        ).text
    }

    private func lag(_ cache: TestCache) async throws -> Int64 {
        try await cache.store.pool.read { db in try cache.index(db).lag() }
    }

    @Test("a load of them is indexed about a megabyte at a time")
    func load() async throws {
        let cache = try TestCache(schema: SearchShop.schema)
        _ = try await cache.pull("clients", clients(150, "long"))
        #expect(try await lag(cache) == 150)
        let goesOn = try await cache.store.writer.write { [cache] db in try cache.index(db).load() }
        #expect(goesOn)
        #expect(try await (110...120).contains(lag(cache)))
        try await cache.store.completeSearch()
        #expect(try await cache.found("149") == ["k149"])
        try await cache.requireInStep()
    }

    @Test("a start leaves them to the load as well")
    func start() async throws {
        let cache = try TestCache(schema: SearchShop.schema)
        _ = try await cache.pull("clients", clients(150, "long"))
        let reopened = try cache.reopened(schema: SearchShop.schema)
        #expect(try await (110...120).contains(lag(reopened)))
        try await reopened.store.completeSearch()
        try await reopened.requireInStep()
    }

    @Test("a page of a few is indexed up to a megabyte, and the rest of it afterwards")
    func page() async throws {
        let cache = try TestCache(schema: SearchShop.schema)
        _ = try await cache.pull("clients", clients(50, "long"))
        #expect(try await (10...20).contains(lag(cache)))
        try await cache.store.completeSearch()
        #expect(try await cache.found("49") == ["k49"])
        try await cache.requireInStep()
    }

    @Test("changes of more than a megabyte do not wait for a search")
    func changes() async throws {
        let cache = try TestCache(schema: SearchShop.schema)
        _ = try await cache.pull("clients", clients(50, "long"))
        try await cache.store.completeSearch()
        let filled = try await cache.indexSize()
        _ = try await cache.pull("clients", clients(20, "other"))
        await cache.store.awaitWriter()
        #expect(try await cache.indexSize() == filled)
        _ = try await cache.pull("clients", clients(50, "other"))
        await cache.store.awaitWriter()
        #expect(try await cache.indexSize() != filled)
        #expect(try await cache.found("long").isEmpty)
        try await cache.requireInStep()
    }

    // MARK: Snippets

    @Test(
        "a text with one word thousands of times is shown without comparing each place with all others",
        .timeLimit(.minutes(10)))
    func repeatedWord() async throws {
        let cache = try TestCache(schema: SearchShop.schema)
        let notes = "é " + String(repeating: "aa ", count: 20_000)
        let records = (0..<50).map { JSONText.object(["id": .string("k\($0)"), "notes": .string(notes)]) }
        _ = try await cache.pull("clients", JSONText.array(records).text)
        try await cache.store.completeSearch()
        let snippets = try await cache.hits("aa", limit: 50).map(\.snippet)
        #expect(snippets.count == 50)
        #expect(snippets.contains { $0.hasPrefix("é «aa» «aa»") } && snippets.contains { $0.hasPrefix("é aa aa") })
    }

    @Test("of a long text with other letters than ASCII the part around the match is shown")
    func part() async throws {
        let cache = try TestCache(schema: SearchShop.schema)
        let filler = String(repeating: "größe ", count: 500)
        _ = try await cache.pull("clients", #"[{"id":"a","name":"Ada","notes":"\#(filler)Nädel \#(filler)"}]"#)
        let snippet = try #require(try await cache.hits("nadel").first).snippet
        #expect(snippet.hasPrefix("…größe ") && snippet.contains("größe «Nädel» größe") && snippet.hasSuffix("…"))
        #expect(snippet.utf8.count < 250)
    }

    @Test("a part that ends within a marked word ends with its mark")
    func cutMark() {
        let text = MarkedText("«" + String(repeating: "ä", count: 200) + "»")
        #expect(text.count == 1)
        #expect(text.part?.hasSuffix("ä»…") == true)
        #expect(MarkedText("none").part == nil)
        #expect(MarkedText("all").beginning == "all")
    }
}
