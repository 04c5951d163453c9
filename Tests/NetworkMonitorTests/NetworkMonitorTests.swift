import TestSupport
import Testing

@testable import NetworkMonitor

@Suite("Network changes")
struct NetworkMonitorTests {
    @Test("the first change of a burst is reported immediately, the rest together")
    func bursts() async {
        let changes = ChangeCount()
        let clock = SkippingClock()
        let monitor = NetworkMonitor(clock: clock, settling: .milliseconds(200))
        for _ in 0..<5 { changes.note() }
        var reports = 0
        await monitor.forEachBurst(of: changes) {
            #expect(clock.sleeps.count == reports)
            reports += 1
            if reports == 1 { for _ in 0..<5 { changes.note() } } else { changes.end() }
        }
        #expect(reports == 2)
        #expect(clock.sleeps == [.milliseconds(200), .milliseconds(200)])
    }

    @Test("it ends with its task, without reporting a change")
    func cancelled() async {
        let changes = ChangeCount()
        let task = Task { await NetworkMonitor(clock: SkippingClock()).forEachBurst(of: changes) {} }
        task.cancel()
        await task.value
    }

    @Test(
        "an added and a removed address are reported",
        .enabled(if: TestNetwork.isAllowed, "needs permission to create a network namespace"))
    func address() async throws {
        let network = try #require(TestNetwork.make())
        defer { network.close() }
        try network.setAddress(true)
        try network.setAddress(false)
        let monitor = NetworkMonitor(clock: SkippingClock())
        // It waits forever unless the changes are reported.
        await withTaskGroup(of: Void.self) { group in
            let (heard, continuation) = AsyncStream.makeStream(of: Void.self)
            group.addTask {
                try? await monitor.forEachChange(on: network.routes) { continuation.yield() }
            }
            for await _ in heard { break }
            group.cancelAll()
        }
    }

    @Test(
        "reads return changes until nothing is left, and an overflow counts as a change",
        .enabled(if: TestNetwork.isAllowed, "needs permission to create a network namespace"))
    func readings() throws {
        let network = try #require(TestNetwork.make())
        defer {
            network.close()
            network.routes.close()
        }
        var buffer = [UInt8](repeating: 0, count: 32_768)
        #expect(network.routes.read(into: &buffer) == .empty)
        try network.setAddress(true)
        #expect(network.routes.read(into: &buffer) == .change)
        while network.routes.read(into: &buffer) != .empty {}
        for isOn in (0..<2000).map({ !$0.isMultiple(of: 2) }) { try network.setAddress(isOn) }
        var readings = 0
        while network.routes.read(into: &buffer) == .change { readings += 1 }
        #expect(network.routes.read(into: &buffer) == .empty)
        #expect((1..<2000).contains(readings))
    }
}
