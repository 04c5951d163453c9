import CacheStore
import EntitySchema
import JSONText
import Logging
import TestSupport
import Testing
import Upstream

@testable import SyncEngine

@Suite("When the retries are used up")
struct RationedRetryTests {
    private static let schema = TestEngine.shop
        .replacing("  orders:\n", with: "  orders:\n    conflict: local_wins\n")
        .replacing("path: /orders\n", with: "path: /orders\n      deleted: gone\n")

    @Test("edits whose records are deleted meanwhile are sent as creations once the upstream works")
    func recreated() async throws {
        let test = try TestEngine(schema: Self.schema)
        let kept = (9...60).map { #"{"id":"\#($0)","notes":"n"}"# }
        let edited = (1...8).map { #"{"id":"\#($0)","notes":"n"}"# }
        try test.upstream.set("/orders", "[\((edited + kept).joined(separator: ","))]")
        try await test.running {
            try await test.engine.sync(SyncRequest())
            for number in 1...8 { try await test.change("\(number)", #"{"notes":"mine"}"#) }
            test.upstream.fail(.unclear(status: 503, "down"), times: 1000)
            try await test.engine.sync(SyncRequest())
            test.clock.advance(by: .seconds(2))
            try await test.engine.sync(SyncRequest())
            #expect(test.upstream.pushes.count == 8 + 3 + 1)
            let gone = (1...8).map { #"{"id":"\#($0)","gone":true,"updated_at":"2100-01-01T00:00:00Z"}"# }
            try test.upstream.set("/orders", "[\((gone + kept).joined(separator: ","))]")
            test.upstream.clearFailures()
            let healed = test.clock.timestamp
            try await test.engine.sync(SyncRequest(full: true))
            try await test.until { try test.store.pendingCount().pending == 0 }
            #expect(test.clock.timestamp.since(healed) < .seconds(120))
            #expect(test.upstream.records("/orders").count { $0["notes"] == "mine" } == 8)
        }
    }

    @Test("contents find out as well whether changes are accepted again, one at a time")
    func contents() async throws {
        let (clock, schema) = (ManualClock(), try EntitySchema(yaml: TestEngine.shop, file: "shop.yaml"))
        let environment = SyncEnvironment(
            store: try CacheStore.temporary(schema), upstream: FakeUpstream(), settings: SyncSettings(),
            time: SyncTime(clock: clock, now: { clock.timestamp }), random: { 0.5 }, callbacks: SyncCallbacks(),
            log: .silent)
        let monitor = HealthMonitor(environment, account: AccountCheck(environment))
        let gate = PushAdmission.contents(monitor, UnwrittenOutcomes(environment))
        #expect(await gate.allowance() == .all)
        while await monitor.retryWait == nil { _ = await monitor.mayBegin(1, isRetry: true) }
        #expect(await gate.allowance() == .all)
        #expect(await monitor.mayBeginContent(2, isRetry: true))
        #expect(await gate.allowance() == .untried)
        #expect(await !monitor.mayBeginContent(3, isRetry: true))
        #expect(await monitor.mayBeginContent(4, isRetry: false))
        clock.advance(by: .seconds(2))
        #expect(await monitor.mayBeginContent(3, isRetry: true))
    }
}
