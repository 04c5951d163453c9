/// Carries requests to the daemon. The library's own is `SocketTransport`; tests and other ways (TLS, a proxy) give theirs.
public protocol ClientTransport: Sendable {
    /// Sends one request, and returns once the head of its answer has come, whatever its status.
    ///
    /// Throws `.unreachable` if nothing was sent, and `.interrupted` if the daemon may have the request.
    func send(_ request: ClientRequest) async throws(ClientError) -> ClientResponse
}

/// One request to the daemon.
public struct ClientRequest: Sendable, Hashable {
    /// `GET`, `POST`, …
    public var method: String
    /// Path and query, encoded.
    public var target: String
    /// Header fields, without `Host` and those about the body's length.
    public var headers: [HeaderField]
    /// Nil if there is none.
    public var body: [UInt8]?
    /// How long the connection may be silent.
    public var patience: Duration

    /// A request.
    public init(
        method: String, target: String, headers: [HeaderField] = [], body: [UInt8]? = nil,
        patience: Duration = .seconds(60)
    ) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
        self.patience = patience
    }

    /// The first header field of a name, in any case.
    public func header(_ name: String) -> String? { headers.first(named: name) }
}

/// The answer to a request.
public struct ClientResponse: Sendable {
    /// 200 to 599.
    public var status: Int
    /// All header fields.
    public var headers: [HeaderField]
    /// The body, which may still be on its way.
    public var body: ResponseBody

    /// An answer.
    public init(status: Int, headers: [HeaderField] = [], body: ResponseBody = ResponseBody([])) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The first header field of a name, in any case.
    public func header(_ name: String) -> String? { headers.first(named: name) }
}

/// A header field of a request or an answer.
public struct HeaderField: Sendable, Hashable {
    /// The name, whose case does not matter.
    public var name: String
    /// The value.
    public var value: String

    /// A header field.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

extension [HeaderField] {
    func first(named name: String) -> String? { first { $0.name.lowercased() == name.lowercased() }?.value }
}
