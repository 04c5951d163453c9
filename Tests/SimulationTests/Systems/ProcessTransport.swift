import Synchronization
import Upstream

/// The connections of one simulated process, which end with it, whichever task still waits for its turn.
final class ProcessTransport: HTTPTransport {
    private let transport: any HTTPTransport
    private let isOver = Mutex(false)

    init(_ transport: any HTTPTransport) {
        self.transport = transport
    }

    func end() { isOver.withLock { $0 = true } }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        guard !isOver.withLock({ $0 }) else { throw .cancelled }
        return try await transport.send(request)
    }
}
