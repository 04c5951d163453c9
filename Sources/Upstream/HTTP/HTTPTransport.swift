/// Sends one HTTP request and returns its whole answer: the seam between what we say to an upstream and how it travels.
///
/// Redirects are answers like any other, never followed. Cancelling the calling task ends the exchange at once.
package protocol HTTPTransport: Sendable {
    /// Throws when no complete answer came; an answer of any status is returned.
    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse

    /// To be called when this machine's links, addresses or routes have changed: a connection from before may lead nowhere
    /// any more, and nothing would say so.
    func networkChanged()
}

extension HTTPTransport {
    package func networkChanged() {}
}

package struct HTTPRequest: Sendable, Equatable {
    package var method: String
    /// Absolute, with scheme and host.
    package var url: String
    package var headers: [HTTPHeader]
    package var body: [UInt8]?
    /// The body in place of `body`, where it is too large to be held.
    package var source: BodySource?
    /// Takes the body of a 2xx answer, which then comes without one.
    package var sink: BodySink?
    /// How long nothing at all may move meanwhile; nil for as long as the deadline.
    package var stall: Duration?
    /// Goes to no address that only this machine or its network has.
    package var isPublicOnly = false
    /// For the whole exchange: name look-up, connection, request and every byte of the answer.
    package var deadline: Duration
    /// The largest decoded body that is taken, in bytes.
    package var maximumBody: Int

    package init(
        method: String = "GET", url: String, headers: [HTTPHeader] = [], body: [UInt8]? = nil,
        deadline: Duration = .seconds(30), maximumBody: Int = 8 << 20
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.deadline = deadline
        self.maximumBody = maximumBody
    }
}

package struct HTTPHeader: Sendable, Equatable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

package struct HTTPResponse: Sendable, Equatable {
    package var status: Int
    /// In the order they came, doubled ones twice.
    package var headers: [HTTPHeader]
    /// Decoded: what gzip, brotli or zstd packed is unpacked here.
    package var body: [UInt8]

    package init(status: Int, headers: [HTTPHeader] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The first field of this name, without regard to case.
    package func header(_ name: String) -> String? {
        headers.first { HTTPSyntax.isSameName($0.name, name) }?.value
    }
}
