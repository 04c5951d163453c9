import Foundation
import TestSupport
import Testing

/// A service manager holds the socket, and starts the daemon because someone calls. The start fails for good.
@Suite("A start that fails for good", .timeLimit(.minutes(10)))
struct FailedStartTests {
    private let temporary: TemporaryFolder

    init() throws {
        temporary = try TemporaryFolder()
    }

    /// Opens a socket as a service manager does, calls there if it is told to, prints its port, and becomes the daemon.
    private static let manager = """
        import os, socket, sys
        s = socket.create_server(("127.0.0.1", 0))
        if sys.argv[1] == "called": caller = socket.create_connection(s.getsockname())
        print("port", s.getsockname()[1], flush=True)
        os.dup2(s.fileno(), 3)
        os.set_inheritable(3, True)
        os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
        os.execv(sys.argv[2], sys.argv[2:])
        """

    private func start(_ how: String, _ arguments: [String]) throws -> Program {
        let daemon = Program.products.appending(path: "repairminder-sync").path
        return try Program(
            URL(filePath: "/usr/bin/python3"), ["-c", Self.manager, how, daemon, "run"] + arguments)
    }

    private func mistake() throws -> [String] {
        ["--config", try temporary.write("schema: no-such-schema\n", to: "c.yaml")]
    }

    private func refuses(_ arguments: [String]) async throws {
        let program = try start("called", arguments)
        let port = try #require(UInt16(try await program.line(containing: "port ").dropFirst("port ".count)))
        for _ in 1...3 {
            let caller = try RawConnection(port: port)
            #expect(try caller.exchange("GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n") == 503)
        }
        await program.signal(SIGTERM)
        _ = await program.finish()
    }

    @Test("callers of one with a mistake in the configuration get 503, and do not start it again and again")
    func configuration() async throws {
        try await refuses(mistake())
    }

    @Test("callers of one with a mistake in the unit get 503, and do not start it again and again")
    func unit() async throws {
        try await refuses(["--nonsense"])
    }

    @Test("one without callers ends with 78")
    func uncalled() async throws {
        let program = try start("uncalled", mistake())
        #expect(await program.finish().status == 78)
    }
}
