import Foundation
import TestSupport
import Testing

/// The service manager passes a socket at an address that the configuration does not name.
@Suite("An unused socket", .timeLimit(.minutes(1)))
struct UnusedSocketTests {
    private let temporary: TemporaryFolder

    init() throws {
        temporary = try TemporaryFolder()
    }

    /// Opens a socket as a service manager does, prints its port, and becomes the daemon.
    private static let manager = """
        import os, socket, sys
        s = socket.create_server(("127.0.0.1", 0))
        print("port", s.getsockname()[1], flush=True)
        os.dup2(s.fileno(), 3)
        os.set_inheritable(3, True)
        os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
        os.execv(sys.argv[1], sys.argv[1:])
        """

    @Test("its callers are told where to call instead of waiting")
    func told() async throws {
        let config = try temporary.write(
            """
            schema: \(Shop.schema)
            state_dir: \(temporary.path("state"))
            upstream: { base_url: "http://127.0.0.1:1" }
            listen: { tcp: "127.0.0.1:0" }
            """, to: "c.yaml")
        let daemon = Program.products.appending(path: "repairminder-sync").path
        let program = try Program(
            URL(filePath: "/usr/bin/python3"), ["-c", Self.manager, daemon, "run", "--config", config])
        let port = try #require(UInt16(try await program.line(containing: "port ").dropFirst("port ".count)))
        _ = try await program.line(containing: "a socket of the service manager is not used")
        _ = try await program.line(containing: "listening")
        let unused = try RawConnection(port: port)
        let request = "POST /v1/orders HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"
        #expect(try unused.exchange(request) == 421)
        await program.signal(SIGTERM)
        #expect(await program.finish().status == 0)
    }
}
