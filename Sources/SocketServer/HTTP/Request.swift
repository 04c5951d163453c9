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
    private let origin: Origin
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
        origin = Origin(peer: peer, caller: caller, noteKnown: noteKnown)
    }

    /// A request whose body is complete unless it streams.
    init(_ message: RequestParser.Message, stream: BodyStream?, origin: Origin) {
        method = message.method
        path = message.path
        query = message.query
        headers = message.headers
        body = message.body
        self.stream = stream
        self.origin = origin
    }

    /// What is the same for all requests of a connection; a class, because a request is copied several times on its way.
    final class Origin: Sendable {
        let peer: Peer
        let caller: Caller
        let noteKnown: @Sendable () -> Void

        init(peer: Peer, caller: Caller, noteKnown: @escaping @Sendable () -> Void) {
            self.peer = peer
            self.caller = caller
            self.noteKnown = noteKnown
        }
    }

    package var peer: Peer { origin.peer }

    package var caller: Caller { origin.caller }

    /// The handler calls it when the request has proved that its caller is no stranger: the connection then no longer counts
    /// as a stranger's.
    package func noteKnown() { origin.noteKnown() }
}

/// Returns the next bytes of a body, nil at its end; each call reads from the socket. Throws when the caller has gone,
/// stalls or violates the protocol.
package typealias BodyStream = @Sendable () async throws -> [UInt8]?
