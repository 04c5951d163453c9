internal import Dispatch
internal import Synchronization

/// Tells when this machine's links, addresses or routes have changed, in whatever way; sleeps until they do.
package struct NetworkMonitor: Sendable {
    private let clock: any Clock<Duration>
    /// Changes come in bursts: the first is told at once, what comes within this of it together.
    private let settling: Duration

    package init(clock: any Clock<Duration>, settling: Duration = .milliseconds(200)) {
        self.clock = clock
        self.settling = settling
    }

    /// Calls `body` at the first change of each burst, and after the burst if there were more, until the task is cancelled.
    ///
    /// Throws when the kernel cannot be listened to, at once or later; probing must do then.
    package func forEachChange(_ body: () async -> Void) async throws(NetworkMonitorError) {
        try await forEachChange(heardOn: RouteSocket(), body)
    }

    /// Closes the socket in the end.
    func forEachChange(heardOn socket: RouteSocket, _ body: () async -> Void) async throws(NetworkMonitorError) {
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
        var told = 0
        for await number in changes.numbers where number > told {
            told = changes.count
            await body()
            guard (try? await clock.sleep(for: settling)) != nil else { return }
        }
    }
}

/// Counts changes as they are heard; each wakes whoever follows `numbers`, of which only the latest is kept.
final class ChangeCount: Sendable {
    let numbers: AsyncStream<Int>
    private let continuation: AsyncStream<Int>.Continuation
    private let value = Mutex(0)

    init() {
        (numbers, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    var count: Int { value.withLock { $0 } }

    func note() {
        value.withLock { value in
            value += 1
            continuation.yield(value)
        }
    }

    func end() { continuation.finish() }
}
