import Dispatch
import Glibc
import SocketServer
import TestSupport
import Testing

extension SocketServerTests {
    /// Callers who send open files with their bytes, as a Unix socket allows.
    @Suite struct OpenFilesTests {
        private static let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        private static let last = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

        @Test(
            "a file that takes hours to close keeps no other caller waiting, whether it comes with a request or after the last",
            arguments: ["", last])
        func lingering(_ before: String) async throws {
            let listener = Listener.unix(path: "/tmp/socket-server-\(getpid())-files.sock", mode: 0o600, group: nil)
            try await TestServer.run(listener: listener, threads: 1) { server in
                let lingering = try LingeringConnection()
                let attacker = try server.connect()
                attacker.send(before)
                if attacker.send(Self.request, with: lingering.descriptor) { lingering.closeOwn() }
                // If both have come before the server reads, it answers neither.
                _ = try attacker.receiveAll()
                let other = try server.connect()
                #expect(other.ask() == 200)
                withExtendedLifetime(lingering) {}
            }
        }

        @Test("requests before one with a file are answered, and only its connection ends")
        func others() async throws {
            let listener = Listener.unix(path: "/tmp/socket-server-\(getpid())-some.sock", mode: 0o600, group: nil)
            try await TestServer.run(listener: listener) { server in
                let (one, other) = (try server.connect(), try server.connect())
                #expect(one.ask() == 200)
                #expect(other.ask() == 200)
                #expect(one.send(Self.request, with: STDERR_FILENO))
                #expect(try one.receiveAll() == "")
                #expect(other.ask() == 200)
            }
        }

        @Test("credentials that an inherited socket has the kernel add are not taken for files")
        func credentials() async throws {
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            let path = "/tmp/socket-server-\(getpid())-credentials.sock"
            defer { unlink(path) }
            var name = sockaddr_un()
            name.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
            let isBound = withUnsafePointer(to: &name) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
                }
            }
            var on: Int32 = 1
            let size = socklen_t(MemoryLayout<Int32>.size)
            try #require(isBound && setsockopt(descriptor, SOL_SOCKET, SO_PASSCRED, &on, size) == 0)
            try #require(listen(descriptor, 8) == 0)
            try await TestServer.run(listener: .descriptor(descriptor)) { server in
                let client = try server.connect()
                #expect(client.ask() == 200)
                #expect(client.ask() == 200)
            }
        }
    }
}

/// A connection of TCP that the kernel closes only once its other end does: it has something left to send, and lingers.
private final class LingeringConnection {
    let descriptor: Int32
    private let listener: Int32
    private var isClosed = false

    init() throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isConnected = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 1) == 0 && getsockname(listener, $0, &size) == 0
                    && connect(descriptor, $0, size) == 0
            }
        }
        try #require(isConnected)
        let bytes = [UInt8](repeating: 0, count: 1 << 16)
        while send(descriptor, bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 {}
        var hours = linger(l_onoff: 1, l_linger: 36_000)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &hours, socklen_t(MemoryLayout<linger>.size))
    }

    /// Call it once the file has been sent. On a thread of its own: if the server has dropped the file by then, this descriptor is
    /// the last one, and lingers.
    func closeOwn() {
        isClosed = true
        DispatchQueue.global().async { [descriptor] in _ = close(descriptor) }
    }

    deinit {
        // From here on nothing lingers.
        close(listener)
        if !isClosed { close(descriptor) }
    }
}
