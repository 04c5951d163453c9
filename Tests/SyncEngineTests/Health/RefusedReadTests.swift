import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("Lists that are answered 401", .timeLimit(.minutes(10)))
struct RefusedReadTests {
    private let refusal = UpstreamError.unauthorized("the list answered 401: not authorized")

    /// Parts come first in the schema; orders and customers have a record each.
    private func test() throws -> TestEngine {
        let test = try TestEngine(schema: Self.shop)
        try test.upstream.set("/orders", #"[{"id":"a","notes":"x"}]"#)
        try test.upstream.set("/customers", #"[{"id":"c"}]"#)
        return test
    }

    @Test("one such list stops neither the others nor changes")
    func oneList() async throws {
        let test = try test()
        test.upstream.failList("/parts", refusal)
        try await test.running {
            // After some failures the next run is seconds away.
            for _ in 1...5 {
                await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
            }
            let rows = try test.store.rowCounts()
            #expect(rows["orders"] == 1 && rows["customers"] == 1)
            let status = test.engine.status()
            #expect(!status.needsSignIn && status.error?.hasPrefix("parts: the list answered 401") == true)
            #expect(try test.store.cursor(of: "parts").error?.contains("may not read this one") == true)
            #expect(try test.store.cursor(of: "orders").error == nil)

            let pages = test.upstream.pages.count
            try await test.change("a", #"{"notes":"ours"}"#)
            test.engine.noteLocalWrite()
            try await test.until { test.upstream.appliedCount == 1 }
            #expect(test.upstream.pages.count == pages, "it was sent before the next run")
        }
    }

    @Test("once it is served, its error ends")
    func served() async throws {
        let test = try test()
        test.upstream.failList("/parts", refusal)
        try await test.running {
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
            test.upstream.failList("/parts", nil)
            try test.upstream.set("/parts", #"[{"id":"p"}]"#)
            try await test.engine.sync(SyncRequest())
            #expect(try test.store.rowCounts()["parts"] == 1)
            #expect(try test.store.cursor(of: "parts").error == nil)
        }
    }

    @Test("a caller's read of such a record stops nothing either")
    func singleRecord() async throws {
        let test = try test()
        try test.upstream.set("/parts", #"[{"id":"p"}]"#)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            test.upstream.failList("/parts", refusal)
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
            test.upstream.failRecords(refusal)
            let parts = try #require(test.store.schema["parts"])
            _ = await test.engine.refresh(parts, key: "p")
            #expect(!test.engine.status().needsSignIn)
        }
    }

    @Test("a refused token stops everything: no other list is served")
    func allLists() async throws {
        let test = try test()
        try await test.running {
            try await test.engine.sync(SyncRequest())
            for path in ["/parts", "/orders", "/customers"] { test.upstream.failList(path, refusal) }
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
            let status = test.engine.status()
            #expect(status.needsSignIn && status.error == refusal.message)
            #expect(try test.store.cursor(of: "parts").error == nil)
        }
    }

    @Test("however soon runs end, each caller hears of the one that it asked for")
    func shortRuns() async throws {
        let test = try test()
        try await test.running {
            try await test.engine.sync(SyncRequest())
            for path in ["/parts", "/orders", "/customers"] { test.upstream.failList(path, refusal) }
            for _ in 1...200 {
                await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
            }
        }
    }

    @Test("a list without content is no sign that the token counts")
    func emptyLists() async throws {
        let test = try TestEngine(schema: Self.shop)
        test.upstream.failList("/parts", refusal)
        try await test.running {
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
            #expect(test.engine.status().needsSignIn)
        }
    }

    @Test("a list that fails for another reason is no sign either")
    func failingLists() async throws {
        let test = try test()
        test.upstream.failList("/parts", refusal)
        for path in ["/orders", "/customers"] { test.upstream.failList(path, .malformed("no list")) }
        try await test.running {
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
            #expect(test.engine.status().needsSignIn)
        }
    }

    private static let shop = """
        schema: shop
        upstream:
          base_url: http://localhost
          idempotency_header: Idempotency-Key
          pagination: { style: page }
        entities:
          parts:
            fields: { id: { type: string } }
            pull: { path: /parts }
          orders:
            fields: { id: { type: string }, notes: { type: string } }
            pull: { path: /orders }
            push:
              update: { call: "PATCH /orders/{id}" }
          customers:
            fields: { id: { type: string } }
            pull: { path: /customers }
        """
}
