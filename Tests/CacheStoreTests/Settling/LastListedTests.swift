import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore

@Suite("Lists and single records that show different values of one member")
struct LastListedTests {
    private static let schema = """
        schema: shop
        upstream: { base_url: http://localhost, settle: 60s }
        entities:
          devices:
            fields:
              id: { type: string }
              model: { type: string }
              cost: { type: money, from: totals.cost }
            pull: { path: /devices, detail: { read: single, when_changed: any, into: { images: images } } }
            push: { update: { call: "PATCH /devices/{id}" } }
          images:
            fields:
              id: { type: string }
              device_id: { type: reference, to: devices, index: true, required: true }
        """

    private let now = TestCache.now

    /// Pulls a list with the record, and reads the single record if it is outdated; returns whether it was.
    private func pull(
        _ cache: TestCache, _ listed: String, _ single: String, after seconds: Int
    ) async throws -> Bool {
        try await list(cache, listed, after: seconds)
        let parents = try cache.store.parents(of: "devices", after: 0, all: false, limit: 9)
        let read = parents.map { PulledPage.Detail(key: $0.key, value: $0.value) }
        let page = PulledPage(
            entity: "devices", records: parents.isEmpty ? "[]" : "[\(single)]", details: read, view: .single)
        _ = try await cache.store.apply(page, at: now + .seconds(seconds + 1))
        return !parents.isEmpty
    }

    private func list(_ cache: TestCache, _ listed: String, after seconds: Int) async throws {
        _ = try await cache.store.apply(
            PulledPage(entity: "devices", records: "[\(listed)]"), at: now + .seconds(seconds))
    }

    private func model(_ cache: TestCache) throws -> String? { try cache.record("devices", "a")?["model"]?.string }

    private func cost(_ cache: TestCache) throws -> Int? {
        let entity = try #require(cache.store.schema["devices"])
        return try cache.record("devices", "a").flatMap { entity.value(of: "cost", in: $0)?.integer }
    }

    /// A cache that has settled with a list whose value the single record overrules.
    private func settled(_ listed: String, _ single: String) async throws -> TestCache {
        let cache = try TestCache(schema: Self.schema)
        for seconds in [0, 30, 95] { #expect(try await pull(cache, listed, single, after: seconds)) }
        return cache
    }

    @Test(
        "a list that repeats its other value neither changes the record nor has it read again",
        arguments: [
            (#"{"id":"a","cost":45}"#, #"{"id":"a","deep":1,"totals":{"cost":55}}"#),
            (#"{"id":"a","model":"lo…"}"#, #"{"id":"a","model":"long"}"#),
            (#"{"model":"lo…","id":"a"}"#, #"{"id":"a","model":"long","deep":1}"#),
            (#"{"id":"a","owner":{"phone":"1"}}"#, #"{"id":"a","owner":{"phone":"2"},"deep":1}"#),
            (#"{"id":"a","totals":{"cost":45}}"#, #"{"id":"a","totals":{"cost":55,"all":60},"deep":1}"#),
        ])
    func repeated(_ listed: String, _ single: String) async throws {
        let cache = try await settled(listed, single)
        let known = try cache.store.remote(of: "devices", key: "a")
        for seconds in [120, 150, 600] {
            #expect(try await !pull(cache, listed, single, after: seconds))
            #expect(try cache.store.remote(of: "devices", key: "a") == known)
        }
    }

    @Test("another value in the list counts at once, and the single record's stays where the list repeats its own")
    func changed() async throws {
        let single = #"{"id":"a","model":"m","totals":{"cost":55}}"#
        let cache = try await settled(#"{"id":"a","model":"m","cost":45}"#, single)
        try await list(cache, #"{"id":"a","model":"n","cost":45}"#, after: 120)
        #expect(try model(cache) == "n")
        #expect(try cost(cache) == 55)
        try await list(cache, #"{"id":"a","model":"n","cost":46}"#, after: 150)
        #expect(try cost(cache) == 46)
    }

    @Test("a single record that was read while the server settled may be older than the list, which then counts")
    func behind() async throws {
        let cache = try TestCache(schema: Self.schema)
        let old = #"{"id":"a","model":"m","deep":1}"#
        _ = try await pull(cache, #"{"id":"a","model":"m"}"#, old, after: 0)
        #expect(try await pull(cache, #"{"id":"a","model":"n"}"#, old, after: 30))
        #expect(try model(cache) == "m")
        try await list(cache, #"{"id":"a","model":"n"}"#, after: 45)
        #expect(try model(cache) == "n")
    }

    @Test("a list that repeats its value counts against what was changed here, once that has settled")
    func changedHere() async throws {
        let listed = #"{"id":"a","model":"lo…"}"#
        let cache = try await settled(listed, #"{"id":"a","model":"long","deep":1}"#)
        try await cache.change("devices", "a", #"{"model":"mine"}"#)
        try await cache.send(answer: nil)
        #expect(try model(cache) == "mine")
        try await list(cache, listed, after: 200)
        #expect(try model(cache) == "lo…")
    }

    @Test("a list counts once the single record no longer has the member")
    func unshown() async throws {
        let listed = #"{"id":"a","cost":45}"#
        let cache = try await settled(listed, #"{"id":"a","deep":1,"totals":{"cost":55}}"#)
        let page = PulledPage(entity: "devices", records: #"[{"id":"a","deep":2}]"#, view: .single)
        _ = try await cache.store.apply(page, at: now + .seconds(110))
        try await list(cache, listed, after: 120)
        #expect(try cost(cache) == 45)
    }
}
