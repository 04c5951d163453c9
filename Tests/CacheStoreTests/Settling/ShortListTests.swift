import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore

@Suite("Lists that show parts of their records in short")
struct ShortListTests {
    private static let schema = """
        schema: shop
        upstream: { base_url: http://localhost }
        entities:
          devices:
            fields:
              id: { type: string }
              model: { type: string }
              cost: { type: money, from: totals.cost }
              options: { type: object }
              lines: { type: list }
            pull: { path: /devices, detail: { read: single, when_changed: any, into: { images: images } } }
            push: { update: { call: "PATCH /devices/{id}" } }
          images:
            fields:
              id: { type: string }
              device_id: { type: reference, to: devices, index: true, required: true }
        """

    private let now = TestCache.now

    private func list(_ cache: TestCache, _ record: String) async throws -> PageOutcome {
        try await cache.store.apply(PulledPage(entity: "devices", records: "[\(record)]"), at: now + .seconds(600))
    }

    /// Reads the records that are outdated, as a pull does; returns how many.
    private func details(_ cache: TestCache, _ record: String) async throws -> Int {
        let parents = try cache.store.parents(of: "devices", after: 0, all: false, limit: 9)
        let read = parents.map { PulledPage.Detail(key: $0.key, value: $0.value) }
        let page = PulledPage(
            entity: "devices", records: parents.isEmpty ? "[]" : "[\(record)]", details: read, view: .single)
        _ = try await cache.store.apply(page, at: now + .seconds(601))
        return parents.count
    }

    private func remote(_ cache: TestCache) throws -> JSONText {
        try #require(try cache.store.remote(of: "devices", key: "a"))
    }

