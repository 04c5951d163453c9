import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore

/// Servers leave out what has no value, or what it would be in is null or empty.
@Suite("Settling: a view that does not show a new value may be older than it")
struct UnshownFieldTests {
    private static let schema = """
        schema: pages
        upstream: { base_url: http://localhost }
        entities:
          pages:
            conflict: manual
            fields:
              id: { type: string }
              title: { type: string }
              note: { type: string, from: properties.Note.rich_text.0.plain_text }
              city: { type: string, from: address.city }
              plain: { type: string }
            pull: { path: /pages }
            push: { update: { call: "PATCH /pages/{id}" } }
        """

    private static let empty = #"{"id":"a","title":"t","properties":{"Note":{"rich_text":[]}},"address":null}"#
    private static let filled = """
        {"id":"a","title":"t","properties":{"Note":{"rich_text":[{"plain_text":"x"}]}},"address":{"city":"x"},"plain":"x"}
        """

    private let now = TestCache.now

    private func show(_ cache: TestCache, _ record: String, after seconds: Int = 1, _ view: RecordView = .list)
        async throws
    {
        let page = PulledPage(entity: "pages", records: "[\(record)]", view: view)
        _ = try await cache.store.apply(page, at: now + .seconds(seconds))
    }

    private func send(_ cache: TestCache, _ edit: String, answer: String) async throws {
        try await cache.store.update("pages", key: "a", body: JSONText(parsing: edit), at: now)
        let change = try await cache.begun()
        let record = try JSONText(parsing: answer)
        try await cache.store.finish(change.id, .acknowledged(record: record), at: now)
    }

    private func value(_ field: String, _ cache: TestCache) throws -> String? {
        let entity = try #require(cache.store.schema["pages"])
        return try cache.record("pages", "a").flatMap { entity.value(of: field, in: $0)?.plain }
    }

    private func edited(_ field: String) async throws -> TestCache {
        let cache = try TestCache(schema: Self.schema)
        try await show(cache, Self.empty)
        try await send(cache, #"{"\#(field)":"x"}"#, answer: Self.filled)
        return cache
    }

    @Test("an acknowledged value stays, whatever view lacks it", arguments: ["note", "city", "plain"])
    func stays(_ field: String) async throws {
        for view in [RecordView.list, .single] {
            let cache = try await edited(field)
            try await show(cache, Self.empty, view)
            #expect(try value(field, cache) == "x")
            try await show(cache, Self.filled, after: 2, view)
            #expect(try value(field, cache) == "x")
        }
    }

    @Test("the next edit of it meets no conflict", arguments: ["note", "city", "plain"])
    func next(_ field: String) async throws {
        let cache = try await edited(field)
        try await show(cache, Self.empty)
        try await cache.store.update("pages", key: "a", body: JSONText(parsing: #"{"\#(field)":"y"}"#), at: now)
        try await show(cache, Self.filled, after: 2)
        #expect(try cache.store.conflicts(before: nil, open: false, limit: 9).conflicts.isEmpty)
        #expect(try value(field, cache) == "y")
    }

    @Test(
        "it stays when an edit of another field is answered with an older version",
        arguments: ["note", "city", "plain"])
    func oldAnswer(_ field: String) async throws {
        let cache = try await edited(field)
        try await send(cache, #"{"title":"u"}"#, answer: Self.empty.replacing(#""t""#, with: #""u""#))
        #expect(try value(field, cache) == "x")
    }

    @Test("the record is read once the time to settle is over, and that is believed", arguments: ["note", "city"])
    func late(_ field: String) async throws {
        let cache = try await edited(field)
        try await show(cache, Self.empty)
        #expect(try await cache.store.unconfirmed(limit: 9, at: now + .seconds(61)).map(\.key) == ["a"])
        try await show(cache, Self.empty, after: 61, .single)
        #expect(try value(field, cache) == nil)
    }
}
