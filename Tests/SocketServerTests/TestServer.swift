import SocketServer
import TestSupport
import Testing

/// The parent of every suite that talks to a server. Serialized because the client blocks its thread.
@Suite(.serialized) struct SocketServerTests {}

/// A server that runs for the duration of one test.
struct TestServer {
    let address: BoundAddress
    let server: SocketServer

    /// Serves on a free loopback port, or on the given listeners, while `body` runs; then stops and waits for the end.
    static func run(
        listener: Listener = .tcp(host: "127.0.0.1", port: 0), limits: ServerLimits = .quick, threads: Int = 2,
        handler: @escaping @Sendable (Request) async -> Response = TestServer.describe,
        _ body: (TestServer) async throws -> Void
    ) async throws {
        let server = SocketServer(listeners: [listener], limits: limits, threads: threads, handler: handler)
        try await run(server, body)
    }

    /// The same for a server that identifies its callers.
    static func run(
        limits: ServerLimits, lookup: @escaping Caller.Lookup,
        handler: @escaping @Sendable (Request) async -> Response = TestServer.describe,
        _ body: (TestServer) async throws -> Void
    ) async throws {
        let listener = Listener.tcp(host: "127.0.0.1", port: 0)
        try await run(SocketServer(listeners: [listener], limits: limits, handler: handler, lookup: lookup), body)
    }

    static func run(_ server: SocketServer, _ body: (TestServer) async throws -> Void) async throws {
        let address = try #require(try server.bind().first)
        let task = Task { try await server.run() }
        let result: Result<Void, any Error>
        do { result = .success(try await body(TestServer(address: address, server: server))) } catch {
            result = .failure(error)
        }
        task.cancel()
        try await task.value
        try result.get()
    }

    func connect(receiveBuffer: Int32? = nil) throws -> TestClient {
        try TestClient(address, receiveBuffer: receiveBuffer)
    }

    /// Connects from another address of this machine, by which the test's `lookup` identifies callers.
    func connect(from source: String) throws -> TestClient {
        let client = try TestClient(unconnected: address)
        try client.bind(to: source)
        try client.connect(to: address)
        return client
    }

    /// Responds with the request's method, path, query and body.
    static let describe: @Sendable (Request) async -> Response = { request in
        let target = request.path + (request.query.map { "?" + $0 } ?? "")
        return Response(status: 200, body: [UInt8]("\(request.method) \(target) ".utf8) + request.body)
    }
}

extension ServerLimits {
    /// The default limits with a short shutdown, so a failed test does not delay the stop.
    static var quick: ServerLimits {
        var limits = ServerLimits()
        limits.shutdown = .seconds(2)
        limits.ownerConnections = 0
        limits.linger = .milliseconds(500)
        return limits
    }
}
