import Foundation
import Glibc
import JSONText
import Upstream

/// The built daemon in its own folder, started as a service manager does.
struct SupervisedDaemon {
    let folder: URL
    let manager: ServiceManagerFake
    let program: Program
    private let local: CurlTransport

    /// Runs the daemon while `body` runs, with the configuration that `setup` writes.
    static func run(
        environment: [String: String] = [:], setup: (Folder) throws -> Void,
        _ body: (SupervisedDaemon) async throws -> Void
    ) async throws {
        let folder = try Folder()
        try setup(folder)
        let daemon = try SupervisedDaemon(folder, environment)
        let result: Result<Void, any Error>
        do { result = .success(try await body(daemon)) } catch { result = .failure(error) }
        await daemon.program.signal(SIGKILL)
        _ = await daemon.program.finish()
        await daemon.manager.close()
        try? FileManager.default.removeItem(at: daemon.folder)
        try result.get()
    }

    private init(_ folder: Folder, _ environment: [String: String]) throws {
        self.folder = folder.url
        manager = try ServiceManagerFake()
        local = try CurlTransport(userAgent: "test", unixSocketPath: folder.socket)
        program = try Program(
            "repairminder-sync", ["run", "--config", folder.config],
            environment: environment.merging(["NOTIFY_SOCKET": manager.path]) { $1 })
    }

    var files: Folder { Folder(url: folder) }

    /// Calls the local API.
    func call(_ method: String, _ path: String, _ body: JSONText? = nil) async throws -> (status: Int, body: JSONText) {
        let request = HTTPRequest(
            method: method, url: "http://localhost\(path)",
            headers: body == nil ? [] : [HTTPHeader("Content-Type", "application/json")],
            body: body.map { Array($0.bytes) })
        let response = try await local.send(request)
        return (
            response.status, (try? JSONText(response.body)) ?? .string(String(decoding: response.body, as: UTF8.self))
        )
    }

    /// The next port in the log.
    func port() async throws -> UInt16 {
        let line = try await program.line(containing: "address=http://127.0.0.1:")
        guard let port = line.firstMatch(of: /127\.0\.0\.1:([0-9]+)/).flatMap({ UInt16($0.1) }) else {
            throw Program.Failure(message: "no port in \(line)")
        }
        return port
    }

    /// Sends SIGHUP and returns the messages until the daemon is ready again.
    func reload() async throws -> [String] {
        let before = await manager.received.count
        await program.signal(SIGHUP)
        _ = try await manager.message(containing: "RELOADING=1")
        _ = try await manager.message(containing: "READY=1")
        return Array(await manager.received[before...])
    }

    /// The folder of the daemon's files.
    struct Folder {
        let url: URL

        var config: String { "\(url.path)/config.yaml" }
        var socket: String { "\(url.path)/api.sock" }
        var state: String { "\(url.path)/state" }

        fileprivate init(url: URL) { self.url = url }

        fileprivate init() throws {
            url = FileManager.default.temporaryDirectory.appending(path: "daemon-\(UUID().uuidString.prefix(8))")
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        }

        /// Without `upstream`, its address is missing here and in the schema. `edit` changes the schema.
        func configure(
            upstream: String? = "http://127.0.0.1:1", more: String = "", editing edit: (String) -> String = { $0 }
        )
            throws
        {
            var schema = try String(contentsOfFile: Shop.schema, encoding: .utf8)
            schema.replace(/[ ]+base_url: .*\n/, with: "")
            try edit(schema).write(toFile: "\(url.path)/shop.yaml", atomically: true, encoding: .utf8)
            let text = """
                schema: \(url.path)/shop.yaml
                state_dir: \(state)
                sync: { interval: 24h }
                listen: { tcp: "localhost:0", unix: \(socket) }
                \(upstream.map { "upstream: { base_url: \"\($0)\" }" } ?? "")
                \(more)
                """
            try text.write(toFile: config, atomically: true, encoding: .utf8)
        }
    }
}
