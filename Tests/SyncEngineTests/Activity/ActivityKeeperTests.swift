import CacheStore
import EntitySchema
import JSONText
import Logging
import SQLiteStore
import TestSupport
import Testing

@testable import SyncEngine

@Suite("Keeping the history of the activity")
struct ActivityKeeperTests {
    private let clock = ManualClock()
    private let test: TestEngine
    private let meter: ActivityMeter

    init() throws {
        test = try TestEngine()
        meter = ActivityMeter { [clock] in clock.now.offset }
        // 10:42:20: the first minute is over after 40 s.
        clock.advance(by: .seconds(20))
    }

    /// Runs the keeper while `body` moves the clock, and ends it.
    private func keeping(_ body: () async throws -> Void) async throws {
        let keeper = ActivityKeeper(
            store: test.store, meter: meter, now: { [clock] in clock.timestamp }, clock: clock,
            log: .silent)
        try await whileRunning({ try await keeper.run() }) {
            await clock.waitForSleepers(1)
            try await body()
        }
    }

    private func pass(_ duration: Duration) async {
        clock.advance(by: duration)
        await clock.waitForSleepers(1)
    }

    /// The minutes that are over.
    private func steps(_ count: Int) throws -> [ActivitySteps.Step?] {
        try test.store.activity(at: clock.timestamp).minutes.steps.suffix(count)
    }

    @Test("what happens in a minute is written at its end")
    func written() async throws {
        try await keeping {
            meter.note(.sync(duration: .milliseconds(250)))
            meter.noteRequest(status: 200)
            meter.noteRequest(status: 304)
            meter.noteRequest(status: 404)
            meter.noteRequest(status: 503)
            meter.noteRequest(status: nil)
            await pass(.seconds(40))
            let work = ActivityWork(
                syncs: 1, syncTime: .milliseconds(250),
                requests: [.success: 1, .redirect: 1, .refusal: 1, .failure: 1, .unreachable: 1])
            let found = try steps(2)
            #expect(found == [nil, ActivitySteps.Step(pending: 0, failed: 0, work: work)])
        }
    }

    @Test("a minute in which nothing happens and nothing changes writes nothing")
    func silent() async throws {
        try await keeping {
            await pass(.seconds(40))
            let commits = test.store.signal.commits
            for _ in 1...5 { await pass(.seconds(60)) }
            #expect(test.store.signal.commits == commits)
            let found = try steps(6)
            #expect(found == Array(repeating: ActivitySteps.Step(pending: 0, failed: 0), count: 6))
        }
    }

    @Test("a longer queue is written, also if nothing else happens")
    func queue() async throws {
        try await keeping {
            await pass(.seconds(40))
            _ = try await test.store.create("orders", body: .object(["notes": "new"]), at: clock.timestamp)
            await pass(.seconds(60))
            let found = try steps(2)
            #expect(found.map { $0?.pending } == [0, 1])
        }
    }

    @Test("the time without the upstream is measured to the second")
    func unreachable() async throws {
        try await keeping {
            await pass(.seconds(30))
            meter.note(.reachability(false))
            await pass(.seconds(10))
            await pass(.seconds(60))
            clock.advance(by: .seconds(5))
            meter.note(.reachability(true))
            await pass(.seconds(55))
            let found = try steps(3)
            #expect(found.map { $0?.work.unreachable } == [.seconds(10), .seconds(60), .seconds(5)])
        }
    }

    @Test("the end of the daemon is written, and the time until its next start is a gap")
    func restart() async throws {
        try await keeping {
            await pass(.seconds(40))
            await pass(.seconds(180))
        }
        clock.advance(by: .seconds(120))
        try await keeping { await pass(.seconds(60)) }
        #expect(try steps(7).map { $0 == nil } == [false, false, false, false, false, true, false])
    }
}
