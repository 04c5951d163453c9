import EntitySchema
import JSONText
import Synchronization
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("Syncing")
struct SyncEngineTests {
    private let orders = #"[{"id":"a","updated_at":"2026-01-01T00:00:00.000Z"},{"id":"b"},{"id":"c"}]"#

    @Test("a sync of one entity does not stand for a sync of all")
    func covering() {
        let one = SyncRequest(entities: ["orders"])
        #expect(!one.covers(SyncRequest()) && SyncRequest().covers(one) && one.covers(one))
    }

    @Test("the offset of the server's clock is kept for the next start; a small change of it is not written")
    func clockOffset() async throws {
        let store = try TestEngine().store
        for (measured, kept) in [(5000, "5000"), (6000, "5000"), (-4000, "-4000")] {
            let test = try TestEngine(store: store, clockOffset: { .milliseconds(measured) })
            try await test.running { try await test.engine.sync(SyncRequest()) }
            #expect(try store.setting(PullLoop.clockOffsetSetting) == kept)
        }
    }

    @Test("every page of every entity is pulled, and the children of changed parents")
    func pulls() async throws {
        let test = try TestEngine()
        try test.upstream.set("/orders", orders)
        try test.upstream.set("/parts", #"[{"id":"p"}]"#)
        try test.upstream.set(
            "/orders/a/messages", #"[{"id":"m1","order_id":"a"},{"id":"m2","order_id":"a"},{"id":"m3","order_id":"a"}]"#
        )
        try await test.running {
            try await test.engine.sync(SyncRequest())
            #expect(try test.store.rowCounts() == ["orders": 3, "messages": 3, "parts": 1])
            #expect(test.engine.status().state == .completed)
            test.clock.advance(by: .seconds(4))
            #expect(test.engine.status().state == .idle)
        }
    }

    @Test("the state is syncing while a run pulls, and while a change is sent between two runs")
    func syncing() async throws {
        let test = try TestEngine()
        try test.upstream.set("/orders", orders)
        let states = Mutex<[SyncStatus.State]>([])
        let note: @Sendable () async -> Void = { [engine = test.engine] in
            let state = engine.status().state
            states.withLock { $0.append(state) }
        }
        test.upstream.onPage(note)
        test.upstream.onPush(note)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            let pages = states.withLock { $0.count }
            try await test.change("a", #"{"notes":"mine"}"#)
            test.engine.noteLocalWrite()
            try await test.until { try test.store.pendingCount().pending == 0 }
            let all = states.withLock { $0 }
            #expect(pages > 1 && all.count == pages + 1 && all.allSatisfy { $0 == .syncing }, "\(all)")
        }
    }

    @Test("the second pull asks only for changes since the overlap")
    func since() async throws {
        let test = try TestEngine()
        try test.upstream.set("/orders", orders)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            try await test.engine.sync(SyncRequest())
        }
        let asked = test.upstream.pages.filter { $0.path == "/orders" }.map(\.since?.value)
        #expect(asked.first == .some(nil))
        #expect(asked.last == "2025-12-31T23:55:00.000Z")
        #expect(test.upstream.pages.filter { $0.path == "/orders/a/messages" }.count == 1)
    }

    @Test("an entity that fails reports why and does not stop the others")
    func oneFails() async throws {
        let test = try TestEngine()
        try test.upstream.set("/parts", #"[{"id":"p"}]"#)
        test.upstream.failList("/orders", .malformed("no list at data"))
        try await test.running {
            await #expect(throws: SyncError.upstream("orders: no list at data")) {
                try await test.engine.sync(SyncRequest())
            }
            #expect(try test.store.rowCounts()["parts"] == 1)
            #expect(try test.store.cursor(of: "orders").error == "no list at data")
            test.upstream.failList("/orders", nil)
            try await test.engine.sync(SyncRequest())
            #expect(try test.store.cursor(of: "orders").error == nil)
        }
    }

