import SyncEngine
import TestSupport
import Testing

@Suite("Loop heartbeats", .timeLimit(.minutes(10)))
struct HeartbeatTests {
    @Test("a sleeping loop counts as moving; a loop that hangs in a request does not until it is answered")
    func hangs() async throws {
        let test = try TestEngine()
        let (asked, ask) = AsyncStream.makeStream(of: Void.self)
        let (answers, answer) = AsyncStream.makeStream(of: Void.self)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            await test.clock.waitForSleepers(2)
            test.clock.advance(by: .seconds(500))
            #expect(await test.engine.isMoving())
            test.upstream.onPage {
                ask.yield()
                for await _ in answers { break }
            }
            await test.engine.requestSync(SyncRequest())
            for await _ in asked { break }
            test.clock.advance(by: .seconds(360))
            #expect(await test.engine.isMoving())
            test.clock.advance(by: .seconds(1))
            #expect(await !test.engine.isMoving())
            answer.finish()
            try await test.engine.sync(SyncRequest())
            #expect(await test.engine.isMoving())
        }
    }

    @Test("requests of other callers do not beat for the loops")
    func others() async throws {
        let test = try TestEngine()
        let (asked, ask) = AsyncStream.makeStream(of: Void.self)
        try test.upstream.set("/parts", #"[{"id":"p"}]"#)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            test.upstream.onPage {
                ask.yield()
                let (never, _) = AsyncStream.makeStream(of: Void.self)
                for await _ in never {}
            }
            await test.engine.requestSync(SyncRequest())
            for await _ in asked { break }
            test.clock.advance(by: .seconds(361))
            await test.engine.networkChanged()
            #expect(await !test.engine.isMoving())
        }
    }
}
