/// Calls the daemon over its Unix socket or TCP: HTTP/1.1, one connection a request.
///
/// Foundation's `URLSession` has no Unix sockets, and on Linux no way to read an answer while it arrives; it also brings
/// libcurl. A connection is not kept for the next request, so none is found closed when a write is sent over it.
public struct SocketTransport: ClientTransport {
    private let address: DaemonAddress

    /// Connects to this address for each request.
    public init(_ address: DaemonAddress) { self.address = address }

    /// Sends one request; the body of the answer is read when it is asked for.
    public func send(_ request: ClientRequest) async throws(ClientError) -> ClientResponse {
        let head = Self.head(of: request, host: address.host)
        let connection = SocketConnection()
        let answer = try await connection.run { [address] (descriptor) throws(ClientError) in
            try Sockets.connect(descriptor, to: address, patience: request.patience)
            let isComplete = Sockets.send(head + (request.body ?? []), over: descriptor)
            var reader = ResponseReader(isHead: request.method == "HEAD")
            do throws(ClientError) {
                let head = try reader.readHead { () throws(ClientError) in try Sockets.receive(descriptor) }
                return (head, reader)
            } catch {
                // A request that is too large may be refused before it was read: then there is an answer all the same.
                throw isComplete ? error : .interrupted("\(address) closed the connection while a request was sent")
            }
        }
        return ClientResponse(status: answer.0.status, headers: answer.0.headers, body: Self.body(answer.1, connection))
    }

    private static func body(_ reader: ResponseReader, _ connection: SocketConnection) -> ResponseBody {
        let rest = RestOfAnswer(reader)
        return ResponseBody { () async throws(ClientError) in try await rest.next(connection) }
    }

    private static func head(of request: ClientRequest, host: String) -> [UInt8] {
        var lines = ["\(request.method) \(request.target) HTTP/1.1", "Host: \(host)", "Connection: close"]
        lines += request.headers.map { "\($0.name): \(clean($0.value))" }
        if let body = request.body {
            lines.append("Content-Length: \(body.count)")
        } else if request.method != "GET" {
            lines.append("Content-Length: 0")
        }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    /// A value with a line break would be two header fields.
    private static func clean(_ value: String) -> String {
        String(decoding: value.utf8.map { $0 < 0x20 ? 0x20 : $0 }, as: UTF8.self)
    }
}

/// Reads the rest of an answer, one piece at a time.
private actor RestOfAnswer {
    private var reader: ResponseReader

    init(_ reader: ResponseReader) { self.reader = reader }

    func next(_ connection: SocketConnection) async throws(ClientError) -> [UInt8]? {
        let reader = reader
        let (piece, rest) = try await connection.run { (descriptor) throws(ClientError) in
            var rest = reader
            let piece = try rest.next { () throws(ClientError) in try Sockets.receive(descriptor) }
            return (piece, rest)
        }
        self.reader = rest
        if piece == nil { connection.close() }
        return piece
    }
}