    @Test("a sync warns of records that are kept although they are no longer listed, and of nothing else")
    func keptRecords() async throws {
        let lines = LogLines()
        let test = try TestEngine(log: lines.logger)
        try test.upstream.set("/parts", JSONText.array((1...40).map { .object(["id": .string("p\($0)")]) }).text)
        test.upstream.hideRecords(true)
        try await test.running {
            try await test.engine.sync(SyncRequest(full: true))
            #expect(lines.warnings.isEmpty)
            try test.upstream.set("/parts", #"[{"id":"p1"}]"#)
            try await test.engine.sync(SyncRequest(full: true))
            #expect(lines.warnings.map { $0.metadata["records"] } == ["39"])
        }
    }

    @Test("a failed sync is retried soon, not only after the interval")
    func triesAgain() async throws {
        let test = try TestEngine()
        try test.upstream.set("/parts", #"[{"id":"p"}]"#)
        test.upstream.failList("/parts", .unclear(status: 500, "oops"))
        try await test.running {
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
            let next = try #require(test.engine.status().nextSyncAt)
            #expect(next <= test.clock.timestamp + .seconds(2))
            test.upstream.failList("/parts", nil)
            try await passTime(test) { try test.store.rowCounts()["parts"] == 0 }
        }
    }

    @Test("a local write is sent a moment later, without a pull")
    func pushes() async throws {
        let test = try TestEngine()
        try test.upstream.set("/orders", orders)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            try await test.change("a", #"{"notes":"x"}"#)
            test.engine.noteLocalWrite()
            await pushed(1, test)
            #expect(test.upstream.records("/orders")[0]["notes"]?.string == "x")
            #expect(try test.record("a")?.at(path: "_sync.state")?.string == "synced")
        }
    }

    @Test("a sync ends after the changes in flight when it was requested", .timeLimit(.minutes(10)))
    func joinsPushes() async throws {
        let test = try TestEngine()
        try test.upstream.set("/orders", orders)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            let isPushed = Ending()
            let (mayAnswer, answer) = AsyncStream.makeStream(of: Void.self)
            test.upstream.onPush {
                isPushed.value.withLock { $0 = true }
                for await _ in mayAnswer { break }
            }
            try await test.change("a", #"{"notes":"x"}"#)
            test.engine.noteLocalWrite()
            // In steps so short that no run is due, which would send the change itself.
            await passTime(test, step: .milliseconds(5)) { !isPushed.value.withLock(\.self) }
            let sync = Task {
                try await test.engine.sync(SyncRequest())
                return try test.store.pendingCount().pending
            }
            while await test.engine.push.waiters.isEmpty, !Task.isCancelled { await Task.yield() }
            answer.yield()
            #expect(try await sync.value == 0)
        }
    }

    @Test("continuous writes do not keep a sync from pulling", .timeLimit(.minutes(10)))
    func pullsUnderWrites() async throws {
        let test = try TestEngine()
        try test.upstream.set("/orders", orders)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            let enough = 50
            let atPull = Mutex<Int?>(nil)
            test.upstream.onPush { [upstream = test.upstream] in
                guard upstream.pushes.count < enough else { return }
                do {
                    try await test.change("b", #"{"notes":"\#(upstream.pushes.count)"}"#)
                    try await test.change("c", #"{"notes":"\#(upstream.pushes.count)"}"#)
                } catch {
                    Issue.record(error)
                }
            }
            test.upstream.onPage { [upstream = test.upstream] in
                atPull.withLock { $0 = $0 ?? upstream.pushes.count }
            }
            try await test.change("a", #"{"notes":"x"}"#)
            try await test.engine.sync(SyncRequest())
            let sent = try #require(atPull.withLock { $0 })
            #expect(sent < enough, "the sync pulled only after the writes stopped")
            // What was written meanwhile is sent later.
            try await passTime(test) { try test.store.pendingCount().pending > 0 }
        }
    }

    @Test("while the upstream is unreachable everything is kept and nothing counted; then it is sent")
    func offline() async throws {
        let test = try TestEngine()
        try test.upstream.set("/orders", orders)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            test.upstream.setOffline(true)
            try await test.change("a", #"{"notes":"x"}"#)
            await #expect(throws: SyncError.offline("connection refused")) { try await test.engine.sync(SyncRequest()) }
            #expect(test.engine.status().state == .offline)
            let (changes, _) = try test.store.pending(PendingQuery(limit: 10))
            #expect(changes.first?["state"]?.string == "queued")
            #expect(changes.first?["retry_count"]?.integer == 0)
            test.upstream.setOffline(false)
            try await test.engine.sync(SyncRequest())
            await pushed(1, test)
        }
    }

    @Test("a change whose answer was lost is repeated with its key and applied once")
    func lostAnswer() async throws {
        let test = try TestEngine()
        test.upstream.fail(.unclear(status: nil, "no answer"), afterApplying: true)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            _ = try await test.store.create(
                "orders", body: JSONText(parsing: #"{"notes":"new"}"#), at: test.clock.timestamp)
            try await test.engine.sync(SyncRequest())
            let (waiting, _) = try test.store.pending(PendingQuery(limit: 10))
            #expect(waiting.first?["state"]?.string == "waiting")
            #expect(waiting.first?["retry_count"]?.integer == 1)
            test.clock.advance(by: .seconds(2))
            try await test.engine.sync(SyncRequest())
            #expect(try test.store.pendingCount().pending == 0)
        }
        #expect(test.upstream.pushes.count == 2)
        #expect(Set(test.upstream.pushes.map(\.key)).count == 1)
        #expect(test.upstream.records("/orders").count == 1)
        #expect(try test.store.rowCounts()["orders"] == 1)
    }

    @Test("a refused change fails at once and does not hold up other records")
    func refused() async throws {
        let test = try TestEngine()
        try test.upstream.set("/orders", orders)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            test.upstream.fail(.refused(status: 422, "no such status"))
            try await test.change("a", #"{"notes":"x"}"#)
            try await test.change("b", #"{"notes":"y"}"#)
            try await test.engine.sync(SyncRequest())
            #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
            let (changes, _) = try test.store.pending(PendingQuery(limit: 10))
            #expect(changes.first?.at(path: "error.message")?.string == "no such status")
        }
    }

    @Test("a change fails permanently after the policy's attempts, and is kept")
    func givesUp() async throws {
        let test = try TestEngine()
        try test.upstream.set("/orders", orders)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            test.upstream.fail(.unclear(status: 500, "oops"), times: 3)
            try await test.change("a", #"{"notes":"x"}"#)
            for _ in 0..<3 {
                try await test.engine.sync(SyncRequest())
                test.clock.advance(by: .seconds(400))
            }
            #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
            #expect(try await test.store.retry(nil, at: test.clock.timestamp) == 1)
            try await test.engine.sync(SyncRequest())
            #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        }
    }

    @Test("an upstream that asks to wait is left alone until then")
    func throttled() async throws {
        let test = try TestEngine()
        try test.upstream.set("/orders", orders)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            test.upstream.fail(.throttled(.seconds(60), "too many"))
            try await test.change("a", #"{"notes":"x"}"#)
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
            let until = try #require(test.engine.status().retryAfter)
            #expect(until == test.clock.timestamp + .seconds(60))
            let asked = test.upstream.pages.count
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
            #expect(test.upstream.pages.count == asked)
            test.clock.advance(by: .seconds(61))
            try await test.engine.sync(SyncRequest())
            #expect(try test.store.pendingCount().pending == 0)
        }
    }

    @Test("the account of a token is checked once a minute, not in every sync")
    func knownToken() async throws {
        let test = try TestEngine()
        try await test.running {
            for _ in 1...3 { try await test.engine.sync(SyncRequest()) }
        }
        #expect(test.upstream.accountRequests == 1)
    }

    @Test("a token that is refused between two syncs brings the next one forward", .timeLimit(.minutes(10)))
    func refusedToken() async throws {
        let test = try TestEngine()
        try test.upstream.set("/orders", orders)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            let began = test.clock.timestamp
            test.upstream.fail(.unauthorized("PATCH /orders/a answered 401"))
            try await test.change("a", #"{"notes":"x"}"#)
            test.engine.noteLocalWrite()
            try await test.until { test.upstream.accountRequests == 2 && test.upstream.appliedCount == 1 }
            #expect(test.clock.timestamp.since(began) < .seconds(60))
        }
    }

    @Test("a request joins the sync under way that covers it")
    func joins() async throws {
        let test = try TestEngine()
        try test.upstream.set("/orders", orders)
        try await test.running {
            async let one: Void = test.engine.sync(SyncRequest())
            async let two: Void = test.engine.sync(SyncRequest())
            _ = try await (one, two)
        }
        #expect(test.upstream.pages.filter { $0.path == "/parts" }.count <= 2)
    }

    @Test("a paused engine does nothing until it is resumed")
    func pauses() async throws {
        let test = try TestEngine()
        await test.engine.pause()
        try await test.running {
            await #expect(throws: SyncError.paused) { try await test.engine.sync(SyncRequest()) }
            #expect(test.engine.status().state == .paused)
            await test.engine.resume()
            try await test.engine.sync(SyncRequest())
        }
    }

    @Test("an engine that follows a paused one sends and pulls nothing until it is resumed")
    func pauseOutlastsAnEngine() async throws {
        let pause = Published(false)
        let first = try TestEngine(pause: pause)
        await first.engine.pause()
        let test = try TestEngine(upstream: first.upstream, store: first.store, pause: pause)
        try await test.running {
            await #expect(throws: SyncError.paused) { try await test.engine.sync(SyncRequest()) }
            #expect(test.engine.status().state == .paused)
            #expect(test.upstream.pages.isEmpty)
            await test.engine.resume()
            try await test.engine.sync(SyncRequest())
        }
    }

    /// Lets the engine's delays pass, whenever it sleeps, while `condition` holds.
    private func passTime(
        _ test: TestEngine, step: Duration = .milliseconds(500), while condition: () throws -> Bool
    ) async rethrows {
        while try condition() {
            await test.clock.waitForSleepers(1)
            test.clock.advance(by: step)
            await Task.yield()
        }
    }

    /// Waits until this many pushes have been applied.
    private func pushed(_ count: Int, _ test: TestEngine) async {
        await passTime(test, step: .milliseconds(100)) {
            test.upstream.appliedCount < count || (try? test.store.pendingCount().pending) != 0
        }
    }
}

private final class Ending: Sendable {
    let value = Mutex(false)
}
