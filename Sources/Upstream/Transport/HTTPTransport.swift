/// Sends one HTTP request and returns its whole response: the seam between what is sent and how it travels.
///
/// Redirects are responses like any other and are never followed. Cancelling the calling task ends the exchange at
/// once.
package protocol HTTPTransport: Sendable {
    /// Throws when no complete response came; a response of any status is returned.
    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse

    /// Call it when this machine's links, addresses or routes have changed: an older connection may be dead without any
    /// sign of it.
    func networkChanged()
}

extension HTTPTransport {
    package func networkChanged() {}
}

/// Why no complete response came, classified by what the caller can do about it.
package enum TransportError: Error, Sendable, Equatable {
    /// The request cannot be sent at all, whatever happens: its URL or a header field is invalid. Nothing was sent.
    case unsendable(String)
    /// No connection was made (name lookup, refused, unreachable, TLS): not one byte of the request was sent.
    case unreachable(String)
    /// The request may have arrived and been applied: a timeout, a reset or a truncated response after sending began.
    case ambiguous(String)
    /// The connection that was kept from an earlier request ended before a response came, and the request must not be sent
    /// again unasked (`HTTPRequest.isSentOnce`). It changes nothing.
    case dropped(String)
    /// The response is larger than allowed, or cannot be decoded.
    case unacceptable(String)
    /// The calling task was cancelled.
    case cancelled

    /// What happened, in plain words.
    package var reason: String {
        switch self {
        case .unsendable(let text), .unreachable(let text), .ambiguous(let text), .dropped(let text),
            .unacceptable(let text):
            text
        case .cancelled: "cancelled"
        }
    }
}
