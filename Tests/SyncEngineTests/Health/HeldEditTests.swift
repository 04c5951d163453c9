import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

/// Edits that could not be sent when they were made, and are merged with the server's version first.
@Suite("Edits that were held")
struct HeldEditTests {
    private let failure = UpstreamError.unclear(status: 503, "down")

    /// Runs an engine that has pulled one record.
    private func withRecord(_ body: (TestEngine) async throws -> Void) async throws {
        let test = try TestEngine()
        try test.upstream.set("/orders", #"[{"id":"a","notes":"n","updated_at":"2026-01-01T00:00:00Z"}]"#)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            try await body(test)
        }
    }

    private func editThere(_ test: TestEngine, at time: Timestamp) throws {
        try test.upstream.set("/orders", #"[{"id":"a","notes":"theirs, later","updated_at":"\#(time)"}]"#)
    }

    @Test("an edit that waited long is merged with the server's version before it is sent")
    func longHeldEdit() async throws {
        try await withRecord { (test) async throws in
            try await test.change("a", #"{"notes":"mine"}"#)
            test.clock.advance(by: .seconds(600))
            try editThere(test, at: test.clock.timestamp - .seconds(60))
            try await test.engine.sync(SyncRequest())
            #expect(test.upstream.pushes.isEmpty, "the last write was theirs")
            #expect(try test.record("a")?["notes"] == "theirs, later")
            #expect(try test.store.conflicts(before: nil, open: false, limit: 9).conflicts.count == 1)
        }
    }

    @Test("an edit that waited is sent once a pull has brought its record, which is not read by its key besides")
    func pulledOnly() async throws {
        try await withRecord { (test) async throws in
            try await test.change("a", #"{"notes":"mine"}"#)
            test.clock.advance(by: .seconds(600))
            let reads = test.upstream.recordRequests
            try await test.engine.sync(SyncRequest())
            #expect(test.upstream.pushes.count == 1)
            #expect(test.upstream.recordRequests == reads)
        }
    }

    @Test("an edit that waited long behind others is merged with the server's version before it is sent")
    func longPush() async throws {
        let test = try TestEngine()
        let orders = (0..<20).map { #"{"id":"o\#($0)","notes":"n","updated_at":"2026-01-01T00:00:00Z"}"# }
        try test.upstream.set("/orders", "[\(orders.joined(separator: ","))]")
        try await test.running {
            try await test.engine.sync(SyncRequest())
            for number in 0..<20 { try await test.change("o\(number)", #"{"notes":"mine"}"#) }
            let isFirst = Flag()
            test.upstream.onPush { [upstream = test.upstream, clock = test.clock] in
                if isFirst.take() {
                    let theirs = #"{"id":"o19","notes":"theirs","updated_at":"\#(clock.timestamp + .seconds(10))"}"#
                    try? upstream.set("/orders", "[\((orders.dropLast() + [theirs]).joined(separator: ","))]")
                }
                clock.advance(by: .seconds(20))
            }
            try await test.engine.sync(SyncRequest())
            #expect(try test.store.pendingCount().pending == 0)
            #expect(!test.upstream.pushes.contains { $0.request.path == "/orders/o19" }, "the last write was theirs")
            #expect(test.upstream.pushes.count == 19)
            #expect(try test.record("o19")?["notes"] == "theirs")
        }
    }

    /// The time of day is off by `error` seconds while the edit is made.
    @Test(
        "an edit made while paused or offline is merged with the server's version before it is sent",
        arguments: [true, false], [0, 86_400, -86_400])
    func heldEdit(isPaused: Bool, error: Int) async throws {
        try await withRecord { (test) async throws in
            if isPaused {
                await test.engine.pause()
            } else {
                test.upstream.setOffline(true)
                await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
            }
            test.clock.set(by: .seconds(error))
            try await test.store.update(
                "orders", key: "a", body: JSONText(parsing: #"{"notes":"mine"}"#), at: test.clock.timestamp,
                clockOffset: .seconds(-error))
            test.clock.set(by: .seconds(-error))
            test.clock.advance(by: .seconds(1))
            try editThere(test, at: test.clock.timestamp)
            if isPaused { await test.engine.resume() } else { test.upstream.setOffline(false) }
            try await test.until { try test.store.pendingCount().pending == 0 }
            #expect(test.upstream.pushes.isEmpty, "the last write was theirs")
            #expect(try test.record("a")?["notes"] == "theirs, later")
        }
    }

    @Test("nothing is sent while the server's version is being pulled; then everything is, in the same sync")
    func meeting() async throws {
        try await withRecord { (test) async throws in
            await test.engine.pause()
            try await test.change("a", #"{"notes":"mine"}"#)
            test.clock.advance(by: .seconds(1))
            await test.engine.resume()
            let before = test.upstream.pages.count
            test.upstream.onPage { [upstream = test.upstream, clock = test.clock] in
                guard upstream.pages.count == before else { return }
                // The pull loop waits for this page, so the sleeper is the push loop after its next check.
                for _ in 1...6 {
                    await clock.waitForSleepers(1)
                    clock.advance(by: .milliseconds(500))
                }
                #expect(upstream.pushes.isEmpty)
            }
            try await test.engine.sync(SyncRequest())
            #expect(try test.store.pendingCount().pending == 0)
            #expect(test.upstream.pushes.count == 1)
        }
    }

    @Test("changes of other entities go out while a pull takes long, also beside an edit that waits for the next one")
    func others() async throws {
        try await withRecord { (test) async throws in
            let pages = Gate()
            test.upstream.onPage { await pages.pass() }
            await test.engine.requestSync(SyncRequest())
            await pages.arrival()
            await test.engine.pause()
            try await test.change("a", #"{"notes":"mine"}"#)
            test.clock.advance(by: .seconds(1))
            await test.engine.resume()
            let message = JSONText.object(["order_id": "a"])
            _ = try await test.store.create("messages", body: message, at: test.clock.timestamp)
            test.engine.noteLocalWrite()
            // The pull loop waits for the page, so the sleeper is the push loop.
            for _ in 1...20 where test.upstream.pushes.isEmpty {
                await test.clock.waitForSleepers(1)
                test.clock.advance(by: .milliseconds(500))
            }
            #expect(test.upstream.pushes.map(\.request.path) == ["/orders/a/messages"])
            pages.open()
            try await test.until { try test.store.pendingCount().pending == 0 }
            #expect(test.upstream.pushes.count == 2)
        }
    }

    @Test("the trial after an outage is merged with the server's version first")
    func heldTrial() async throws {
        try await withRecord { (test) async throws in
            for list in ["/orders", "/parts"] { test.upstream.failList(list, failure) }
            test.upstream.failProbes(true)
            for _ in 1...2 { await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) } }
            #expect(test.engine.status().state == .error)
            try await test.change("a", #"{"notes":"mine"}"#)
            test.clock.advance(by: .seconds(1))
            try editThere(test, at: test.clock.timestamp)
            for list in ["/orders", "/parts"] { test.upstream.failList(list, nil) }
            test.upstream.failProbes(false)
            try await test.until { try test.store.pendingCount().pending == 0 }
            #expect(test.upstream.pushes.isEmpty, "the last write was theirs")
        }
    }

    @Test("an edit made before a restart is merged with the server's version before it is sent")
    func heldOverARestart() async throws {
        let before = try TestEngine()
        try before.upstream.set("/orders", #"[{"id":"a","notes":"n","updated_at":"2026-01-01T00:00:00Z"}]"#)
        try await before.running { try await before.engine.sync(SyncRequest()) }
        let made = before.clock.timestamp - .seconds(2)
        try await before.store.update("orders", key: "a", body: JSONText(parsing: #"{"notes":"mine"}"#), at: made)
        try editThere(before, at: made + .seconds(1))
        let test = try TestEngine(upstream: before.upstream, store: before.store)
        try await test.running { try await test.engine.sync(SyncRequest()) }
        #expect(test.upstream.pushes.isEmpty, "the last write was theirs")
    }
}
