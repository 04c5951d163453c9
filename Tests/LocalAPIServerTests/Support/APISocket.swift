import CacheStore
import Foundation
import Glibc
import LocalAPIServer
import SQLiteStore
import SocketServer
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
    func get(_ target: String, _ headers: String...) throws -> APIConnection {
        let connection = try APIConnection(path)
        let lines = ["GET \(target) HTTP/1.1", "Host: localhost", "Authorization: Bearer \(TestAPI.token)"] + headers
        connection.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
        return connection
    }
}

/// A blocking client of bytes; no call waits longer than 20 seconds.
final class APIConnection {
    struct Failure: Error { var what: String }

    private let descriptor: Int32
    private var buffer: [UInt8] = []

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw Failure(what: "connect: \(errno)") }
    }

    deinit { close(descriptor) }

    func send(_ text: String) {
        let bytes = [UInt8](text.utf8)
        _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// The next bytes up to and with `mark`.
    func read(through mark: String) throws -> String {
        let mark = Data(mark.utf8)
        var searched = 0
        while true {
            let rest = Data(buffer[max(0, searched - mark.count)...])
            if let range = rest.range(of: mark) {
                let end = buffer.count - rest.count + range.upperBound
                defer { buffer.removeFirst(end) }
                return String(decoding: buffer[..<end], as: UTF8.self)
            }
            searched = buffer.count
            guard try readMore() else { throw Failure(what: "closed before \(String(decoding: mark, as: UTF8.self))") }
        }
    }

    /// Everything until the server closes.
    func readAll() throws -> String {
        while try readMore() {}
        defer { buffer = [] }
        return String(decoding: buffer, as: UTF8.self)
    }

    private func readMore() throws -> Bool {
        var space = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &space, space.count, 0)
        if count < 0, errno == ECONNRESET { return false }
        guard count >= 0 else { throw Failure(what: "nothing came within 20 s (errno \(errno))") }
        buffer += space[..<count]
        return count > 0
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
