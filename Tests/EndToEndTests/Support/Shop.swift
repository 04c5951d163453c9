import Foundation
import JSONText
import TestSupport
import Upstream

/// The built reference upstream with data, and the built daemon on it, in a temporary folder.
actor Shop {
    let folder: URL
    let upstream: Program
    /// The daemon's connection to the upstream; the test itself calls the upstream directly.
    let gateway: Gateway
    private let upstreamAddress: String
    private var daemon: Program
    private let upstreamTransport: CurlTransport
    private let daemonTransport: CurlTransport

    /// `rows` is how many records the upstream generates, unless `data` names a folder with them, or `realRecords` is set and
    /// `REPAIRMINDER_TEST_DATA` names one of real ones. `arguments` are the upstream's, `settings` is added to the daemon's
    /// configuration (`FOLDER` in it is replaced with the folder), and `editing` changes the schema's text for both sides.
    init(
        schema name: String = "repairminder", rows: Int = 500, data given: String? = nil, realRecords: Bool = false,
        serverIds: Bool = true, _ arguments: [String] = [], settings: String = "",
        editing edit: ((String) -> String)? = nil
    ) async throws {
        var schema = Self.path(ofSchema: name)
        folder = FileManager.default.temporaryDirectory.appending(path: "shop-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        if let edit {
            let text = try edit(String(contentsOfFile: schema, encoding: .utf8))
            schema = folder.appending(path: "\(name).yaml").path
            try text.write(toFile: schema, atomically: true, encoding: .utf8)
        }
        let data = given ?? (realRecords ? ProcessInfo.processInfo.environment["REPAIRMINDER_TEST_DATA"] : nil)
        let source = data.map { ["--data", $0] } ?? ["--rows", "\(rows)", "--seed", "1"]
        upstream = try Program(
            "repairminder-upstream",
            ["--schema", schema, "--listen", "127.0.0.1:0"] + (serverIds ? ["--server-ids"] : []) + source + arguments)
        let line = try await upstream.line(containing: "listening on ")
        upstreamAddress = String(line.split(separator: " ").last ?? "")
        gateway = try Gateway(to: upstreamAddress)
        try await gateway.open()
        let config = await """
        schema: \(schema)
        state_dir: \(folder.path)/state
        upstream: { base_url: "\(gateway.address)" }
        sync: { interval: 24h }
        retry: { base: 50ms }
        listen: { tcp: "127.0.0.1:0", unix: \(folder.path)/api.sock }
        \(settings.replacing("FOLDER", with: folder.path))
        """
        try config.write(to: folder.appending(path: "config.yaml"), atomically: true, encoding: .utf8)
        upstreamTransport = try CurlTransport(userAgent: "test")
        daemonTransport = try CurlTransport(userAgent: "test", unixSocketPath: "\(folder.path)/api.sock")
        daemon = try await Self.startDaemon(folder)
    }

    static let schema = path(ofSchema: "repairminder")
    static func path(ofSchema name: String) -> String { ProjectFiles.schemaFile(name).path }

    // MARK: The daemon

    private static func startDaemon(_ folder: URL) async throws -> Program {
        let daemon = try Program("repairminder-sync", ["run", "--config", "\(folder.path)/config.yaml"])
        _ = try await daemon.line(containing: "api.sock")
        return daemon
    }

    func startDaemon() async throws { daemon = try await Self.startDaemon(folder) }

    /// Kills the daemon without warning.
    func killDaemon() async {
        await daemon.signal(SIGKILL)
        _ = await daemon.finish()
    }

    /// Stops the daemon as systemd does; returns its exit status.
    func stopDaemon() async -> Int32 {
        await daemon.signal(SIGTERM)
        return await daemon.finish().status
    }

    /// The daemon's memory, in bytes.
    func daemonMemory() async throws -> Int { try await daemonMemory("VmRSS") }

    /// The daemon's peak memory since its start, in bytes.
    func daemonPeak() async throws -> Int { try await daemonMemory("VmHWM") }

    private func daemonMemory(_ field: String) async throws -> Int {
        let status = try await String(contentsOfFile: "/proc/\(daemon.pid)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("\(field):") }
        return (line?.split { !$0.isNumber }.first.flatMap { Int($0) } ?? 0) << 10
    }

    /// Waits for a line of the daemon's log.
    func daemonLine(containing text: String) async throws -> String { try await daemon.line(containing: text) }

    /// Runs a subcommand against the daemon.
    func command(_ arguments: String...) async throws -> (status: Int32, output: String) {
        try await Program.run("repairminder-sync", arguments + ["--config", "\(folder.path)/config.yaml"])
    }

    /// Starts a subcommand that reads from standard input.
    func start(_ arguments: String...) throws -> Program {
        let rest = Array(arguments.dropFirst())
        return try Program("repairminder-sync", [arguments[0], "--config", "\(folder.path)/config.yaml"] + rest)
    }

    /// Calls the local API.
    func call(_ method: String, _ path: String, _ body: JSONText? = nil) async throws -> (status: Int, body: JSONText) {
        let response = try await daemonTransport.send(request(method, "http://localhost\(path)", body))
        return (response.status, response.body.isEmpty ? .null : try JSONText(response.body))
    }

    /// Calls the local API and returns the whole answer.
    func exchange(_ method: String, _ path: String, _ headers: [HTTPHeader], _ body: JSONText? = nil) async throws
        -> HTTPResponse
    {
        var sent = request(method, "http://localhost\(path)", body)
        sent.headers += headers
        return try await daemonTransport.send(sent)
    }

    /// Calls the local API with a body that is generated while it is sent.
    func send(_ method: String, _ path: String, type: String, _ source: BodySource) async throws -> HTTPResponse {
        var sent = HTTPRequest(
            method: method, url: "http://localhost\(path)", headers: [HTTPHeader("Content-Type", type)],
            deadline: .seconds(240))
        sent.source = source
        return try await daemonTransport.send(sent)
    }

    // MARK: The upstream

    /// Calls the upstream's API directly, not through the gateway.
    func upstreamCall(_ method: String, _ path: String, _ body: JSONText? = nil) async throws -> HTTPResponse {
        var sent = request(method, upstreamAddress + path, body)
        sent.maximumBody = 1 << 30
        sent.deadline = .seconds(120)
        return try await upstreamTransport.send(sent)
    }

    /// Calls an admin path of the upstream and returns the lines of its answer.
    func admin(_ path: String, _ method: String = "GET", _ body: JSONText? = nil) async throws -> [JSONText] {
        var sent = request(method, "\(upstreamAddress)/__admin/\(path)", body)
        sent.maximumBody = 1 << 30
        let response = try await upstreamTransport.send(sent)
        return try response.body.split(separator: UInt8(ascii: "\n")).map { try JSONText($0) }
    }

    private func request(_ method: String, _ url: String, _ body: JSONText?) -> HTTPRequest {
        HTTPRequest(
            method: method, url: url, headers: body == nil ? [] : [HTTPHeader("Content-Type", "application/json")],
            body: body.map { Array($0.bytes) })
    }

    func end() async {
        await daemon.signal(SIGKILL)
        await upstream.signal(SIGKILL)
        await gateway.close()
        _ = await daemon.finish()
        _ = await upstream.finish()
        try? FileManager.default.removeItem(at: folder)
    }
}
