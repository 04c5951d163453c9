import EntitySchema
import JSONText
import SchemaDrift
import TestSupport
import Testing

@testable import CacheStore

@Suite("A change that the upstream accepted and did not keep")
struct IgnoredChangeTests {
    private let cache: TestCache
    private let now = TestCache.now

    init() async throws {
        cache = try TestCache(schema: TestCache.shop)
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"A"}]"#)
    }

    /// Changes the notes to `B`; the upstream answers with `notes`.
    private func change(answered notes: String) async throws {
        try await cache.store.update("orders", key: "a", body: JSONText(parsing: #"{"notes":"B"}"#), at: now)
        let change = try await cache.begun()
        let answer = try JSONText(parsing: #"{"id":"a","notes":"\#(notes)"}"#)
        try await cache.store.finish(change.id, .acknowledged(record: answer), at: now)
    }

    private func pull(_ view: RecordView, after seconds: Int) async throws {
        let page = PulledPage(entity: "orders", records: #"[{"id":"a","notes":"A"}]"#, view: view)
        _ = try await cache.store.apply(page, at: now + .seconds(seconds))
    }

    private var notes: String? { get throws { try cache.record("orders", "a")?["notes"]?.string } }

    private var ignored: [String] {
        get throws { try cache.store.drift().filter { $0.kind == .ignored }.map { "\($0.field) of \($0.example)" } }
    }

    @Test("is reported as drift once the time to settle is over", arguments: [RecordView.list, .single])
    func reported(view: RecordView) async throws {
        try await change(answered: "A")
        try await pull(view, after: 59)
        #expect(try notes == "B")
        #expect(try ignored.isEmpty)
        try await pull(view, after: 61)
        #expect(try notes == "A")
        #expect(try ignored == ["notes of a"])
    }

    @Test("is reported if a record that was deleted comes back, as where the upstream only voids it")
    func voided() async throws {
        try await cache.store.delete("orders", key: "a", at: now)
        let change = try await cache.begun()
        try await cache.store.finish(change.id, .acknowledged(record: nil), at: now)
        try await pull(.single, after: 59)
        #expect(try cache.record("orders", "a") == nil)
        #expect(try ignored.isEmpty)
        try await pull(.single, after: 61)
        #expect(try notes == "A")
        #expect(try ignored == ["id of a"])
    }

    @Test("is not meant if the upstream has shown the change, and another person undid it")
    func undoneByOthers() async throws {
        try await change(answered: "B")
        try await pull(.list, after: 61)
        #expect(try notes == "A")
        #expect(try ignored.isEmpty)
    }

    @Test("is not meant if the upstream turns an empty text into null, or null into an empty text")
    func nothing() async throws {
        for (server, sent) in [("null", "\"\""), ("\"\"", "null")] {
            let cache = try TestCache(schema: TestCache.shop)
            let record = #"{"id":"a","notes":\#(server)}"#
            _ = try await cache.pull("orders", "[\(record)]")
            try await cache.store.update("orders", key: "a", body: JSONText(parsing: #"{"notes":\#(sent)}"#), at: now)
            try await cache.send(answer: record)
            let page = PulledPage(entity: "orders", records: "[\(record)]", view: .list)
            _ = try await cache.store.apply(page, at: now + .seconds(61))
            #expect(try cache.store.drift().allSatisfy { $0.kind != .ignored })
        }
    }

    @Test("is remembered when the cached records are counted again for another schema")
    func kept() async throws {
        try await change(answered: "A")
        try await pull(.list, after: 61)
        let schema = TestCache.shop.replacing("notes: { type: string }", with: "notes: { type: object }")
        #expect(schema != TestCache.shop)
        let other = try cache.reopened(schema: schema)
        #expect(try other.store.drift().contains { $0.kind == .ignored })
    }
}
