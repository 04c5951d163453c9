import CacheStore
import SyncEngine
import TestSupport
import Testing

@Suite("Changes of the network")
struct NetworkTests {
    @Test("while offline, a network change starts a probe at once, and the sync resumes", .timeLimit(.minutes(10)))
    func back() async throws {
        let test = try TestEngine()
        try test.upstream.set("/parts", #"[{"id":"p"}]"#)
        test.upstream.setOffline(true)
        try await test.running {
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
            #expect(test.engine.status().state == .offline)
            test.upstream.setOffline(false)
            await test.engine.networkChanged()
            // The clock stands still: no wait can have ended by itself.
            while try test.store.rowCounts()["parts"] == 0 { await Task.yield() }
        }
    }

    @Test(
        "while offline, quick probes follow a network change that does not help at once",
        .timeLimit(.minutes(10))
    )
    func stillAway() async throws {
        let test = try TestEngine()
        test.upstream.setOffline(true)
        try await test.running {
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
            for _ in 0..<6 {
                await test.clock.waitForSleepers(2)
                test.clock.advance(by: .seconds(60))
            }
            await test.clock.waitForSleepers(2)
            await test.engine.networkChanged()
            #expect(test.engine.status().state == .offline)
            test.upstream.setOffline(false)
            let changed = test.clock.now
            while !test.engine.status().isReachable {
                await test.clock.waitForSleepers(2)
                test.clock.advance(by: .milliseconds(10))
            }
            #expect(changed.duration(to: test.clock.now) <= .milliseconds(100))
        }
    }

    @Test("while online, an unreachable upstream is noticed at once, even with nothing to send")
    func gone() async throws {
        let test = try TestEngine()
        try await test.running {
            try await test.engine.sync(SyncRequest())
            await test.engine.networkChanged()
            #expect(test.engine.status().isReachable)
            test.upstream.setOffline(true)
            #expect(test.engine.status().isReachable)
            await test.engine.networkChanged()
            let status = test.engine.status()
            #expect(status.state == .offline)
            #expect(status.error == "connection refused")
        }
    }

    @Test(
        "while online, an upstream that stops answering counts as offline after a moment, until it answers",
        .timeLimit(.minutes(10)))
    func silent() async throws {
        let test = try TestEngine()
        try await test.running {
            try await test.engine.sync(SyncRequest())
            await test.clock.waitForSleepers(2)
            let (answers, answer) = AsyncStream.makeStream(of: Void.self)
            test.upstream.onProbe { for await _ in answers {} }
            async let handled: Void = test.engine.networkChanged()
            await test.clock.waitForSleepers(3)
            #expect(test.engine.status().isReachable)
            test.clock.advance(by: .milliseconds(400))
            await handled
            #expect(test.engine.status().state == .offline)
            answer.finish()
            while !test.engine.status().isReachable { await Task.yield() }
        }
    }

    @Test("while paused no request is made")
    func paused() async throws {
        let test = try TestEngine()
        try await test.running {
            try await test.engine.sync(SyncRequest())
            await test.engine.pause()
            test.upstream.setOffline(true)
            await test.engine.networkChanged()
            #expect(test.engine.status().isReachable)
        }
    }
}
