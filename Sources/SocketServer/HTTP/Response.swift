/// What a handler answers.
///
/// The server adds `Content-Length` (or chunked coding for a stream), `Date` and `Connection`; a handler never sets those.
package struct Response: Sendable {
    package enum Body: Sendable {
        case bytes([UInt8])
        /// As many bytes as `length`, in pieces: what stands at an offset, at least one byte and as many as are handy. When
        /// that throws, the answer is cut off.
        case pieces(length: Int, @Sendable (_ offset: Int) throws -> [UInt8])
        /// Written as it is produced: the closure is called once and each `write` returns when the bytes are handed to
        /// the kernel, which is the back-pressure. `write` throws when the caller has gone, stalls past the write
        /// deadline, or the server shuts down.
        case stream(@Sendable (_ write: @Sendable ([UInt8]) async throws -> Void) async -> Void)
    }

    /// How far an answer gets. A server that plays a broken one stops short, and the connection closes.
    package enum Ending: Sendable, Equatable {
        case complete
        /// `Content-Length` promises this many bytes of body, and no more are sent than there are.
        case cutOff(length: Int)
        /// Not one byte is sent.
        case unanswered
    }

    package var status: Int
    package var headers: [(name: String, value: String)]
    package var body: Body
    package var ending = Ending.complete

    package init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = .bytes(body)
    }

    package init(
        status: Int, headers: [(name: String, value: String)], length: Int,
        pieces: @escaping @Sendable (_ offset: Int) throws -> [UInt8]
    ) {
        self.status = status
        self.headers = headers
        body = .pieces(length: length, pieces)
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
