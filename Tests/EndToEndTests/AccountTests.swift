import Foundation
import JSONText
import Testing
import Upstream

/// Each account and each upstream has a cache of its own, with the built commands.
@Suite("Accounts", .serialized)
struct AccountTests {
    @Test("another account finds a cache of its own, and the first its queue when it is back", .timeLimit(.minutes(5)))
    func accounts() async throws {
        let company = try await Companies()
        do {
            try await firstAccount(company)
            try await otherAccount(company)
            try await back(company)
            try await otherUpstream(company)
        } catch {
            await company.end()
            throw error
        }
        await company.end()
    }

    private func firstAccount(_ company: Companies) async throws {
        try await company.start()
        #expect(try await company.command("sync", "--wait").status == 0)
        await company.stop()
        try await company.start()
        #expect(try company.current == "repairminder-company-1.db")
        #expect(try await company.orders().count == 20)
    }

    /// The token is exchanged while the daemon runs and a change waits.
    private func otherAccount(_ company: Companies) async throws {
        await company.switchboard.accept("token-2")
        let order = try #require(try await company.orders().first?["id"]?.string)
        let change = try await company.call("PATCH", "/v1/orders/\(order)", JSONText.object(["notes": "of company 1"]))
        #expect(change.status == 200)
        try company.put(token: "token-2")
        try await company.requestSync(until: "another account")
        let left = try company.bytes("repairminder-company-1.db")
        #expect(try company.current == "repairminder-company-2.db")
        #expect(try await company.command("pending", "--count").output == "0")
        #expect(try await company.command("sync", "--wait").status == 0)
        #expect(try await company.orders().count == 30)
        #expect(try company.bytes("repairminder-company-1.db") == left)
        #expect(try await company.writes(to: 1).isEmpty)
        #expect(try await company.writes(to: 2).isEmpty)
    }

    private func back(_ company: Companies) async throws {
        await company.switchboard.accept("token-1")
        try company.put(token: "token-1")
        try await company.requestSync(until: "another account")
        #expect(try company.current == "repairminder-company-1.db")
        #expect(try await company.command("sync", "--wait").status == 0)
        #expect(try await company.command("pending", "--count").output == "0")
        #expect(try await company.writes(to: 1).count == 1)
        #expect(try await company.writes(to: 2).isEmpty)
        await company.stop()
    }

    /// The same account at another address: nothing of the old cache is shown or touched, not even before the first call.
    private func otherUpstream(_ company: Companies) async throws {
        let left = try company.bytes("repairminder-company-1.db")
        try await company.configure(at: company.elsewhere)
        await company.elsewhere.accept()
        try await company.start()
        #expect(try company.current == "repairminder-new.db")
        #expect(try await company.orders().isEmpty)
        await company.elsewhere.accept("token-1")
        #expect(try await company.command("sync", "--wait").status == 0)
        await company.stop()
        try await company.start()
        #expect(try company.current.hasPrefix("repairminder-company-1@"))
        #expect(try await company.orders().count == 20)
        await company.stop()
        #expect(try company.bytes("repairminder-company-1.db") == left)
        try await company.configure(at: company.switchboard)
        try await company.start()
        #expect(try company.current == "repairminder-company-1.db")
    }
}

