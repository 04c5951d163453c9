import EntitySchema
import JSONText
import ReferenceUpstream
import Synchronization
import Upstream

/// One open stream of events from the simulated upstream to one daemon, or its calls to the daemon's webhook.
final class SimulatedStream: Sendable {
    private enum State {
        case new
        case open(listener: Int, CheckedContinuation<Void, Never>)
        case over
    }

    private let upstream: SimulatedUpstream
    private let state = Mutex(State.new)

    init(_ upstream: SimulatedUpstream) {
        self.upstream = upstream
    }

    /// Passes messages on until the stream is cut or its caller leaves.
    func run(_ receive: @escaping @Sendable (JSONText) -> Void) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if case .over = state { return true }
                    state = .open(listener: upstream.server.signals.listen { self.pass($0, receive) }, continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            end()
        }
    }

    /// A message that meets a network that is down ends the stream.
    private func pass(_ message: JSONText, _ receive: @escaping @Sendable (JSONText) -> Void) {
        let executor = upstream.executor
        let delay = executor.random { $0.within(1...50) }
        executor.after(.milliseconds(delay)) { [self] in
            guard state.withLock({ if case .open = $0 { true } else { false } }) else { return }
            guard upstream.isAlive, upstream.canReceive, !isCut() else { return end() }
            receive(message)
        }
    }

    private func isCut() -> Bool {
        !upstream.server.signals.isReliable && upstream.executor.random { $0.chance(0.05) }
    }

    func end() {
        let before = state.withLock { state in
            defer { state = .over }
            return state
        }
        guard case .open(let listener, let continuation) = before else { return }
        upstream.server.signals.leave(listener)
        continuation.resume()
    }
}

extension SimulatedUpstream {
    /// Whether a message from the upstream would arrive now.
    var canReceive: Bool { network.isOnline && network.outage(at: executor.now) == nil }

    func follow(
        _ stream: SignalStream, after lastEvent: String?, clock: any Clock<Duration>,
        receive: @escaping @Sendable (StreamNews) -> Void
    ) async throws(UpstreamError) -> StreamEnd {
        // To open it takes a request like any other.
        try await open()
        receive(.opened)
        let stream = SimulatedStream(self)
        await stream.run { message in receive(.event(StreamEvent(name: "message", data: message))) }
        guard !Task.isCancelled else { throw .cancelled }
        return .closed
    }
}
