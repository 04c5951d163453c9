import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

/// The acceptance tests of the original specification, row by row.
@Suite("The original specification's table")
struct OriginalSpecificationTests {
    private let orders =
        #"[{"id":"a","notes":"n","total":1,"updated_at":"2026-01-01T00:00:00Z"},{"id":"b"},{"id":"c"}]"#

    /// Runs an engine that has pulled a shop once.
    private func running(_ body: (TestEngine) async throws -> Void) async throws {
        let test = try TestEngine()
        try test.upstream.set("/orders", orders)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            try await body(test)
        }
    }

    /// Lets the engine's delays pass until `condition` holds.
    private func until(_ test: TestEngine, _ condition: () async throws -> Bool) async throws {
        try await test.until(step: .seconds(1), condition)
    }

    @Test("a full sync completes")
    func fullSync() async throws {
        try await running { (test) async throws in
            #expect(try test.store.rowCounts()["orders"] == 3)
            #expect(test.engine.status().state == .completed)
        }
    }

    @Test("being offline is detected")
    func offline() async throws {
        try await running { (test) async throws in
            test.upstream.setOffline(true)
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
            #expect(test.engine.status().state == .offline)
            #expect(try test.record("a")?["notes"] == "n", "pulled records can still be read")
        }
    }

    @Test("a local change is queued and counted")
    func queued() async throws {
        try await running { (test) async throws in
            test.upstream.setOffline(true)
            try await test.change("a", #"{"notes":"mine"}"#)
            #expect(try test.store.pendingCount() == PendingCount(pending: 1, failed: 0))
            #expect(try test.record("a")?["notes"] == "mine")
        }
    }

    @Test("changes made offline are pushed after reconnecting without a request")
    func reconnect() async throws {
        try await running { (test) async throws in
            test.upstream.setOffline(true)
            try await test.change("a", #"{"notes":"mine"}"#)
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
            test.upstream.setOffline(false)
            try await until(test) { try test.store.pendingCount().pending == 0 }
            #expect(test.upstream.records("/orders").first?["notes"] == "mine")
        }
    }

    @Test("a pull keeps locally changed fields and updates all others")
    func dirtyFields() async throws {
        try await running { (test) async throws in
            test.upstream.breakMethod("PATCH")
            try await test.change("a", #"{"notes":"mine"}"#)
            try test.upstream.set(
                "/orders", #"[{"id":"a","notes":"n","total":2,"updated_at":"2026-02-01T00:00:00Z"}]"#)
            try await test.engine.sync(SyncRequest())
            #expect(try test.record("a")?["notes"] == "mine")
            #expect(try test.record("a")?["total"] == 2)
        }
    }

    @Test("syncing continues in the background")
    func background() async throws {
        try await running { (test) async throws in
            try test.upstream.set("/orders", #"[{"id":"new","updated_at":"2027-01-01T00:00:00Z"}]"#)
            try await until(test) { try test.record("new") != nil }
        }
    }

    @Test("the last write wins", arguments: [("2020-01-01T00:00:00Z", "mine"), ("2030-01-01T00:00:00Z", "theirs")])
    func lastWriteWins(_ time: String, _ winner: String) async throws {
        try await running { (test) async throws in
            test.upstream.breakMethod("PATCH")
            try await test.change("a", #"{"notes":"mine"}"#)
            try test.upstream.set("/orders", #"[{"id":"a","notes":"theirs","updated_at":"\#(time)"}]"#)
            try await test.engine.sync(SyncRequest(full: true))
            #expect(try test.record("a")?["notes"]?.string == winner)
            #expect(try test.store.pendingCount().pending == (winner == "mine" ? 1 : 0))
        }
    }
}
