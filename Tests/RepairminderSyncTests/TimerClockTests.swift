import Foundation
import Testing

@testable import repairminder_sync

@Suite("TimerClock")
struct TimerClockTests {
    private let clock = TimerClock()

    @Test("a sleep ends at its deadline, not earlier")
    func sleeps() async throws {
        let begun = clock.now
        try await clock.sleep(for: .milliseconds(20))
        #expect(clock.now - begun >= .milliseconds(20))
        try await clock.sleep(for: .seconds(-1))
    }

    @Test("a cancelled sleep ends immediately, even before it begins", arguments: [true, false])
    func cancelled(beforeItBegan: Bool) async {
        let task = Task {
            if beforeItBegan { while !Task.isCancelled { await Task.yield() } }
            try await clock.sleep(for: .seconds(31_536_000))
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("cancelled sleeps leave nothing behind")
    func leavesNothing() async throws {
        try await cancel(1000)
        let before = try resident()
        try await cancel(50_000)
        // A cancelled sleep of the standard library's clock leaves 750 bytes: about 36 MiB in total.
        #expect(try resident() - before < 8 << 20)
    }

    private func cancel(_ count: Int) async throws {
        for _ in 1...count {
            let task = Task { try await clock.sleep(for: .seconds(31_536_000)) }
            await Task.yield()
            task.cancel()
            _ = await task.result
        }
    }

    /// In bytes.
    private func resident() throws -> Int {
        let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        return try #require(Int(pages[1])) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
