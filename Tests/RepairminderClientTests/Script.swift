import RepairminderClient

/// A daemon that answers each request with the next line of a script, and remembers the requests.
actor Script: ClientTransport {
    /// What the daemon does with a request.
    enum Line: Sendable {
        case answer(Int, [HeaderField], [[UInt8]])
        case failure(ClientError)
        /// The body breaks off after these pieces.
        case cut([[UInt8]])

        static func json(_ text: String, status: Int = 200, _ headers: [HeaderField] = []) -> Line {
            .answer(status, headers, [Array(text.utf8)])
        }

        static func problem(_ status: Int, _ code: String, retryAfter: Int? = nil) -> Line {
            .json(
                #"{"title":"No","status":\#(status),"code":"\#(code)","detail":"because"}"#, status: status,
                retryAfter.map { [HeaderField("Retry-After", String($0))] } ?? [])
        }
    }

    private var lines: [Line]
    private(set) var requests: [ClientRequest] = []

    init(_ lines: Line...) { self.lines = lines.reversed() }

    /// A client of this daemon that does not really wait between attempts.
    nonisolated var client: RepairminderClient {
        RepairminderClient(
            transport: self,
            retry: RetryPolicy(attempts: 4, firstPause: .milliseconds(1), longestPause: .seconds(1)))
    }

    func send(_ request: ClientRequest) async throws(ClientError) -> ClientResponse {
        requests.append(request)
        switch lines.popLast() {
        case .answer(let status, let headers, let pieces):
            return ClientResponse(status: status, headers: headers, body: Self.body(pieces, end: nil))
        case .cut(let pieces): return ClientResponse(status: 200, body: Self.body(pieces, end: .interrupted("cut")))
        case .failure(let error): throw error
        case nil: throw .unexpected("the script has ended")
        }
    }

    private static func body(_ pieces: [[UInt8]], end: ClientError?) -> ResponseBody {
        let rest = Rest(pieces: Array(pieces.reversed()))
        return ResponseBody { () async throws(ClientError) in
            if let piece = await rest.next() { return piece }
            if let end { throw end }
            return nil
        }
    }

    private actor Rest {
        var pieces: [[UInt8]]
        init(pieces: [[UInt8]]) { self.pieces = pieces }
        func next() -> [UInt8]? { pieces.popLast() }
    }
}

extension [HeaderField] {
    /// The value of a header field; nil if there is none.
    subscript(name: String) -> String? { first { $0.name == name }?.value }
}
