import CacheStore
import EntitySchema
import Foundation
import JSONText
import Logging
import Synchronization
import TestSupport
import Testing
import Upstream

@testable import SyncEngine

@Suite("Refreshing single records")
struct RefreshTests {
    @Test("callers for the same record share one request, and a caller who waits too long gets no outcome")
    func joinsAndEnds() async throws {
        let upstream = SlowUpstream()
        let clock = ManualClock()
        let (engine, store, orders) = try engine(upstream, clock)
        async let first = engine.refresh(orders, key: "a")
        async let second = engine.refresh(orders, key: "a")
        await clock.waitForSleepers(2)
        await upstream.waitUntilAsked()
        clock.advance(by: .seconds(10))
        #expect(await first == .timedOut)
        #expect(await second == .timedOut)
        async let third = engine.refresh(orders, key: "a")
        await clock.waitForSleepers(1)
        upstream.open()
        #expect(await third == .stored)
        #expect(upstream.asked == 1)
        #expect(try store.record("orders", key: "a") != nil)
    }

    @Test("entities served only with their parents are never requested")
    func unsupported() async throws {
        let upstream = SlowUpstream()
        let (engine, _, _) = try engine(upstream, ManualClock())
        let messages = try #require(try EntitySchema(yaml: TestEngine.shop, file: "shop.yaml")["messages"])
        #expect(await engine.refresh(messages, key: "a") == .unsupported)
        #expect(upstream.asked == 0)
    }

    @Test("a key that is longer than any record's is never requested")
    func tooLong() async throws {
        let upstream = SlowUpstream()
        upstream.open()
        let (engine, _, orders) = try engine(upstream, ManualClock())
        #expect(await engine.refresh(orders, key: String(repeating: "k", count: 501)) == .unsupported)
        #expect(upstream.asked == 0)
        #expect(await engine.refresh(orders, key: String(repeating: "k", count: 500)) != .unsupported)
        #expect(upstream.asked == 1)
    }

    @Test("a record that has left its window is asked for by its key, whichever of its ids is given")
    func firstID() async throws {
        let yaml = TestEngine.shop.replacing("path: /orders\n", with: "path: /orders\n      where: { notes: mine }\n")
        let test = try TestEngine(schema: yaml)
        let first = try await test.store.create("orders", body: .object(["notes": "mine"]), at: test.clock.timestamp)
        try await test.send()
        test.clock.advance(by: .seconds(86_400))
        try test.upstream.set("/orders", #"[{"id":"server-1","notes":"other"}]"#)
        let now = test.clock.timestamp
        _ = try await test.store.apply(
            PulledPage(entity: "orders", records: #"[{"id":"server-1","notes":"other"}]"#), at: now)
        #expect(try await test.store.leaveWindows(at: now, serverNow: now) == ["orders": 1])
        let orders = try #require(try EntitySchema(yaml: yaml, file: "shop.yaml")["orders"])
        #expect(await test.engine.refresh(orders, key: first) == .stored)
        #expect(try test.record(first)?["id"] == "server-1")
    }

    private func engine(_ upstream: SlowUpstream, _ clock: ManualClock) throws -> (SyncEngine, CacheStore, Entity) {
        let schema = try EntitySchema(yaml: TestEngine.shop, file: "shop.yaml")
        let store = try CacheStore.temporary(schema)
        let engine = SyncEngine(
            store: store, upstream: upstream, time: SyncTime(clock: clock, now: { clock.timestamp }), random: { 0.5 },
            log: .silent)
        return (engine, store, try #require(schema["orders"]))
    }
}

/// An upstream that serves one record after it is opened.
private final class SlowUpstream: BareUpstream {
    private struct State {
        var asked = 0
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var watching: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    var asked: Int { state.withLock { $0.asked } }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func waitUntilAsked() async {
        await withCheckedContinuation { continuation in
            let isAsked = state.withLock { state in
                if state.asked == 0 { state.watching.append(continuation) }
                return state.asked > 0
            }
            if isAsked { continuation.resume() }
        }
    }

    func record(of entity: Entity, known: JSONText) async throws(UpstreamError) -> RemoteRecord? {
        let watching = state.withLock { state in
            state.asked += 1
            defer { state.watching = [] }
            return state.watching
        }
        for continuation in watching { continuation.resume() }
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
        return RemoteRecord(.object(["id": known["id"] ?? .null]))
    }
}
