/// One HTTP request as it arrived, complete with its body unless that streams.
package struct Request: Sendable {
    package var method: String
    /// The origin-form target as sent, still percent-encoded: the part before `?`.
    package var path: String
    /// The part after `?`, still percent-encoded; nil when there was no `?`.
    package var query: String?
    package var headers: Headers
    package var body: [UInt8]
    /// Where the body streams, in place of `body`; what nobody asks for is refused with the connection.
    package var stream: BodyStream?
    package var peer: Peer
    package var caller: Caller

    package init(
        method: String, path: String, query: String? = nil, headers: Headers = Headers(), body: [UInt8] = [],
        stream: BodyStream? = nil, peer: Peer = .unknown, caller: Caller = .unknown
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.stream = stream
        self.peer = peer
        self.caller = caller
    }
}

/// The next bytes of a body, nil at its end: asking for them is what takes them from the caller. Throws when the caller
/// has gone, stalls, or breaks the rules.
package typealias BodyStream = @Sendable () async throws -> [UInt8]?
