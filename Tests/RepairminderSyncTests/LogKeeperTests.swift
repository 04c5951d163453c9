import CacheStore
import EntitySchema
import Logging
import Synchronization
import TestSupport
import Testing

@testable import repairminder_sync

@Suite("Pruning the change log")
struct LogKeeperTests {
    private static let schema = """
        schema: shop
        upstream: { base_url: "http://localhost", pagination: { style: page } }
        entities: { orders: { pull: { path: /orders }, fields: { id: { type: string } } } }
        """
    private static let limits = LogLimits(age: .seconds(86_400), count: 4)

    /// A clock whose sleeps are over at once. It ends the keeper after some runs.
    private final class Runs: Clock, Sendable {
        private let left: Mutex<Int>

        init(_ count: Int) { left = Mutex(count) }

        var now: ContinuousClock.Instant { .now }
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
            // Between two batches.
            if deadline < now + .seconds(300) { return }
            let isOver = left.withLock { left in
                defer { left -= 1 }
                return left <= 0
            }
            if isOver { throw CancellationError() }
        }
    }

    /// How many rows of the log are left beyond its limits after some runs of a keeper.
    private func rest(afterRuns count: Int, isBusy: Bool) async throws -> Int {
        let store = try CacheStore.temporary(EntitySchema(yaml: Self.schema, file: "shop.yaml"))
        // The log has a row for each page.
        for number in 0..<5 {
            let page = PulledPage(entity: "orders", records: #"[{"id": "a\#(number)"}, {"id": "b\#(number)"}]"#)
            _ = try await store.apply(page, at: .sample)
        }
        let keeper = LogKeeper(
            store: store, limits: Self.limits, isBusy: { isBusy }, now: { .sample }, clock: Runs(count),
            log: .silent)
        await #expect(throws: CancellationError.self) { try await keeper.run() }
        return try await store.pruneLog(to: Self.limits, at: .sample, batch: 1000)
    }

    @Test("the log is pruned while nothing is syncing")
    func quiet() async throws {
        #expect(try await rest(afterRuns: 1, isBusy: false) == 0)
    }

    @Test("a sync that never ends holds up pruning, but not for ever")
    func endlessSync() async throws {
        #expect(try await rest(afterRuns: 6, isBusy: true) > 0)
        #expect(try await rest(afterRuns: 7, isBusy: true) == 0)
    }
}
