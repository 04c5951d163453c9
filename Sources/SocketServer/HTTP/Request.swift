/// One HTTP request, complete with its body unless the body streams.
package struct Request: Sendable {
    package var method: String
    /// The path of the target as sent, still percent-encoded: the part before `?`.
    package var path: String
    /// The part after `?`, still percent-encoded; nil when there was no `?`.
    package var query: String?
    package var headers: Headers
    package var body: [UInt8]
    /// The body of a streamed request, instead of `body`; if it is not read to its end, the connection closes.
    package var stream: BodyStream?
    package var peer: Peer
    package var caller: Caller
    /// The handler calls it when the request has proved that its caller is no stranger: the connection then no longer counts
    /// as a stranger's.
    package var noteKnown: @Sendable () -> Void
    /// What log lines and answers call this request; empty until its handler has named it.
    package var id = ""

    package init(
        method: String, path: String, query: String? = nil, headers: Headers = Headers(), body: [UInt8] = [],
        stream: BodyStream? = nil, peer: Peer = .unknown, caller: Caller = .unknown,
        noteKnown: @escaping @Sendable () -> Void = {}
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.stream = stream
        self.peer = peer
        self.caller = caller
        self.noteKnown = noteKnown
    }
}

/// Returns the next bytes of a body, nil at its end; each call reads from the socket. Throws when the caller has gone,
/// stalls or violates the protocol.
package typealias BodyStream = @Sendable () async throws -> [UInt8]?
