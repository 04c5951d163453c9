/// The response of a handler.
///
/// The server adds `Content-Length` (or chunked coding for a stream), `Date` and `Connection`; a handler never sets
/// them.
package struct Response: Sendable {
    package enum Body: Sendable {
        case bytes([UInt8])
        /// `length` bytes in pieces: the closure returns at least one byte from the offset on. When it throws, the
        /// response is cut off.
        case pieces(length: Int, @Sendable (_ offset: Int) throws -> [UInt8])
        /// Written as it is produced. The closure is called once; each `write` returns when the kernel has taken the
        /// bytes, which provides back-pressure. `write` throws when the caller has gone or stalls past the write
        /// deadline, or when the server shuts down. When the closure throws, the response is cut off.
        case stream(Producer)
    }

    /// Writes a body as it is produced.
    package typealias Producer = @Sendable (_ write: @escaping Write) async throws -> Void

    /// Takes the bytes over, so that their memory is free while what was made of them is sent.
    package typealias Write = @Sendable (consuming [UInt8]) async throws -> Void

    /// How a response ends. A simulated fault cuts it short and closes the connection.
    package enum Ending: Sendable, Equatable {
        case complete
        /// `Content-Length` announces this many bytes, but only the actual body is sent.
        case cutOff(length: Int)
        /// Nothing is sent.
        case unanswered
    }

    /// The `Vary` of every answer: what it may depend on besides its address (RFC 9110, 12.5.5).
    package static let vary = "Accept, Accept-Encoding"

    package var status: Int
    package var headers: [(name: String, value: String)]
    /// Those that other answers have too; sent after `headers`.
    package var fixed: FixedFields?
    package var body: Body
    package var ending = Ending.complete
    /// Whether the connection closes after it.
    package var closes = false

    package var allHeaders: [(name: String, value: String)] { headers + (fixed?.fields ?? []) }

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
        status: Int, headers: [(name: String, value: String)], stream: @escaping Producer
    ) {
        self.status = status
        self.headers = headers
        self.body = .stream(stream)
    }
}
