import JSONText
import SQLiteStore
import Testing

@testable import CacheStore

@Suite("The record in the answer to a local change")
struct ChangedRecordTests {
    private static let schema = """
        schema: workshop
        upstream: { base_url: http://localhost }
        entities:
          jobs:
            fields:
              id: { type: string }
              title: { type: string, search: words }
              number: { type: string, index: true }
              tags: { type: list }
              extra: { type: object }
              updated_at: { type: time, index: true, touch: now }
              label: { type: string, derive: { text: "{number} {title}" } }
            pull: { path: /jobs }
            push: { update: { call: "PATCH /jobs/{id}" } }
          boxes:
            fields:
              id: { type: string }
              photo_count: { type: integer, derive: { count: photos } }
            many:
              photos: { of: photos, by: box_id, on_delete: cascade }
            pull: { path: /boxes }
          photos:
            fields:
              id: { type: string }
              box_id: { type: reference, to: boxes, index: true }
              code: { type: string, secret: true }
            pull: { path: /photos }
            push: { update: { call: "PATCH /photos/{id}" } }
        """

    private static let compact = #"[{"id":"a","title":"Old","number":"7","updated_at":"2026-01-01T00:00:00Z"}]"#

    private func cache(_ jobs: String = compact) async throws -> TestCache {
        let cache = try TestCache(schema: Self.schema)
        _ = try await cache.pull("jobs", jobs)
        _ = try await cache.pull("boxes", #"[{"id":"x"},{"id":"y"}]"#)
        _ = try await cache.pull("photos", #"[{"id":"p","box_id":"x","code":"1234"},{"id":"q","box_id":"x"}]"#)
        return cache
    }

    /// Changes a record; returns what the transaction shows of it, and whether that was kept from the change.
    private func change(
        _ cache: TestCache, _ entity: String, _ key: String, _ body: String
    ) async throws -> (shown: ShownRecord?, isKept: Bool) {
        let body = try JSONText(parsing: body)
        return try await cache.store.write(at: TestCache.now) { transaction in
            try transaction.update(entity, key: key, body)
            let isKept = transaction.context.records.changed(entity, key) != nil
            return (try transaction.shown(entity, key: key), isKept)
        }
    }

    private func requireRead(_ shown: ShownRecord?, _ cache: TestCache, _ entity: String, _ key: String) throws {
        let read = try #require(try cache.store.shown(entity, key: key))
        #expect(shown.map { String(decoding: $0.bytes, as: UTF8.self) } == String(decoding: read.bytes, as: UTF8.self))
        #expect(shown?.version == read.version)
    }

    @Test(
        "is byte for byte the one that is read afterwards",
        arguments: [
            (compact, #"{"title":"New"}"#, true), (compact, #"{"title":"New \"é\"","number":"8","tags":[1,{}]}"#, true),
            (compact, #"{"title":null}"#, true), (compact, #"{"extra":{"a": 1}}"#, true),
            (compact, #"{"updated_at":"2026-11-26T10:00:00Z","title":"New"}"#, true),
            (compact, #"{"tags":[1, 2]}"#, false), (#"[{"id": "a", "title":"Old"}]"#, #"{"title":"New"}"#, false),
            (#"[{"id":"a","extra":{"b": 1}}]"#, #"{"title":"New"}"#, false),
            (#"[{"id": "a", "title":"Old"}]"#, #"{"title":null}"#, true),
            (#"[{"id":"a","title":"Old","title":"Twice","label":"theirs"}]"#, #"{"title":"New"}"#, true),
            (#"[{"id":"a","titl\u0065":"Old"}]"#, #"{"title":"New"}"#, true),
        ])
    func asRead(_ jobs: String, _ body: String, _ isKept: Bool) async throws {
        let cache = try await cache(jobs)
        let changed = try await change(cache, "jobs", "a", body)
        #expect(changed.isKept == isKept)
        try requireRead(changed.shown, cache, "jobs", "a")
    }

    @Test("is read when it has other queued changes")
    func later() async throws {
        let cache = try await cache()
        _ = try await change(cache, "jobs", "a", #"{"title":"New"}"#)
        let changed = try await change(cache, "jobs", "a", #"{"number":"8"}"#)
        #expect(!changed.isKept)
        try requireRead(changed.shown, cache, "jobs", "a")
    }

    @Test("is read when the change made something else stale, and has no secrets")
    func stale() async throws {
        let cache = try await cache()
        let changed = try await change(cache, "photos", "p", #"{"box_id":"y"}"#)
        #expect(!changed.isKept)
        try requireRead(changed.shown, cache, "photos", "p")
        let other = try await change(cache, "photos", "q", #"{"code":"9"}"#)
        try requireRead(other.shown, cache, "photos", "q")
        #expect(try other.shown.map { try JSONText($0.bytes)["code"] == nil } == true)
    }

    @Test("is the one before a change that was undone")
    func undone() async throws {
        let cache = try await cache()
        let shown = try await cache.store.write(at: TestCache.now) { transaction in
            try transaction.each(2) { before -> ShownRecord? in
                if before.isEmpty {
                    try transaction.update("jobs", key: "a", .object(["title": "New"]))
                    throw CacheError.conflict("no")
                }
                return try transaction.shown("jobs", key: "a")
            } refused: { _, _ in
                nil
            }
        }
        try requireRead(shown[1], cache, "jobs", "a")
    }
}
