import Synchronization
import Upstream

/// The event streams of a `FakeUpstream`, which a test opens, fills and ends.
final class FakeStreams: Sendable {
    private struct Open {
        var receive: @Sendable (StreamNews) -> Void
        var continuation: CheckedContinuation<Result<StreamEnd, UpstreamError>, Never>
    }

    private struct State {
        var open: [Int: Open] = [:]
        var lastEvents: [String?] = []
        var failures: [UpstreamError] = []
    }

    private let state = Mutex(State())

    /// The last event's id with each attempt to open a stream.
    var lastEvents: [String?] { state.withLock { $0.lastEvents } }
    var isOpen: Bool { state.withLock { !$0.open.isEmpty } }

    /// Fails the next attempts to open a stream.
    func fail(_ error: UpstreamError, times: Int) {
        state.withLock { $0.failures += Array(repeating: error, count: times) }
    }

    func say(_ news: StreamNews) {
        for open in state.withLock({ Array($0.open.values) }) { open.receive(news) }
    }

    func end(_ result: Result<StreamEnd, UpstreamError> = .success(.closed)) {
        let open = state.withLock { state in
            defer { state.open = [:] }
            return Array(state.open.values)
        }
        for one in open { one.continuation.resume(returning: result) }
    }

    func follow(
        after lastEvent: String?, _ receive: @escaping @Sendable (StreamNews) -> Void
    ) async throws(UpstreamError) -> StreamEnd {
        let (id, failure) = state.withLock { state in
            state.lastEvents.append(lastEvent)
            return (state.lastEvents.count, state.failures.isEmpty ? nil : state.failures.removeFirst())
        }
        if let failure { throw failure }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.open[id] = Open(receive: receive, continuation: continuation) }
                receive(.opened)
                if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancel(id)
        }
        return try result.get()
    }

    private func cancel(_ id: Int) {
        state.withLock { $0.open.removeValue(forKey: id) }?.continuation.resume(returning: .failure(.cancelled))
    }
}
