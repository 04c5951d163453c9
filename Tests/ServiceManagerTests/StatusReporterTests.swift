import ServiceManager
import Synchronization
import TestSupport
import Testing

@Suite("Status reporter", .timeLimit(.minutes(10)))
struct StatusReporterTests {
    @Test("the line is sent immediately, and not built again until something changes")
    func idle() async throws {
        let scene = Scene()
        try await scene.running {
            #expect(await scene.event() == "idle")
            await scene.clock.passSleep(of: StatusReporter.pause)
            #expect(await scene.event() == "waits")
            #expect(scene.looks.withLock(\.self) == 1)
        }
    }

    @Test("changes right after an update are sent together, one pause later")
    func burst() async throws {
        let scene = Scene()
        try await scene.running {
            #expect(await scene.event() == "idle")
            for count in 1...5 { scene.change("\(count) pending") }
            await scene.clock.passSleep(of: StatusReporter.pause)
            #expect(await scene.event() == "waits")
            #expect(await scene.event() == "5 pending")
        }
    }

    @Test("a change that does not affect the line sends nothing")
    func same() async throws {
        let scene = Scene()
        try await scene.running {
            #expect(await scene.event() == "idle")
            scene.change("idle")
            await scene.clock.passSleep(of: StatusReporter.pause)
            #expect(await scene.event() == "waits")
            await scene.clock.passSleep(of: StatusReporter.pause)
            #expect(await scene.event() == "waits")
            #expect(scene.looks.withLock(\.self) == 2)
        }
    }

    @Test("a line that could not be built is retried one pause later")
    func failed() async throws {
        let scene = Scene()
        scene.line.withLock { $0 = nil }
        try await scene.running {
            await scene.clock.passSleep(of: StatusReporter.pause)
            scene.line.withLock { $0 = "idle" }
            await scene.clock.passSleep(of: StatusReporter.pause)
            #expect(await scene.event() == "idle")
        }
    }

    @Test("an old line is refreshed")
    func old() async throws {
        let scene = Scene()
        try await scene.running {
            #expect(await scene.event() == "idle")
            await scene.clock.passSleep(of: StatusReporter.pause)
            #expect(await scene.event() == "waits")
            scene.line.withLock { $0 = "idle since yesterday" }
            await scene.clock.passSleep(of: StatusReporter.longestWait)
            #expect(await scene.event() == "idle since yesterday")
        }
    }
}

/// A service with one status line; records what its reporter does, in order.
private final class Scene: Sendable {
    let clock = ManualClock()
    let line = Mutex<String?>("idle")
    let looks = Mutex(0)
    private let changes = Mutex(0)
    private let events = AsyncStream.makeStream(of: String.self)
    private let changed = AsyncStream.makeStream(of: Void.self)

    func event() async -> String? {
        for await event in events.stream { return event }
        return nil
    }

    func change(_ text: String) {
        line.withLock { $0 = text }
        changes.withLock { $0 += 1 }
        changed.continuation.yield()
    }

    func running(_ body: () async -> Void) async throws {
        let reporter = StatusReporter(clock: clock) {
            let seen = self.changes.withLock(\.self)
            return {
                self.events.continuation.yield("waits")
                while self.changes.withLock(\.self) == seen, !Task.isCancelled {
                    for await _ in self.changed.stream { break }
                }
            }
        } line: {
            self.looks.withLock { $0 += 1 }
            return self.line.withLock(\.self)
        } send: { line in
            self.events.continuation.yield(line)
        }
        let task = Task { try await reporter.run() }
        await body()
        task.cancel()
        _ = await task.result
    }
}
