import Upstream

/// A transport that keeps the deadline of a request even if the one below hangs.
///
/// On a Unix socket a server can send open files with its answer (unix(7), `SCM_RIGHTS`). The kernel closes them on
/// libcurl's thread, and that may take as long as the server likes: a connection of TCP that has something left to send
/// can linger for hours. A compromised daemon could so keep root waiting.
struct PunctualTransport: HTTPTransport {
    let transport: any HTTPTransport
    var clock: any Clock<Duration> = ContinuousClock()

    /// How late the transport may be: as a rule it says itself that the time is up.
    static let patience = Duration.seconds(5)

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        let (outcomes, outcome) = AsyncStream.makeStream(of: Result<HTTPResponse, TransportError>.self)
        // No child of this task, which would wait for it.
        let call = Task { [transport] in
            do throws(TransportError) {
                outcome.yield(.success(try await transport.send(request)))
            } catch {
                outcome.yield(.failure(error))
            }
        }
        let end = Task { [clock] in
            try await clock.sleep(for: request.deadline + Self.patience)
            outcome.yield(.failure(.ambiguous("no complete response within \(request.deadline)")))
        }
        defer {
            call.cancel()
            end.cancel()
        }
        for await first in outcomes { return try first.get() }
        throw .cancelled
    }
}
