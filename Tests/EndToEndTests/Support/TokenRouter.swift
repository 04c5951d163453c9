import SocketServer
import Upstream

/// One address with a separate upstream for each account: the token selects it, as with a real service.
actor TokenRouter {
    private let targets: [String: String]
    private let transport: CurlTransport
    private var accepted: Set<String>
    private var serving: Task<Void, any Error>?
    private(set) var address = ""

    /// `targets`: token → the address of the account's upstream.
    init(_ targets: [String: String]) throws {
        self.targets = targets
        accepted = Set(targets.keys)
        transport = try CurlTransport(userAgent: "token-router")
    }

    func open() throws {
        let server = SocketServer(listeners: [.tcp(host: "127.0.0.1", port: 0)], threads: 1) { [transport] in
            guard let target = await self.target(of: $0) else { return Response(status: 401) }
            return await Gateway.forward($0, to: target, transport)
        }
        guard let listener = try server.bind().first, case .tcp(let endpoint) = listener else { return }
        address = "http://127.0.0.1:\(endpoint.port)"
        serving = Task { try await server.run() }
    }

    func close() async {
        serving?.cancel()
        _ = await serving?.result
    }

    /// From now on only these tokens are accepted.
    func accept(_ tokens: String...) { accepted = Set(tokens) }

    private func target(of request: Request) -> String? {
        guard let header = request.headers[all: "Authorization"].first, header.hasPrefix("Bearer ") else { return nil }
        let token = String(header.dropFirst("Bearer ".count))
        return accepted.contains(token) ? targets[token] : nil
    }
}
