import Foundation
import Glibc
import TestSupport
import Testing

/// Another user of the machine listens at the address of a daemon that is stopped.
@Suite("A taken address", .serialized, .enabled(if: getuid() == 0, "only root can act as two users"))
struct TakenAddressTests {
    private static let thief: uid_t = 54_321
    private let temporary: TemporaryFolder

    init() throws {
        temporary = try TemporaryFolder()
        try #require(chmod(temporary.path, 0o755) == 0)
        try temporary.write("token-of-the-daemon\n", to: "state/api-token")
        try #require(chmod(temporary.path("state"), 0o700) == 0 && chmod(temporary.path("state/api-token"), 0o600) == 0)
    }

    /// Runs `status` against a listener of `user`; returns the command's result and what the listener received.
    private func status(
        against user: uid_t, at address: String, _ arguments: [String], command: String = "status",
        socket: String = "off"
    ) async throws -> (status: Int32, output: String, received: String) {
        let thief = Process()
        let (input, output) = (Pipe(), Pipe())
        thief.executableURL = URL(filePath: "/usr/bin/setpriv")
        // Answers one caller, and prints what came. At the end of its input it exits, unless a caller has connected by then, who
        // is answered first.
        let script = """
            import select, socket, sys
            at = sys.argv[1]
            if at.startswith("/"):
                s = socket.socket(socket.AF_UNIX); s.bind(at)
            else:
                s = socket.create_server((at, 0), family=socket.AF_INET6 if ":" in at else socket.AF_INET)
            s.listen()
            print(s.getsockname()[1] if not at.startswith("/") else 0, flush=True)
            if s not in select.select([s, sys.stdin], [], [])[0]: sys.exit()
            c, _ = s.accept()
            c.settimeout(5)
            try: got = c.recv(65536)
            except OSError: got = b""
            c.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\nConnection: close\\r\\n\\r\\n{}")
            sys.stdout.buffer.write(b"[" + got + b"]")
            """
        thief.arguments = [
            "--reuid=\(user)", "--regid=\(user)", "--clear-groups", "/usr/bin/python3", "-c", script, address,
        ]
        thief.standardInput = input
        thief.standardOutput = output
        try thief.run()
        let first = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        let port = first.prefix { $0.isNumber }
        let config = try temporary.write(
            """
            state_dir: \(temporary.path("state"))
            upstream: { base_url: "http://127.0.0.1:1" }
            listen: { tcp: "\(address.contains(":") ? "[\(address)]" : "127.0.0.1"):\(port)", unix: "\(socket)" }
            """, to: "c.yaml")
        let (status, text) = try await Program.run(
            "repairminder-sync", [command] + (arguments.isEmpty ? ["--config", config] : arguments))
        try input.fileHandleForWriting.close()
        let received = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        thief.waitUntilExit()
        return (status, text, received)
    }

    @Test("nothing is sent to another user's process on the daemon's port", arguments: ["127.0.0.1", "::1"])
    func port(_ address: String) async throws {
        let (status, output, received) = try await status(against: Self.thief, at: address, [])
        #expect(status == 69, "\(output)")
        #expect(output.contains("uid 54321 listens there"), "\(output)")
        #expect(!received.contains("GET"), "\(received)")
    }

    @Test("doctor sends nothing there either, and says who listens", arguments: ["127.0.0.1", "::1"])
    func doctor(_ address: String) async throws {
        let (_, output, received) = try await status(against: Self.thief, at: address, [], command: "doctor")
        #expect(output.contains("uid 54321 listens there"), "\(output)")
        #expect(output.contains("error    daemon"), "\(output)")
        #expect(received.hasSuffix("[]"), "\(received)")
    }

    @Test(
        "open sends no browser there, although the daemon answers on its Unix socket", arguments: ["127.0.0.1", "::1"])
    func open(_ address: String) async throws {
        let path = temporary.path("api.sock")
        let daemon = Process()
        let output = Pipe()
        daemon.executableURL = URL(filePath: "/usr/bin/python3")
        let script = """
            import socket, sys
            s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); print("ready", flush=True)
            s.settimeout(20)
            c, _ = s.accept()
            c.recv(65536)
            c.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\nConnection: close\\r\\n\\r\\n{}")
            """
        daemon.arguments = ["-c", script, path]
        daemon.standardOutput = output
        try daemon.run()
        _ = output.fileHandleForReading.availableData
        let (status, text, received) = try await status(
            against: Self.thief, at: address, [], command: "open", socket: path)
        daemon.waitUntilExit()
        #expect(status == 69, "\(text)")
        #expect(text.contains("uid 54321 listens there"), "\(text)")
        #expect(received.hasSuffix("[]"), "\(received)")
    }

    @Test("the owner of a state directory that any user could have made is not trusted")
    func madeFirst() async throws {
        try #require(chown(temporary.path("state"), Self.thief, Self.thief) == 0)
        try #require(chown(temporary.path("state/api-token"), Self.thief, Self.thief) == 0)
        // Every user can make directories in the test's temporary folder.
        let (status, output, _) = try await status(against: Self.thief, at: "127.0.0.1", [])
        #expect(status == 69, "\(output)")
    }

    @Test("a process of root gets the token")
    func root() async throws {
        let received = try await status(against: 0, at: "127.0.0.1", []).received
        #expect(received.contains("Bearer token-of-the-daemon"), "\(received)")
    }

    @Test("nothing is sent to a socket of root that the owner of the daemon's directory has put a link to")
    func linkedSocket() async throws {
        let folder = temporary.path("instance")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try #require(chmod(folder, 0o755) == 0 && chown(folder, Self.thief, Self.thief) == 0)
        let link = "\(folder)/api.sock"
        let socket = temporary.path("other.sock")
        try #require(symlink(socket, link) == 0)
        let (status, output, received) = try await status(against: 0, at: socket, ["--socket", link])
        #expect(status == 69, "\(output)")
        #expect(output.contains("it leads to the socket \(socket)"), "\(output)")
        #expect(!received.contains("GET"), "\(received)")
    }

    @Test("a socket in a directory of the daemon is called")
    func ownSocket() async throws {
        let folder = temporary.path("instance")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try #require(chmod(folder, 0o755) == 0 && chown(folder, Self.thief, Self.thief) == 0)
        let socket = "\(folder)/api.sock"
        let received = try await status(against: 0, at: socket, ["--socket", socket]).received
        #expect(received.contains("GET"), "\(received)")
    }

    @Test("nothing is sent to another user's Unix socket")
    func socket() async throws {
        let folder = temporary.path("open")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try #require(chmod(folder, 0o777) == 0)
        let path = "\(folder)/api.sock"
        let (status, output, received) = try await status(against: Self.thief, at: path, ["--socket", path])
        #expect(status == 69, "\(output)")
        #expect(output.contains("uid 54321 listens there"), "\(output)")
        #expect(!received.contains("GET"), "\(received)")
    }
}
