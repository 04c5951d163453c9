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

    @Test(
        "an empty text is refused in a field that must be filled, by creations and edits, and kept in a pulled record")
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
        let error = await #expect(throws: CacheError.self) {
            try await cache.store.update("orders", key: "a", body: change.setting("notes", to: ""), at: now)
        }
        #expect(error?.problems?.map(\.field) == ["notes"])
        #expect(error?.problems?.first?.message.contains("empty") == true)
        #expect(try cache.store.pendingCount().pending == 1)
    }

    @Test("a record for which no route is meant is refused with the values that the routes are for")
    func unrouted() async throws {
        let routes = ["open", "ready"].map { "        - { call: POST /orders/\($0), when: { status: \($0) } }" }
        let schema = TestCache.shop.replacing(
            "      create: { call: POST /orders }", with: "      create:\n\(routes.joined(separator: "\n"))")
        let cache = try TestCache(schema: schema)
        let error = await #expect(throws: CacheError.self) {
            try await cache.store.create("orders", body: .object(["notes": "n"]), at: now)
        }
        #expect(error?.problems?.count == 1)
        #expect(error?.problems?.first?.message.hasSuffix("it has some for status=open, status=ready") == true)
    }

    @Test("a record that lacks a value of the address that deletes it is not deleted, unless that may still come")
    func undeletable() async throws {
        let cache = try TestCache(
            schema: """
                schema: shop
                upstream: { base_url: "http://localhost" }
                entities:
                  devices:
                    fields: { id: { type: string }, order_id: { type: string } }
                    pull: { path: /devices, record: { path: "/orders/{order_id}/devices/{id}" } }
                    push:
                      create: { call: POST /devices }
                      delete: { call: "DELETE /orders/{order_id}/devices/{id}" }
                """)
        _ = try await cache.pull("devices", #"[{"id":"a","order_id":"o"},{"id":"b","order_id":null}]"#)
        try await cache.store.delete("devices", key: "a", at: now)
        await #expect {
            try await cache.store.delete("devices", key: "b", at: now)
        } throws: { error in
            guard case CacheError.conflict(let reason)? = error as? CacheError else { return false }
            return reason.contains("devices/b has no order_id")
        }
        #expect(try ready(cache) == ["a"])
        let new = try await cache.store.create("devices", body: .object([:]), at: now)
        try await cache.store.delete("devices", key: new, at: now)
        #expect(try ready(cache) == ["a"], "it was never sent")
    }
}
