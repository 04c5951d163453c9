internal import Dispatch
internal import Synchronization

/// Reports changes of this machine's links, addresses and routes; sleeps in between.
package struct NetworkMonitor: Sendable {
    private let clock: any Clock<Duration>
    /// Changes come in bursts: the first is reported immediately, all others within this time together.
    private let settling: Duration

    package init(clock: any Clock<Duration>, settling: Duration = .milliseconds(200)) {
        self.clock = clock
        self.settling = settling
    }

    /// Calls `body` at the first change of each burst, and once after the burst if there were more, until cancelled.
    ///
    /// Throws when the subscription to the kernel fails, immediately or later; the caller must then rely on probing.
    package func forEachChange(_ body: () async -> Void) async throws(NetworkMonitorError) {
        try await forEachChange(on: RouteSocket(), body)
    }

    /// Closes the socket at the end.
    func forEachChange(on socket: RouteSocket, _ body: () async -> Void) async throws(NetworkMonitorError) {
        let changes = ChangeCount()
        let source = DispatchSource.makeReadSource(
            fileDescriptor: socket.descriptor, queue: DispatchQueue(label: "network-monitor"))
        source.setEventHandler { Self.readAll(of: socket, into: changes) }
        source.setCancelHandler { socket.close() }
        source.activate()
        defer { source.cancel() }
        await forEachBurst(of: changes, body)
        guard !Task.isCancelled else { return }
        throw NetworkMonitorError("the kernel ended the subscription to network changes")
    }

    private static func readAll(of socket: RouteSocket, into changes: ChangeCount) {
        var buffer = [UInt8](repeating: 0, count: 32_768)
        while true {
            switch socket.read(into: &buffer) {
            case .change: changes.note()
            case .other: continue
            case .empty: return
            case .broken: return changes.end()
            }
        }
    }

    func forEachBurst(of changes: ChangeCount, _ body: () async -> Void) async {
        var reported = 0
        for await number in changes.numbers where number > reported {
            reported = changes.count
            await body()
            guard (try? await clock.sleep(for: settling)) != nil else { return }
        }
    }
}

/// Counts changes; each one wakes the reader of `numbers`, which buffers only the latest count.
final class ChangeCount: Sendable {
    let numbers: AsyncStream<Int>
    private let continuation: AsyncStream<Int>.Continuation
    private let value = Mutex(0)

    init() { (numbers, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    var count: Int { value.withLock { $0 } }

    func note() {
        value.withLock { value in
            value += 1
            continuation.yield(value)
        }
    }

    func end() { continuation.finish() }
}
