/// Why no complete answer came, sorted by what the caller can do about it.
package enum TransportError: Error, Sendable, Equatable {
    /// No connection was made (name look-up, refused, unreachable, TLS): not one byte of the request was sent.
    case unreachable(String)
    /// The request may have arrived and been applied: a time-out, a reset or a cut-off answer after sending began.
    case ambiguous(String)
    /// The answer is larger than was allowed, or cannot be decoded.
    case unacceptable(String)
    /// The calling task was cancelled.
    case cancelled
}
