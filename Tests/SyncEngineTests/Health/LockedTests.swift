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
            schema: schema, store: try CacheStore.temporary(schema), contents: nil, upstream: FakeUpstream(),
            settings: SyncSettings(), clock: clock, now: { clock.timestamp }, monotonicNow: { clock.timestamp },
            random: { 0.5 }, clockOffset: { nil }, measure: { _ in }, changed: {}, mayPush: { true },
            log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, sleeps: LoopSleeps(clock: clock))
        let monitor = HealthMonitor(environment, account: AccountCheck(environment))
        for entity in ["orders", "messages", "orders", "messages"] {
            await monitor.note(.unclear(status: 423, "locked"), about: RequestOrigin(entity: entity))
        }
        #expect(await !monitor.breaker.isDown)
        for entity in ["orders", "messages", "orders", "messages"] {
            await monitor.note(.unclear(status: 503, "down"), about: RequestOrigin(entity: entity))
        }
        #expect(await monitor.breaker.isDown)
    }
}
