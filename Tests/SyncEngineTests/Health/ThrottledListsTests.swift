import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("An upstream that asks to wait with a list")
struct ThrottledListsTests {
    private static let start = Timestamp(milliseconds: 0)

    @Test("concerns only the list once others are read to their end between its attempts, until it is")
    func oneList() {
        var (lists, now) = (ThrottledLists(), Self.start)
        func waits(_ entity: String) -> Bool { lists.noteWait(with: entity, until: now + .seconds(60), at: now) != nil }
        #expect(!waits("a") && lists.isSuspect("a") && lists.wait(with: "a", at: now) == nil)
        now = now + .seconds(60)
        lists.pass("b", at: now)
        #expect(waits("a") && lists.wait(with: "a", at: now) == now + .seconds(60))
        now = now + .seconds(60)
        #expect(lists.wait(with: "a", at: now) == nil && waits("a"))
        lists.pass("a", at: now)
        #expect(!lists.isSuspect("a") && !waits("a"))
    }

    @Test("concerns everything while no other is read, and where a second list is asked to wait in turn")
    func everything() {
        var (lists, now) = (ThrottledLists(), Self.start)
        func waits(_ entity: String) -> Bool { lists.noteWait(with: entity, until: now + .seconds(60), at: now) != nil }
        #expect(!waits("a"))
        now = now + .seconds(60)
        #expect(!waits("a"))
        now = now + .seconds(60)
        lists.pass("b", at: now)
        #expect(waits("a") && !waits("c"))
    }

    @Test("is not asked for it again and again while an edit waits that is to be merged with the list")
    func heldEdit() async throws {
        let test = try await TestEngine.with()
        let clock = test.clock
        try await test.change("a", #"{"notes":"mine"}"#)
        clock.advance(by: .seconds(10))
        let environment = SyncEnvironment(
            store: test.store, upstream: test.upstream, settings: SyncSettings(),
            time: SyncTime(clock: clock, now: { clock.timestamp }), random: { 0.5 }, callbacks: SyncCallbacks(),
            log: .silent)
        let monitor = HealthMonitor(environment, account: AccountCheck(environment))
        _ = await monitor.noteWait(.seconds(60), "too many", withReadsOf: "orders")
        clock.advance(by: .seconds(120))
        await monitor.noteReadable("parts")
        #expect(try await monitor.heldEntities() == ["orders"])
        _ = await monitor.noteWait(.seconds(60), "too many", withReadsOf: "orders")
        #expect(try await monitor.heldEntities().isEmpty)
    }

    @Test("reads the others and sends changes while one list is limited")
    func limitOfList() async throws {
        let test = try TestEngine()
        try test.upstream.set("/parts", #"[{"id":"p"}]"#)
        try test.upstream.set("/orders", #"[{"id":"a","notes":"n"}]"#)
        test.upstream.failList("/orders", .throttled(.seconds(600), "too many"))
        func asked() -> Int { test.upstream.pages.count { $0.path == "/orders" } }
        try await test.running {
            try await test.until { test.engine.status().retryAfter != nil }
            #expect(try test.record("p", "parts") == nil, "the first time, everything waits")
            try await test.until(step: .seconds(5)) { asked() == 2 }
            try await test.until { try test.record("p", "parts") != nil }
            #expect(test.engine.status().retryAfter == nil)
            let began = test.clock.timestamp
            _ = try await test.store.create("orders", body: .object(["notes": "new"]), at: began)
            try await test.until { try test.store.pendingCount().pending == 0 }
            #expect(test.clock.timestamp.since(began) < .seconds(60))
            try await test.until(step: .seconds(5)) { test.clock.timestamp.since(began) > .seconds(400) }
            #expect(asked() == 2, "as long as the upstream asks for")
            test.upstream.failList("/orders", nil)
            try await test.until(step: .seconds(5)) { try test.record("a") != nil }
        }
    }

    @Test("stays known while what changed is read and only the full pull, which is due, meets the limit")
    func limitOfFullPull() async throws {
        let test = try TestEngine(upstream: FakeUpstream(pageSize: 1))
        let upstream = test.upstream
        let day = "2026-01-01T00:00:00Z"
        try upstream.set("/orders", #"[{"id":"a","updated_at":"\#(day)"},{"id":"b","updated_at":"\#(day)"}]"#)
        try await test.running { () async throws in
            try await test.engine.sync(SyncRequest())
            var cursor = try test.store.cursor(of: "orders")
            cursor.lastFullAt = test.clock.timestamp - .seconds(86_400)
            cursor.pull = PullInProgress(kind: .everything, position: "2", seen: 1, started: test.clock.timestamp)
            try await test.store.setCursor(of: "orders", to: cursor)
            upstream.onPage {
                let isFullNext = upstream.pages.last.map { $0.path == "/orders" && $0.since != nil } ?? false
                let isLast = upstream.pages.last?.position == "2"
                upstream.failList("/orders", isFullNext && isLast ? .throttled(.seconds(60), "too many") : nil)
            }
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
            #expect(test.engine.status().retryAfter != nil, "the first time, everything waits")
            test.clock.advance(by: .seconds(61))
            let asked = upstream.pages.count { $0.path == "/parts" }
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
            #expect(upstream.pages.count { $0.path == "/parts" } > asked)
            #expect(test.engine.status().retryAfter == nil)
        }
    }

    @Test("reads a list in one go, so that deletions are found, if it asks to wait with every second page")
    func limitOfPages() async throws {
        let test = try TestEngine()
        let upstream = test.upstream
        let ids = ["a", "b", "c", "d", "e"].map { #"{"id":"\#($0)"}"# }
        try upstream.set("/parts", "[\(ids.joined(separator: ","))]")
        upstream.onPage {
            let isEven = upstream.pages.count { $0.path == "/parts" }.isMultiple(of: 2)
            upstream.failList("/parts", isEven ? nil : .throttled(.seconds(5), "too many"))
        }
        try await test.running {
            try await test.until { try test.record("e", "parts") != nil }
            try upstream.set("/parts", "[\(ids.dropLast().joined(separator: ","))]")
            await test.engine.requestSync(SyncRequest(full: true))
            try await test.until { try test.record("e", "parts") == nil }
            #expect(try test.record("d", "parts") != nil)
        }
    }
}
