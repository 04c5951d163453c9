import Foundation
import Glibc
import SocketServer
import TestSupport

/// The built daemon in its own folder, with an unreachable upstream.
struct OfflineDaemon {
    let folder: URL
    let program: Program
    let port: UInt16
    let host: String

    var socket: String { "\(folder.path)/api.sock" }
    /// The base URL.
    var address: String { "http://\(host):\(port)" }
    var token: String {
        get throws {
            try String(contentsOf: folder.appending(path: "state/api-token"), encoding: .utf8)
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    /// Runs the daemon while `body` runs. `host` is its listening address; `listen` is added to that section.
    static func run(
        host: String = "localhost", listen: String = "", _ body: (OfflineDaemon) async throws -> Void
    ) async throws {
        let daemon = try await OfflineDaemon(host: host, listen: listen)
        let result: Result<Void, any Error>
        do { result = .success(try await body(daemon)) } catch { result = .failure(error) }
        await daemon.program.signal(SIGKILL)
        _ = await daemon.program.finish()
        try? FileManager.default.removeItem(at: daemon.folder)
        try result.get()
    }

    private init(host: String, listen: String) async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "lone-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // Other users must be able to reach the socket.
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
        let config = """
            schema: \(Shop.schema)
            state_dir: \(folder.path)/state
            upstream: { base_url: "http://127.0.0.1:1" }
            listen: { tcp: "\(host):0", unix: \(folder.path)/api.sock\(listen.isEmpty ? "" : ", ")\(listen) }
            """
        try config.write(to: folder.appending(path: "config.yaml"), atomically: true, encoding: .utf8)
        program = try Program("repairminder-sync", ["run", "--config", "\(folder.path)/config.yaml"])
        let line = try await program.line(containing: "address=http://")
        let digits = line.split(separator: "address=http://").last?.split(separator: ":").last ?? ""
        guard let port = UInt16(digits.prefix { $0.isNumber }) else {
            throw Program.Failure(message: "no port in \(line)")
        }
        self.port = port
        self.host = host
        _ = try await program.line(containing: "api.sock")
    }

    func connect() throws -> RawConnection { try RawConnection(port: port) }

    /// The status of the answer to a request.
    func status(_ request: String) throws -> Int? { try connect().exchange(request) }
}
