import Glibc
import SocketServer
import TestSupport
import Testing

extension SocketServerTests {
    @Suite struct LifecycleTests {
        @Test("requests in flight finish when the server stops, and idle connections are closed")
        func shutdownInFlight() async throws {
            let (started, begin) = AsyncStream.makeStream(of: Void.self)
            let (released, release) = AsyncStream.makeStream(of: Void.self)
            let server = SocketServer(listeners: [.tcp(host: "127.0.0.1", port: 0)], limits: .quick, threads: 1) {
                request in
                if request.path == "/slow" {
                    begin.yield()
                    for await _ in released { break }
                }
                return Response(status: 200)
            }
            let address = try #require(try server.bind().first)
            let running = Task { try await server.run() }
            let idle = try TestClient(address)
            idle.send("GET /quick HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try idle.receiveAnswer().status == 200)
            let busy = try TestClient(address)
            busy.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
            for await _ in started { break }
            running.cancel()
            #expect(try idle.receiveAll() == "")
            release.yield()
            let answer = try busy.receiveAnswer()
            #expect(answer.status == 200)
            #expect(answer.head.contains("Connection: close"))
            try await running.value
            #expect(throws: TestClient.Failure.self) { try TestClient(address) }
        }

        @Test("a connection that was just opened may send its first request while the server stops")
        func shutdownNewConnection() async throws {
            var limits = ServerLimits.quick
            limits.firstRequest = limits.shutdown
            let server = SocketServer(listeners: [.tcp(host: "127.0.0.1", port: 0)], limits: limits, threads: 1) { _ in
                Response(status: 200)
            }
            let address = try #require(try server.bind().first)
            let running = Task { try await server.run() }
            let new = try TestClient(address)
            // Connections are accepted in their order, so once this one is answered the other is accepted too.
            let used = try TestClient(address)
            used.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try used.receiveAnswer().status == 200)
            running.cancel()
            #expect(try used.receiveAll() == "")
            new.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            let answer = try new.receiveAnswer()
            #expect(answer.status == 200)
            #expect(answer.head.contains("Connection: close"))
            try await running.value
        }

        @Test("a new connection that sends nothing does not hold up a server that stops")
        func shutdownSilentConnection() async throws {
            var limits = ServerLimits.quick
            limits.shutdown = .seconds(60)
            limits.firstRequest = .milliseconds(1)
            let server = SocketServer(listeners: [.tcp(host: "127.0.0.1", port: 0)], limits: limits, threads: 1) { _ in
                Response(status: 200)
            }
            let address = try #require(try server.bind().first)
            let running = Task { try await server.run() }
            let silent = try TestClient(address)
            let used = try TestClient(address)
            used.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try used.receiveAnswer().status == 200)
            running.cancel()
            #expect(try silent.receiveAll() == "")
            try await running.value
        }

        @Test("a handler that does not return is cancelled at the shutdown limit and its connection is dropped")
        func shutdownLimit() async throws {
            var limits = ServerLimits.quick
            limits.shutdown = .milliseconds(100)
            let (started, begin) = AsyncStream.makeStream(of: Void.self)
            let server = SocketServer(listeners: [.tcp(host: "127.0.0.1", port: 0)], limits: limits) { _ in
                begin.yield()
                await untilCancelled()
                return Response(status: 200)
            }
            let address = try #require(try server.bind().first)
            let running = Task { try await server.run() }
            let client = try TestClient(address)
            client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            for await _ in started { break }
            running.cancel()
            try await running.value
            #expect(try client.receiveAll() == "")
        }

        @Test("a stream is ended when the server stops")
        func shutdownStream() async throws {
            let server = SocketServer(listeners: [.tcp(host: "127.0.0.1", port: 0)]) { _ in
                Response(status: 200, headers: []) { write in
                    try? await write([0x61])
                    await untilCancelled()
                }
            }
            let address = try #require(try server.bind().first)
            let running = Task { try await server.run() }
            let client = try TestClient(address)
            client.send(StreamTests.get)
            _ = try client.receive(through: "1\r\na\r\n")
            running.cancel()
            #expect(try client.receiveAll() == "")
            try await running.value
        }

