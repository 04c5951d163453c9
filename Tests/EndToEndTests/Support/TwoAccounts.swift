import Foundation
import JSONText
import Testing
import Upstream

/// Two accounts at one upstream, which has two addresses, and a daemon.
actor TwoAccounts {
    let router: TokenRouter
    let elsewhere: TokenRouter
    private let schema: String
    private let folder: URL
    private let upstreams: [Program]
    private let addresses: [String]
    private var daemon: Program?
    private let transport: CurlTransport
    private let local: CurlTransport

    /// The first account has 20 rows, the second 30.
    init(schema name: String = "repairminder") async throws {
        schema = Shop.path(ofSchema: name)
        folder = FileManager.default.temporaryDirectory.appending(path: "accounts-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var upstreams: [Program] = []
        var addresses: [String] = []
        for (account, rows) in [("company-1", "20"), ("company-2", "30")] {
            let upstream = try Program(
                "repairminder-upstream",
                [
                    "--schema", schema, "--listen", "127.0.0.1:0",
                    "--account", account, "--rows", rows, "--seed", rows,
                ])
            let line = try await upstream.line(containing: "listening on ")
            upstreams.append(upstream)
            addresses.append(String(line.split(separator: " ").last ?? ""))
        }
        (self.upstreams, self.addresses) = (upstreams, addresses)
        let targets = ["token-1": addresses[0], "token-2": addresses[1]]
        router = try TokenRouter(targets)
        elsewhere = try TokenRouter(targets)
        transport = try CurlTransport(userAgent: "test")
        local = try CurlTransport(userAgent: "test", unixSocketPath: "\(folder.path)/api.sock")
        try await router.open()
        try await elsewhere.open()
        try put(token: "token-1")
        try await configure(at: router)
    }

    func configure(at service: TokenRouter) async throws {
        let config = """
            schema: \(schema)
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

    /// Requests a sync and returns once the daemon has logged `text` and listens again.
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

    func records(of entity: String) async throws -> [JSONText] {
        try await call("GET", "/v1/\(entity)?limit=1000").body["data"]?.elements ?? []
    }

    /// The file that `current.db` points to.
    nonisolated var current: String {
        get throws {
            try FileManager.default.destinationOfSymbolicLink(atPath: folder.appending(path: "state/current.db").path)
        }
    }

    nonisolated func bytes(_ name: String) throws -> Data {
        try Data(contentsOf: folder.appending(path: "state/\(name)"))
    }

    /// The changes that an upstream has applied.
    func writes(to account: Int) async throws -> [JSONText] {
        let response = try await transport.send(HTTPRequest(url: "\(addresses[account - 1])/__admin/log"))
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
        await router.close()
        await elsewhere.close()
        try? FileManager.default.removeItem(at: folder)
    }
}

extension TwoAccounts {
    /// Two accounts take turns at one daemon: neither sees a record of the other, and each finds its own again.
    static func seesNothing(_ schema: String, entities: [String]) async throws {
        let accounts = try await TwoAccounts(schema: schema)
        let result: Result<Void, any Error>
        do { result = .success(try await accounts.takeTurns(entities)) } catch { result = .failure(error) }
        await accounts.end()
        try result.get()
    }

    private func takeTurns(_ entities: [String]) async throws {
        try await start()
        #expect(try await command("sync", "--wait").status == 0)
        let first = try await texts(entities)
        await router.accept("token-2")
        try put(token: "token-2")
        try await requestSync(until: "another account")
        #expect(try await command("sync", "--wait").status == 0)
        let second = try await texts(entities)
        for entity in entities {
            let (one, other) = (first[entity] ?? [], second[entity] ?? [])
            #expect(!one.isEmpty && !other.isEmpty && one.isDisjoint(with: other), "\(entity)")
        }
        await router.accept("token-1")
        try put(token: "token-1")
        try await requestSync(until: "another account")
        #expect(try await command("sync", "--wait").status == 0)
        #expect(try await texts(entities) == first)
        await stop()
    }

    private func texts(_ entities: [String]) async throws -> [String: Set<String>] {
        var texts: [String: Set<String>] = [:]
        for entity in entities {
            texts[entity] = Set(try await records(of: entity).map { $0.members.first?.value.plain ?? "" })
        }
        return texts
    }
}
