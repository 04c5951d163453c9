import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Writes that are refused before they are queued")
struct RefusedWriteTests {
    private let now = TestCache.now

    private func ready(_ cache: TestCache) throws -> [String] {
        try cache.store.readyChanges(limit: 100, at: now).map(\.key)
    }

    @Test("an empty text is refused in a field that must be filled, by creations and edits, and kept in a pulled record")
    func empties() async throws {
        let filled = "notes: { type: string, required: filled"
        let cache = try TestCache(schema: TestCache.shop.replacing("notes: { type: string", with: filled))
        _ = try await cache.pull("orders", #"[{"id":"a","notes":""}]"#)
        #expect(try cache.record("orders", "a")?["notes"] == "")
        for text in [#"{"notes":""}"#, #"{"notes":null}"#] {
            let body = try JSONText(parsing: text)
            await #expect(throws: CacheError.self) {
                try await cache.store.create("orders", body: body, at: now)
            }
        }
        let change = try JSONText(parsing: #"{"notes":"x"}"#)
        try await cache.store.update("orders", key: "a", body: change, at: now)
        await #expect {
            try await cache.store.update("orders", key: "a", body: change.setting("notes", to: ""), at: now)
        } throws: { error in
            guard case CacheError.invalid(let problems)? = error as? CacheError else { return false }
            return problems.map(\.field) == ["notes"] && problems[0].message.contains("empty")
        }
        #expect(try cache.store.pendingCount().pending == 1)
    }
}
