/// What one caller may cost the server; everything beyond is refused or dropped.
package struct ServerLimits: Sendable {
    /// The request line, in bytes; longer ones get 414.
    package var requestLineBytes = 8 * 1024
    /// Request line and header fields together, in bytes; larger ones get 431. Trailer fields have the same limit.
    package var headBytes = 16 * 1024
    /// Header fields of a request; more get 431.
    package var headerCount = 100
    /// The body after removing chunked coding, in bytes; larger ones get 413.
    package var bodyBytes = 1024 * 1024
    /// Bytes of chunk extensions in one body, which are ignored; more get 413.
    package var chunkExtensionBytes = 4 * 1024
    /// Bytes taken from the socket ahead of need: the most pipelined input that waits in memory behind a request.
    package var readAheadBytes = 16 * 1024
    /// Connections open at once over all listeners; more get 503.
    package var connections = 512
    /// Of them, those of one user who is known but not the owner; no limit where callers are not told apart.
    package var userConnections = 256
    /// Of them, those of all callers together who are not known; no limit where callers are not told apart.
    package var strangerConnections = 128

    /// From the first byte of a request, or the opening of a connection, to the end of its header fields; then 408.
    package var head: Duration = .seconds(10)
    /// From the end of the header fields to the end of the body; then 408.
    package var body: Duration = .seconds(30)
    /// A body that streams has besides a second for each so many bytes: it may be slow but must not stand still. Nor must
    /// whoever takes an answer, when no place is left.
    package var streamedBytesPerSecond = 8 * 1024
    /// Between requests on one connection; then it is closed.
    package var idle: Duration = .seconds(60)
    /// For a whole request, or behind `streamedBytesPerSecond` with a body that streams or an answer that is taken; from then
    /// on a connection gives way to a new one when no place is left.
    package var patienceWhenFull: Duration = .milliseconds(500)
    /// For the caller to take one answer, or one piece of a stream; then the connection is dropped.
    package var write: Duration = .seconds(30)
    /// For the caller to close after a last answer (RFC 9112, 9.6); then the server does.
    package var linger: Duration = .seconds(2)
    /// For requests in flight when the server stops; then their tasks are cancelled and their connections dropped.
    package var shutdown: Duration = .seconds(5)

    package init() {}
}