/// Two companies at one service, which can be reached at two addresses, and a daemon.
private actor Companies {
    let switchboard: Switchboard
    let elsewhere: Switchboard
    private let folder: URL
    private let upstreams: [Program]
    private let addresses: [String]
    private var daemon: Program?
    private let transport: CurlTransport
    private let local: CurlTransport

    init() async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "accounts-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var upstreams: [Program] = []
        var addresses: [String] = []
        for (account, rows) in [("company-1", "20"), ("company-2", "30")] {
            let upstream = try Program(
                "repairminder-upstream",
                [
                    "--schema", Shop.schema, "--listen", "127.0.0.1:0",
                    "--account", account, "--rows", rows,
                ])
            let line = try await upstream.line(containing: "listening on ")
            upstreams.append(upstream)
            addresses.append(String(line.split(separator: " ").last ?? ""))
        }
        (self.upstreams, self.addresses) = (upstreams, addresses)
        let targets = ["token-1": addresses[0], "token-2": addresses[1]]
        switchboard = try Switchboard(targets)
        elsewhere = try Switchboard(targets)
        transport = try CurlTransport(userAgent: "test")
        local = try CurlTransport(userAgent: "test", unixSocketPath: "\(folder.path)/api.sock")
        try await switchboard.open()
        try await elsewhere.open()
        try put(token: "token-1")
        try await configure(at: switchboard)
    }

    func configure(at service: Switchboard) async throws {
        let config = """
            schema: \(Shop.schema)
            state_dir: \(folder.path)/state
            upstream: { base_url: "\(await service.address)", token_file: \(folder.path)/token }
            sync: { interval: 24h }
            retry: { base: 100ms }
            listen: { tcp: "127.0.0.1:0", unix: \(folder.path)/api.sock }
            """
        try config.write(to: folder.appending(path: "config.yaml"), atomically: true, encoding: .utf8)
    }

    nonisolated func put(token: String) throws {
        let fresh = folder.appending(path: "token.new").path
        guard
            FileManager.default.createFile(
                atPath: fresh, contents: Data(token.utf8), attributes: [.posixPermissions: 0o600]),
            rename(fresh, folder.appending(path: "token").path) == 0
        else { throw Program.Failure(message: "the token could not be written") }
    }

    // MARK: The daemon

    func start() async throws {
        let daemon = try Program("repairminder-sync", ["run", "--config", "\(folder.path)/config.yaml"])
        self.daemon = daemon
        _ = try await daemon.line(containing: "api.sock")
    }

    func stop() async {
        await daemon?.signal(SIGTERM)
        _ = await daemon?.finish()
        daemon = nil
    }

    /// Asks for a sync and returns when the daemon has said `text` and listens again.
    func requestSync(until text: String) async throws {
        _ = try? await call("POST", "/v1/sync", JSONText.object([:]))
        _ = try await daemon?.line(containing: text)
        _ = try await daemon?.line(containing: "api.sock")
    }

    func command(_ arguments: String...) async throws -> (status: Int32, output: String) {
        let config = ["--config", "\(folder.path)/config.yaml"]
        return try await Program.run("repairminder-sync", [arguments[0]] + config + arguments.dropFirst())
    }

    func call(_ method: String, _ path: String, _ body: JSONText? = nil) async throws -> (status: Int, body: JSONText) {
        let request = HTTPRequest(
            method: method, url: "http://localhost\(path)",
            headers: body == nil ? [] : [HTTPHeader("Content-Type", "application/json")],
            body: body.map { Array($0.bytes) })
        let response = try await local.send(request)
        return (response.status, response.body.isEmpty ? .null : try JSONText(response.body))
    }

    func orders() async throws -> [JSONText] {
        try await call("GET", "/v1/orders?limit=1000").body["data"]?.elements ?? []
    }

    /// The file that `current.db` names.
    nonisolated var current: String {
        get throws {
            try FileManager.default.destinationOfSymbolicLink(atPath: folder.appending(path: "state/current.db").path)
        }
    }

    nonisolated func bytes(_ name: String) throws -> Data {
        try Data(contentsOf: folder.appending(path: "state/\(name)"))
    }

    /// The changes that an upstream has applied.
    func writes(to company: Int) async throws -> [JSONText] {
        let response = try await transport.send(HTTPRequest(url: "\(addresses[company - 1])/__admin/log"))
        let lines = try response.body.split(separator: UInt8(ascii: "\n")).map { try JSONText($0) }
        return lines.filter { $0["applied"]?.boolean == true }
    }

    func end() async {
        await daemon?.signal(SIGKILL)
        _ = await daemon?.finish()
        for upstream in upstreams {
            await upstream.signal(SIGKILL)
            _ = await upstream.finish()
        }
        await switchboard.close()
        await elsewhere.close()
        try? FileManager.default.removeItem(at: folder)
    }
}
