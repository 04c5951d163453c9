/// The resources that one caller may use; anything beyond is rejected or dropped.
package struct ServerLimits: Sendable {
    /// The request line, in bytes; longer ones get 414.
    package var requestLineBytes = 8 * 1024
    /// Request line and header fields together, in bytes; larger ones get 431. Trailer fields have the same limit.
    package var headBytes = 16 * 1024
    /// The number of header fields; more get 431.
    package var headerCount = 100
    /// The body after removing chunked coding, in bytes; larger ones get 413.
    package var bodyBytes = 1024 * 1024
    /// The bodies of all requests in flight together, in bytes, without streamed ones; more get 503. One caller other than the
    /// owner may take half, also of `allUnsentBytes`.
    package var allBodiesBytes = 24 * 1024 * 1024
    /// All answers that their callers have not received completely, in bytes; the connections of those who read slowly while
    /// there are more are dropped.
    package var allUnsentBytes = 96 * 1024 * 1024
    /// Chunk extensions in one body, in bytes; they are ignored, and more get 413.
    package var chunkExtensionBytes = 4 * 1024
    /// The read-ahead in bytes: the maximum of pipelined input in memory behind a request.
    package var readAheadBytes = 16 * 1024
    /// Open connections over all listeners; more get 503.
    package var connections = 512
    /// How many of these are kept for the owner; none when callers are not distinguished.
    package var ownerConnections = 16
    /// Of these, the connections of one member; no limit when callers are not distinguished.
    package var userConnections = 256
    /// Of these, the connections of all strangers together, which they share fairly; no limit when callers are not
    /// distinguished.
    package var strangerConnections = 128

    /// From the first byte of a request, or the start of a connection, to the end of the header fields; then 408.
    package var head: Duration = .seconds(10)
    /// From the end of the header fields to the end of the body; then 408.
    package var body: Duration = .seconds(30)
    /// A streamed body gets an additional second per this many bytes: it may be slow but must not stall. At the
    /// connection limit the same rate applies to receiving a response.
    var streamedBytesPerSecond = 8 * 1024
    /// The idle time between requests on one connection; then it is closed.
    package var idle: Duration = .seconds(60)
    /// At the connection limit, how long a connection may wait for a complete request, or be behind
    /// `streamedBytesPerSecond` with a streamed body or a response, before a new one may evict it.
    package var patienceWhenFull: Duration = .milliseconds(500)
    /// For the caller to receive one response, or one piece of a stream; then the connection is dropped.
    package var write: Duration = .seconds(30)
    /// For the caller to close after the last response (RFC 9112, 9.6); then the server closes.
    package var linger: Duration = .seconds(2)
    /// For the first request of a connection when the server stops; then it is closed.
    package var firstRequest: Duration = .milliseconds(500)
    /// For requests in flight when the server stops; then their tasks are cancelled and their connections are dropped.
    package var shutdown: Duration = .seconds(5)

    package init() {}
}
