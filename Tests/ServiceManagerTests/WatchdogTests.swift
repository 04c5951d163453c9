import ServiceManager
import Synchronization
import TestSupport
import Testing

@Suite("Watchdog", .timeLimit(.minutes(10)))
struct WatchdogTests {
    @Test("it pings when all parts make progress, and again after each interval")
    func pings() async throws {
        let scene = Scene()
        try await scene.running([Watchdog.Part("a") { true }, Watchdog.Part("b") { true }]) {
            #expect(await scene.event() == "ping")
            await scene.clock.passSleep(of: .seconds(10))
            #expect(await scene.event() == "ping")
        }
    }

    @Test("a part that never answers blocks all pings and is reported")
    func stuck() async throws {
        let scene = Scene()
        let (answers, answer) = AsyncStream.makeStream(of: Void.self)
        let slow = Watchdog.Part("slow") {
            for await _ in answers { break }
            return true
        }
        try await scene.running([Watchdog.Part("quick") { true }, slow]) {
            await scene.clock.passSleep(of: .seconds(10))
            #expect(await scene.event() == "stuck: slow")
            // No ping was sent before, and the next event is the ping that follows its answer.
            answer.yield()
            #expect(await scene.event() == "ping")
        }
    }

    @Test("a part that reports no progress is asked again soon, and a ping follows once it makes progress")
    func recovers() async throws {
        let scene = Scene()
        let isMoving = Mutex(false)
        let part = Watchdog.Part("loop") { isMoving.withLock { $0 } }
        try await scene.running([part]) {
            #expect(await scene.event() == "stuck: loop")
            isMoving.withLock { $0 = true }
            await scene.clock.passSleep(of: .seconds(1))
            #expect(await scene.event() == "ping")
        }
    }

    @Test(
        "the interval is half of the timeout of sd_watchdog_enabled(3)",
        arguments: [
            (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "7"], .seconds(15)),
            (["WATCHDOG_USEC": "30000000"], .seconds(15)),
            (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "8"], nil),
            (["WATCHDOG_USEC": "0"], nil), (["WATCHDOG_USEC": "soon"], nil), ([:], nil),
        ] as [([String: String], Duration?)])
    func interval(environment: [String: String], interval: Duration?) {
        #expect(Watchdog.interval(environment: environment, pid: 7) == interval)
    }
}

/// A watchdog with a clock that stands still; records what it does, in order.
private struct Scene {
    let clock = ManualClock()
    private let events = AsyncStream.makeStream(of: String.self)

    /// The next recorded event.
    func event() async -> String? {
        for await event in events.stream { return event }
        return nil
    }

    func running(_ parts: [Watchdog.Part], _ body: () async -> Void) async throws {
        let watchdog = Watchdog(
            parts: parts, interval: .seconds(10), clock: clock, ping: { [events] in events.continuation.yield("ping") },
            report: { [events] in events.continuation.yield("stuck: \($0.joined(separator: ", "))") })
        let task = Task { try await watchdog.run() }
        await body()
        task.cancel()
        _ = await task.result
    }
}
