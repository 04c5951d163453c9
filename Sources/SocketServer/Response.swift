/// What a handler answers.
///
/// The server adds `Content-Length` (or chunked coding for a stream), `Date` and `Connection`; a handler never sets those.
package struct Response: Sendable {
    package enum Body: Sendable {
        case bytes([UInt8])
        /// Written as it is produced: the closure is called once and each `write` returns when the bytes are handed to
        /// the kernel, which is the back-pressure. `write` throws when the caller has gone, stalls past the write
        /// deadline, or the server shuts down.
        case stream(@Sendable (_ write: @Sendable ([UInt8]) async throws -> Void) async -> Void)
    }

    package var status: Int
    package var headers: [(name: String, value: String)]
    package var body: Body

    package init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = .bytes(body)
    }

    package init(
        status: Int, headers: [(name: String, value: String)],
        stream: @escaping @Sendable (_ write: @Sendable ([UInt8]) async throws -> Void) async -> Void
    ) {
        self.status = status
        self.headers = headers
        self.body = .stream(stream)
    }
}
