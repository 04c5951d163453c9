import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("An engine of a fleet")
struct FleetTests {
    private func synced() async throws -> TestEngine {
        let first = try TestEngine()
        try first.upstream.set("/orders", #"[{"id":"1","notes":"n"}]"#)
        try await first.running { try await first.engine.sync(SyncRequest()) }
        return try TestEngine(upstream: first.upstream, store: first.store, place: 0.5)
    }

    @Test("after a restart the next sync is due when it was due before, and a person's sync at once")
    func restart() async throws {
        let test = try await synced()
        try await test.running {
            await test.clock.waitForSleepers(2)
            let status = test.engine.status()
            #expect(status.lastSyncAt == nil && status.nextSyncAt == test.clock.timestamp + .seconds(900))
            try await test.engine.sync(SyncRequest())
            #expect(test.engine.status().lastSyncAt == test.clock.timestamp)
        }
    }

    @Test("after a long outage the next sync waits for its turn; a local write is sent at once")
    func outage() async throws {
        let test = try await synced()
        try await test.running {
            try await test.engine.sync(SyncRequest())
            try await test.change("1", #"{"notes":"during"}"#)
            test.upstream.setOffline(true)
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
            let end = test.clock.timestamp + .seconds(3600)
            try await test.until(step: .seconds(5)) { test.clock.timestamp >= end }
            test.upstream.setOffline(false)
            try await test.until(step: .seconds(5)) { test.engine.status().state != .offline }
            #expect(try test.store.pendingCount().pending == 1)
            test.engine.noteLocalWrite()
            let back = test.clock.timestamp
            try await test.until { try test.store.pendingCount().pending == 0 }
            #expect(test.clock.timestamp.since(back) < .seconds(60), "the turn is 900 s later")
        }
    }
}
