import EntitySchema
import Logging
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("Records that the upstream says are locked")
struct LockedTests {
    @Test("are no outage")
    func locked() async throws {
        let (clock, schema) = (ManualClock(), try EntitySchema(yaml: TestEngine.shop, file: "shop.yaml"))
        let environment = SyncEnvironment(
            store: try CacheStore.temporary(schema), upstream: FakeUpstream(), settings: SyncSettings(),
            time: SyncTime(clock: clock, now: { clock.timestamp }), random: { 0.5 }, callbacks: SyncCallbacks(),
            log: .silent)
        let monitor = HealthMonitor(environment, account: AccountCheck(environment))
        for entity in ["orders", "messages", "orders", "messages"] {
            await monitor.note(.locked(status: 423, "locked"), about: RequestOrigin(entity: entity))
        }
        #expect(await !monitor.breaker.isDown)
        for entity in ["orders", "messages", "orders", "messages"] {
            await monitor.note(.unclear(status: 503, "down"), about: RequestOrigin(entity: entity))
        }
        #expect(await monitor.breaker.isDown)
    }

    @Test("stop only the list, detail or read that they answer, until it is requested again")
    func reads() async throws {
        let locked = UpstreamError.locked(status: 409, "being exported")
        let test = try TestEngine()
        try test.upstream.set("/orders", #"[{"id":"a","updated_at":"2026-01-01T00:00:00Z"}]"#)
        try test.upstream.set("/orders/a/messages", #"[{"id":"m"}]"#)
        try test.upstream.set("/parts", #"[{"id":"p"}]"#)
        for path in ["/orders/a/messages", "/parts"] { test.upstream.failList(path, locked) }
        try await test.running {
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
            #expect(try test.store.rowCounts()["orders"] == 1)
            for entity in ["messages", "parts"] {
                #expect(try test.store.cursor(of: entity).error == "being exported")
            }
            for path in ["/orders/a/messages", "/parts"] { test.upstream.failList(path, nil) }
            try await test.engine.sync(SyncRequest())
            for entity in ["messages", "parts"] { #expect(try test.store.rowCounts()[entity] == 1) }
        }
        #expect(RefreshOutcome(locked) == .unavailable("being exported"))
    }
}
