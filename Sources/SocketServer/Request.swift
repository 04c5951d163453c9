/// One HTTP request as it arrived, complete with its body.
package struct Request: Sendable {
    package var method: String
    /// The origin-form target as sent, still percent-encoded: the part before `?`.
    package var path: String
    /// The part after `?`, still percent-encoded; nil when there was no `?`.
    package var query: String?
    package var headers: Headers
    package var body: [UInt8]
    package var peer: Peer
    package var caller: Caller

    package init(
        method: String, path: String, query: String? = nil, headers: Headers = Headers(), body: [UInt8] = [],
        peer: Peer = .unknown, caller: Caller = .unknown
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.peer = peer
        self.caller = caller
    }
}
