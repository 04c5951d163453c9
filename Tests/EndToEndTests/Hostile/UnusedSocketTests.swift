import Foundation
import TestSupport
import Testing

/// The service manager passes a socket at an address that the configuration does not name.
@Suite("An unused socket", .timeLimit(.minutes(10)))
struct UnusedSocketTests {
    private let temporary: TemporaryFolder

    init() throws {
        temporary = try TemporaryFolder()
    }

    /// Opens a socket as a service manager does, prints its port, writes it into the configuration in the place of PORT, and
    /// becomes the daemon.
    private static let manager = """
        import os, socket, sys
        s = socket.create_server(("127.0.0.1", 0))
        print("port", s.getsockname()[1], flush=True)
        config = open(sys.argv[-1]).read().replace("PORT", str(s.getsockname()[1]))
        open(sys.argv[-1], "w").write(config)
        os.dup2(s.fileno(), 3)
        os.set_inheritable(3, True)
        os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
        os.execv(sys.argv[1], sys.argv[1:])
        """

    /// The running daemon, and the port of the socket.
    private func started(schema: String, _ settings: String = "") async throws -> (program: Program, port: UInt16) {
        let config = try temporary.write(
            """
            schema: \(schema)
            state_dir: \(temporary.path("state"))
            upstream: { base_url: "http://127.0.0.1:1" }
            listen: { tcp: "127.0.0.1:0" }
            \(settings)
            """, to: "c.yaml")
        let daemon = Program.products.appending(path: "repairminder-sync").path
        let program = try Program(
            URL(filePath: "/usr/bin/python3"), ["-c", Self.manager, daemon, "run", "--config", config])
        return (program, try #require(UInt16(try await program.line(containing: "port ").dropFirst("port ".count))))
    }

    @Test("its callers are told where to call instead of waiting")
    func told() async throws {
        let (program, port) = try await started(schema: Shop.schema)
        _ = try await program.line(containing: "a socket of the service manager is not used")
        _ = try await program.line(containing: "listening")
        let unused = try RawConnection(port: port)
        let request = "POST /v1/orders HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"
        #expect(try unused.exchange(request) == 421)
        await program.signal(SIGTERM)
        #expect(await program.finish().status == 0)
    }

    @Test("one at the address of the webhooks serves them")
    func webhooks() async throws {
        let schema = try temporary.write(
            """
            schema: s
            upstream:
              signals:
                - webhook: { path: /hook, entity: orders, key: id, signature: { header: X-Token, algorithm: token } }
            entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders } } }
            """, to: "s.yaml")
        let secret = try temporary.write("a-long-secret\n", to: "secret")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret)
        let (program, port) = try await started(
            schema: schema, "signals: { listen: \"127.0.0.1:PORT\", secret_file: \(secret) }")
        _ = try await program.line(containing: "listening for webhooks")
        let calls = try RawConnection(port: port)
        let request = "POST /hook HTTP/1.1\r\nHost: localhost\r\nX-Token: a-long-secret\r\nContent-Length: 2\r\n\r\n{}"
        #expect(try calls.exchange(request) == 204)
        await program.signal(SIGTERM)
        #expect(await program.finish().status == 0)
    }
}
