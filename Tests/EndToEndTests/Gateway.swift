import SocketServer
import Upstream

/// The way to the upstream: requests are carried over while it is up; while it is down nobody listens at its address, as
/// when the network is gone.
actor Gateway {
    private let target: String
    private let transport: CurlTransport
    private var port: UInt16 = 0
    private var serving: Task<Void, any Error>?

    init(to target: String) throws {
        self.target = target
        transport = try CurlTransport(userAgent: "gateway")
    }

    var address: String { "http://127.0.0.1:\(port)" }

    /// Listens; at the same port as before, once there was one.
    func open() throws {
        var limits = ServerLimits()
        limits.bodyBytes = 256 << 20
        let server = SocketServer(listeners: [.tcp(host: "127.0.0.1", port: port)], limits: limits, threads: 1) {
            [target, transport] in
            await Self.carry($0, to: target, transport)
        }
        guard case .tcp(let endpoint) = try server.bind().first else { return }
        port = endpoint.port
        serving = Task { try await server.run() }
    }

    /// Returns when nothing listens any more.
    func close() async {
        serving?.cancel()
        _ = await serving?.result
        serving = nil
    }

    static func carry(_ request: Request, to target: String, _ transport: CurlTransport) async -> Response {
        let headers = request.headers.fields.filter { !["host", "content-length"].contains($0.name.lowercased()) }
        let query = request.query.map { "?\($0)" } ?? ""
        let carried = HTTPRequest(
            method: request.method, url: target + request.path + query,
            headers: headers.map { HTTPHeader($0.name, $0.value) }, body: request.body.isEmpty ? nil : request.body)
        guard let answer = try? await transport.send(carried) else { return Response(status: 502) }
        let kept = answer.headers.filter { ["content-type", "etag"].contains($0.name.lowercased()) }
        return Response(status: answer.status, headers: kept.map { ($0.name, $0.value) }, body: answer.body)
    }
}
