import SocketServer
import Upstream

/// A proxy to the upstream. While it is closed nothing listens at its address, as when the network is down.
actor Gateway {
    private let target: String
    private let transport: CurlTransport
    /// Kept while this is closed, so that neither a daemon that starts then nor another program gets it.
    private let port: ReservedPort
    private var serving: Task<Void, any Error>?

    init(to target: String) throws {
        self.target = target
        port = try ReservedPort()
        transport = try CurlTransport(userAgent: "gateway")
    }

    var address: String { "http://127.0.0.1:\(port.number)" }

    /// Listens, always on the same port.
    func open() throws {
        var limits = ServerLimits()
        limits.bodyBytes = 256 << 20
        limits.allBodiesBytes = 512 << 20
        let listener = Listener.tcp(host: "127.0.0.1", port: port.number)
        let server = SocketServer(listeners: [listener], limits: limits, threads: 1) { [target, transport] in
            await Self.forward($0, to: target, transport)
        }
        try server.bind()
        serving = Task { try await server.run() }
    }

    /// Returns when nothing listens.
    func close() async {
        serving?.cancel()
        _ = await serving?.result
        serving = nil
    }

    static func forward(_ request: Request, to target: String, _ transport: CurlTransport) async -> Response {
        let headers = request.headers.fields.filter { !["host", "content-length"].contains($0.name.lowercased()) }
        let query = request.query.map { "?\($0)" } ?? ""
        let carried = HTTPRequest(
            method: request.method, url: target + request.path + query,
            headers: headers.map { HTTPHeader($0.name, $0.value) }, body: request.body.isEmpty ? nil : request.body)
        if request.headers[single: "Accept"] == "text/event-stream" { return stream(carried, transport) }
        guard let answer = try? await transport.send(carried) else { return Response(status: 502) }
        let kept = answer.headers.filter { ["content-type", "etag"].contains($0.name.lowercased()) }
        return Response(status: answer.status, headers: kept.map { ($0.name, $0.value) }, body: answer.body)
    }

    /// Passes an event stream on as it comes.
    private static func stream(_ request: HTTPRequest, _ transport: CurlTransport) -> Response {
        Response(status: 200, headers: [("Content-Type", "text/event-stream")]) { write in
            let (pieces, continuation) = AsyncStream.makeStream(of: [UInt8].self)
            var carried = request
            carried.deadline = .seconds(300)
            carried.maximumBody = 1 << 40
            carried.sink = BodySink {
                continuation.yield(Array($0))
                return true
            }
            let task = Task { [carried] in
                _ = try? await transport.send(carried)
                continuation.finish()
            }
            defer { task.cancel() }
            for await piece in pieces {
                guard (try? await write(piece)) != nil else { return }
            }
        }
    }
}