    @Test(
        "what a list shows in short, or in other places or orders, does not have its records read at each pull",
        arguments: [
            (#"{"id":"a","notes":[{"body":"x"}]}"#, #"{"id":"a","notes":[{"id":1,"body":"x"}]}"#),
            (#"{"id":"a","notes":[{"body":"x"}]}"#, #"{"id":"a","notes":[{"id":1,"body":"x"}],"deep":1}"#),
            (#"{"id":"a","owner":{"id":1}}"#, #"{"owner":{"id":1,"name":"x"},"id":"a"}"#),
            (#"{"id": "a", "cost": 5}"#, #"{"id": "a", "deep": 1, "totals": {"cost": 5.0, "all": 7}}"#),
            (#"{"id": "a", "cost": 5, "n": 1}"#, #"{"id": "a", "deep": 1, "totals": {"cost": 5.0, "all": 7}}"#),
            (#"{"id":"a","model":"m"}"#, #"{"model":"m","id":"a"}"#),
            (#"{"id":"a","at":"2026-01-01T10:00:00Z"}"#, #"{"id":"a","at":"2026-01-01T10:00:00.623Z"}"#),
        ])
    func idle(_ listed: String, _ single: String) async throws {
        let cache = try TestCache(schema: Self.schema)
        _ = try await list(cache, listed)
        #expect(try await details(cache, single) == 1)
        let known = try remote(cache)
        for _ in 1...3 {
            #expect(try await list(cache, listed).written == 0)
            #expect(try await details(cache, single) == 0)
        }
        #expect(try remote(cache) == known)
    }

    @Test("a change of what a list shows in short is read, and its records are not read again")
    func changed() async throws {
        let cache = try TestCache(schema: Self.schema)
        _ = try await list(cache, #"{"id":"a","model":"m","notes":[{"body":"x"}]}"#)
        _ = try await details(cache, #"{"id":"a","model":"m","notes":[{"id":1,"body":"x"}]}"#)
        for (listed, single) in [
            (#"{"body":"y"}"#, #"{"id":1,"body":"y"}"#),
            (#"{"body":"y"},{"body":"z"}"#, #"{"id":1,"body":"y"},{"id":2,"body":"z"}"#),
            (#"{"body":"z"}"#, #"{"id":2,"body":"z"}"#),
        ] {
            let list = #"{"id":"a","model":"m","notes":[\#(listed)]}"#
            let record = #"{"id":"a","model":"m","notes":[\#(single)]}"#
            #expect(try await self.list(cache, list).written == 1)
            #expect(try await details(cache, record) == 1)
            #expect(try remote(cache)["notes"]?.text == "[\(single)]")
            #expect(try await self.list(cache, list).written == 0)
            #expect(try await details(cache, record) == 0)
        }
        #expect(try await list(cache, #"{"id":"a","model":"n","notes":[{"body":"z"}]}"#).written == 1)
        #expect(try remote(cache)["notes"]?.text == #"[{"id":2,"body":"z"}]"#)
        #expect(try await details(cache, #"{"id":"a","model":"n","notes":[{"id":2,"body":"z"}]}"#) == 1)
        #expect(try await list(cache, #"{"id":"a","model":"n","notes":[{"body":"z"}]}"#).written == 0)
    }

    @Test("a member that was removed from an object which callers edit is removed, though the single record had it")
    func removed() async throws {
        let cache = try TestCache(schema: Self.schema)
        _ = try await list(cache, #"{"id":"a","options":{"x":1,"y":2}}"#)
        _ = try await details(cache, #"{"id":"a","options":{"x":1,"y":2},"deep":1}"#)
        _ = try await list(cache, #"{"id":"a","options":{"x":1}}"#)
        #expect(try remote(cache)["options"]?.text == #"{"x":1}"#)
    }

    private func show(
        _ cache: TestCache, _ lines: String, _ view: RecordView = .list, after seconds: Int
    ) async throws -> String? {
        let page = PulledPage(entity: "devices", records: #"[{"id":"a","lines":[\#(lines)]}]"#, view: view)
        _ = try await cache.store.apply(page, at: now + .seconds(seconds))
        return try remote(cache)["lines"]?.text
    }

    @Test(
        "what was changed here stays whole when the list shows it in short, or shows in short what was before",
        arguments: [
            ("", "", #"{"t":"x"}"#, #"{"t":"x"}"#),
            (#"{"t":"w"}"#, #"{"id":2,"t":"w"}"#, #"{"t":"x"}"#, #"{"t":"x"}"#),
            (#"{"t":"w"}"#, #"{"id":2,"t":"w"}"#, #"{"t":"x"}"#, #"{"t":"w"}"#),
        ])
    func changedHere(_ list: String, _ single: String, _ sent: String, _ listed: String) async throws {
        let cache = try TestCache(schema: Self.schema)
        _ = try await show(cache, list, after: -2)
        _ = try await show(cache, single, .single, after: -1)
        let whole = #"{"id":1,"t":"x"}"#
        try await cache.change("devices", "a", #"{"lines":[\#(sent)]}"#)
        try await cache.send(answer: #"{"id":"a","lines":[\#(whole)]}"#)
        for seconds in [1, 3] {
            #expect(try await show(cache, listed, after: seconds) == "[\(whole)]")
            #expect(try await show(cache, whole, .single, after: seconds + 1) == "[\(whole)]")
        }
        _ = try await show(cache, sent, after: 70)
        #expect(try await show(cache, whole, .single, after: 71) == "[\(whole)]")
        #expect(try await show(cache, sent, after: 72) == "[\(whole)]")
    }

    @Test(
        "what was changed here stays whole when the list shows it in short once the time to settle is over",
        arguments: [("", ""), (#"{"t":"w"}"#, #"{"id":2,"t":"w"}"#)])
    func changedHereLongAgo(_ list: String, _ single: String) async throws {
        let cache = try TestCache(schema: Self.schema)
        _ = try await show(cache, list, after: -2)
        _ = try await show(cache, single, .single, after: -1)
        let whole = #"{"id":1,"t":"x"}"#
        try await cache.change("devices", "a", #"{"lines":[{"t":"x"}]}"#)
        try await cache.send(answer: #"{"id":"a","lines":[\#(whole)]}"#)
        #expect(try await show(cache, #"{"t":"x"}"#, after: 1) == "[\(whole)]")
        #expect(try await show(cache, whole, .single, after: 2) == "[\(whole)]")
        #expect(try await show(cache, #"{"t":"x"}"#, after: 70) == "[\(whole)]")
        #expect(try await show(cache, #"{"t":"y"}"#, after: 71) == #"[{"t":"y"}]"#)
    }

    @Test(
        "objects deep within one another are compared without comparing each of them as a whole",
        .timeLimit(.minutes(10)))
    func deepQuickly() async throws {
        func record(_ value: Int) -> String {
            let space = String(repeating: " ", count: 200_000)
            let opening = String(repeating: #"{"x":"#, count: 500)
            return #"{"id":"a","deep":\#(opening)[\#(space)\#(value)]\#(String(repeating: "}", count: 500))}"#
        }
        let cache = try TestCache(schema: Self.schema)
        _ = try await list(cache, record(1))
        _ = try await details(cache, record(2))
        _ = try await list(cache, record(3))
        #expect(try remote(cache).text == record(3))
    }
}