        @Test("a stream whose reader has stalled is dropped at the shutdown limit", .timeLimit(.minutes(10)))
        func shutdownStalledStream() async throws {
            var limits = ServerLimits.quick
            limits.shutdown = .milliseconds(100)
            limits.write = .seconds(3600)
            let server = SocketServer(listeners: [.tcp(host: "127.0.0.1", port: 0)], limits: limits) { _ in
                Response(status: 200, headers: []) { write in
                    try? await write([UInt8](repeating: 0x61, count: 20_000_000))
                }
            }
            let address = try #require(try server.bind().first)
            let running = Task { try await server.run() }
            let client = try TestClient(address, receiveBuffer: 4096)
            client.send(StreamTests.get)
            _ = try client.receive(through: "\r\n\r\n")
            running.cancel()
            try await running.value
            #expect(try client.receiveAll().utf8.count < 20_000_000)
        }

        @Test("a port in use is a clear error")
        func portTaken() throws {
            let first = SocketServer(listeners: [.tcp(host: "127.0.0.1", port: 0)], handler: TestServer.describe)
            guard case .tcp(let endpoint) = try #require(try first.bind().first) else { return }
            let second = SocketServer(
                listeners: [.tcp(host: "127.0.0.1", port: endpoint.port)], handler: TestServer.describe)
            let error = #expect(throws: ServerError.self) { try second.bind() }
            guard case .addressTaken = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            withExtendedLifetime(first) {}
        }

        @Test("a host name instead of an address is a clear error")
        func notNumeric() {
            let server = SocketServer(listeners: [.tcp(host: "nowhere", port: 0)], handler: TestServer.describe)
            #expect(
                throws: ServerError.unusable("nowhere is not a numeric address; use one such as 127.0.0.1 or ::1.")
            ) { try server.bind() }
        }

        @Test("a Unix socket has the configured mode, identifies its callers and is removed at the end")
        func unixSocket() async throws {
            let path = "/tmp/socket-server-\(getpid())-mode.sock"
            try await TestServer.run(listener: .unix(path: path, mode: 0o660, group: getgid())) { request in
                Response(
                    status: 200,
                    body: [UInt8]("\(request.peer == .unix(pid: getpid(), uid: getuid(), gid: getgid()))".utf8))
            } _: { server in
                var status = stat()
                #expect(lstat(path, &status) == 0)
                #expect(status.st_mode & 0o777 == 0o660)
                let client = try server.connect()
                client.send(StreamTests.get)
                #expect(try client.receiveAnswer().body == "true")
            }
            #expect(access(path, F_OK) != 0)
        }

        @Test("a socket file is replaced unless another process is listening on it")
        func staleSocket() async throws {
            let path = "/tmp/socket-server-\(getpid())-stale.sock"
            let listener = Listener.unix(path: path, mode: 0o600, group: nil)
            try leaveStaleSocket(path)
            try await TestServer.run(listener: listener) { server in
                let second = SocketServer(listeners: [listener], handler: TestServer.describe)
                let error = #expect(throws: ServerError.self) { try second.bind() }
                #expect(error?.description.hasPrefix("Another process may be listening on \(path)") == true)
                let client = try server.connect()
                client.send(StreamTests.get)
                #expect(try client.receiveAnswer().status == 200)
            }
        }

        @Test("a file that is not a socket is never replaced")
        func otherFile() throws {
            let path = "/tmp/socket-server-\(getpid())-file"
            close(open(path, O_CREAT | O_WRONLY, 0o600))
            defer { unlink(path) }
            let server = SocketServer(
                listeners: [.unix(path: path, mode: 0o600, group: nil)], handler: TestServer.describe)
            #expect(throws: ServerError.self) { try server.bind() }
            #expect(access(path, F_OK) == 0)
        }

        @Test("an inherited descriptor is served, close-on-exec and with TCP peers")
        func descriptor() async throws {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            try #require(listen(descriptor, 8) == 0)
            try await TestServer.run(listener: .descriptor(descriptor)) { request in
                guard case .tcp(let remote, _) = request.peer else { return Response(status: 500) }
                return Response(status: 200, body: [UInt8](remote.address.utf8))
            } _: { server in
                #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
                guard case .tcp(let endpoint) = server.address else { return }
                let client = try TestClient(.tcp(Peer.Endpoint(address: "127.0.0.1", port: endpoint.port)))
                client.send(StreamTests.get)
                #expect(try client.receiveAnswer().body == "127.0.0.1")
            }
        }

        @Test("a descriptor that is not listening is a clear error")
        func wrongDescriptor() {
            let server = SocketServer(listeners: [.descriptor(0)], handler: TestServer.describe)
            #expect(throws: ServerError.self) { try server.bind() }
        }

        private func leaveStaleSocket(_ path: String) throws {
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            var name = sockaddr_un()
            name.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
            let result = withUnsafePointer(to: &name) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            try #require(result == 0)
        }
    }
}
