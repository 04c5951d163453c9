import EntitySchema
import JSONText
import SyncEngine
import TestSupport
import Testing
import Upstream

@testable import CacheStore

@Suite("Full syncs")
struct FullSyncTests {
    private func orders(_ count: Int) -> String {
        JSONText.array((0..<count).map { .object(["id": .string("k\($0)"), "updated_at": "2026-01-01T00:00:00Z"]) })
            .text
    }

    /// One entry for each first page of orders; true for a full pull.
    private func askedForEverything(_ test: TestEngine) -> [Bool] {
        test.upstream.pages.filter { $0.path == "/orders" && $0.position == nil }.map { $0.since == nil }
    }

    @Test("everything is pulled once a day, and when the last time is in the future")
    func daily() async throws {
        let test = try TestEngine(upstream: FakeUpstream(pageSize: 100))
        try test.upstream.set("/orders", orders(3))
        try await test.running {
            try await test.engine.sync(SyncRequest())
            try await test.engine.sync(SyncRequest())
            var cursor = try test.store.cursor(of: "orders")
            cursor.lastFullAt = test.clock.timestamp - .seconds(86_400)
            try await test.store.setCursor(of: "orders", to: cursor)
            try await test.engine.sync(SyncRequest())
            #expect(try test.store.cursor(of: "orders").lastFullAt == test.clock.timestamp)
            cursor.lastFullAt = test.clock.timestamp + .seconds(60)
            try await test.store.setCursor(of: "orders", to: cursor)
            try await test.engine.sync(SyncRequest())
            try await test.engine.sync(SyncRequest())
        }
        #expect(askedForEverything(test).suffix(5) == [true, false, true, true, false])
    }

    @Test("what changed is asked for also while a full pull that is due fails")
    func dueFails() async throws {
        let test = try TestEngine(upstream: FakeUpstream(pageSize: 100))
        try test.upstream.set("/orders", orders(3))
        try await test.running { () async throws in
            try await test.engine.sync(SyncRequest())
            var cursor = try test.store.cursor(of: "orders")
            cursor.lastFullAt = test.clock.timestamp - .seconds(86_400)
            try await test.store.setCursor(of: "orders", to: cursor)
            test.upstream.failList("/orders", .malformed("no list"))
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
            #expect(try test.store.cursor(of: "orders").error == "no list")
        }
        #expect(askedForEverything(test).suffix(2) == [true, false])
    }

    @Test("what changed is asked for before a full pull that is due goes on where it was interrupted")
    func dueGoesOn() async throws {
        let test = try TestEngine(upstream: FakeUpstream(pageSize: 2))
        try test.upstream.set("/orders", orders(5))
        try await test.running {
            try await test.engine.sync(SyncRequest())
            var cursor = try test.store.cursor(of: "orders")
            cursor.lastFullAt = test.clock.timestamp - .seconds(86_400)
            cursor.pull = PullInProgress(kind: .everything, position: "2", seen: 2, started: test.clock.timestamp)
            try await test.store.setCursor(of: "orders", to: cursor)
            try await test.engine.sync(SyncRequest())
            #expect(try test.store.cursor(of: "orders").lastFullAt == test.clock.timestamp)
        }
        #expect(askedForEverything(test).suffix(2) == [false, true])
        #expect(test.upstream.pages.contains { $0.path == "/orders" && $0.position == "2" && $0.since == nil })
    }

    @Test("a full pull that was interrupted goes on although what changed is more than a limit allows")
    func changesInterrupted() async throws {
        let test = try TestEngine(upstream: FakeUpstream(pageSize: 2))
        try test.upstream.set("/orders", orders(5))
        try await test.running { () async throws in
            try await test.engine.sync(SyncRequest())
            var cursor = try test.store.cursor(of: "orders")
            cursor.lastFullAt = test.clock.timestamp - .seconds(86_400)
            cursor.pull = PullInProgress(kind: .everything, position: "2", seen: 2, started: test.clock.timestamp)
            try await test.store.setCursor(of: "orders", to: cursor)
            test.upstream.failList("/orders", .throttled(.seconds(60), "too many"))
            await #expect(throws: (any Error).self) { try await test.engine.sync(SyncRequest()) }
            #expect(test.upstream.pages.last?.since != nil)
            #expect(try test.store.cursor(of: "orders").pull == cursor.pull)
            test.upstream.failList("/orders", nil)
            let asked = test.upstream.pages.count
            test.clock.advance(by: .seconds(61))
            try await test.engine.sync(SyncRequest())
            let next = test.upstream.pages[asked...].first { $0.path == "/orders" }
            #expect(next?.position == "2" && next?.since == nil)
        }
    }

    @Test("held deletions are made once confirmed for that entity")
    func confirmed() async throws {
        let test = try TestEngine(upstream: FakeUpstream(pageSize: 100))
        try test.upstream.set("/orders", orders(30))
        test.upstream.hideRecords(true)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            try test.upstream.set("/orders", orders(10))
            try await test.engine.sync(SyncRequest(full: true, deletes: ["parts"]))
            #expect(try test.store.rowCounts()["orders"] == 30)
            #expect(try test.store.cursor(of: "orders").heldDeletions == 20)
            try await test.engine.sync(SyncRequest(entities: ["orders"], full: true, deletes: ["orders"]))
            #expect(try test.store.rowCounts()["orders"] == 10)
            #expect(try test.store.cursor(of: "orders").heldDeletions == 0)
        }
    }

    @Test("children are fetched also while the list of their parents fails")
    func listFails() async throws {
        let test = try TestEngine()
        try test.upstream.set("/orders", #"[{"id":"a","updated_at":"2026-01-01T00:00:00Z"}]"#)
        try test.upstream.set("/orders/a/messages", #"[{"id":"m"}]"#)
        test.upstream.failList("/orders/a/messages", .malformed("no list"))
        try await test.running { () async throws in
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
            test.upstream.failList("/orders/a/messages", nil)
            test.upstream.failList("/orders", .malformed("none either"))
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
            #expect(try test.store.rowCounts()["messages"] == 1)
            #expect(try test.store.cursor(of: "orders").error == "none either")
        }
    }

    @Test("an entity pulled with its parent clears its error at the next success")
    func forgetsFailure() async throws {
        let test = try TestEngine()
        try test.upstream.set("/orders", #"[{"id":"a","updated_at":"2026-01-01T00:00:00Z"}]"#)
        test.upstream.failList("/orders/a/messages", .malformed("no list"))
        try await test.running {
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
            #expect(try test.store.cursor(of: "messages").error == "no list")
            test.upstream.failList("/orders/a/messages", nil)
            try await test.engine.sync(SyncRequest())
            #expect(try test.store.cursor(of: "messages").error == nil)
        }
    }
}
