import CacheStore
import Foundation
import LocalAPIServer
import SQLiteStore
import SocketServer
import TestSupport
import Testing

/// The local API on a Unix socket, for the time of one test.
struct APISocket {
    let path: String
    let stop: @Sendable () -> Void

    /// `stop` ends the server as the daemon does; so does the end of `body`.
    static func run(
        _ api: TestAPI, limits: ServerLimits = ServerLimits(), _ body: (APISocket) async throws -> Void
    ) async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString.prefix(8)).sock").path
        let server = SocketServer(listeners: [.unix(path: path, mode: 0o600, group: nil)], limits: limits) {
            [api = api.api] in
            await api.respond(to: $0)
        }
        _ = try server.bind()
        let running = Task { try await server.run() }
        let stop: @Sendable () -> Void = { [store = api.store] in
            store.signal.close()
            running.cancel()
        }
        let result: Result<Void, any Error>
        do { result = .success(try await body(APISocket(path: path, stop: stop))) } catch { result = .failure(error) }
        stop()
        try await running.value
        try result.get()
    }

    /// Connects and asks.
    func get(_ target: String, _ headers: String...) throws -> RawConnection {
        let connection = try RawConnection(path: path)
        let lines = ["GET \(target) HTTP/1.1", "Host: localhost", "Authorization: Bearer \(TestAPI.token)"] + headers
        connection.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
        return connection
    }
}

/// A clock on which every wait is a thousand times shorter.
struct FastClock: Clock {
    var now: ContinuousClock.Instant { ContinuousClock().now }
    var minimumResolution: Duration { ContinuousClock().minimumResolution }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        try await ContinuousClock().sleep(for: (deadline - now) / 1000)
    }
}
