import EntitySchema
import TestSupport
import Testing
import Upstream

@testable import repairminder_sync

@Suite("What doctor checks at the upstream")
struct UpstreamChecksTests {
    /// `upstream` is that of the configuration.
    private func findings(_ upstream: String) async throws -> [Finding] {
        try await checks(upstream).findings(withToken: false)
    }

    private func checks(_ upstream: String) throws -> UpstreamChecks {
        let folder = try TemporaryFolder()
        let schema = """
            schema: notes
            upstream: { pagination: { style: single } }
            entities: { notes: { fields: { id: { type: string } }, pull: { path: /notes } } }
            """
        let configuration = try folder.configuration(
            yaml: "schema: \(folder.write(schema, to: "notes.yaml"))\nupstream: { \(upstream) }\n")
        let finder = SchemaFinder(environment: folder.environment())
        return try UpstreamChecks(
            configuration: configuration, schema: finder.schema(for: configuration), finder: finder,
            now: { Timestamp(milliseconds: 0) })
    }

    @Test("a name without an address is an error with the command that shows why")
    func name() async throws {
        // Too long to be looked up.
        let host = String(repeating: "a", count: 70) + ".test"
        let found = try #require(try await findings("base_url: \"https://\(host)\"").first)
        #expect(found.check == "dns" && found.level == .error)
        #expect(found.message.contains("\(host) has no address"))
        #expect(found.advice?.contains("getent hosts \(host)") == true)
    }

    @Test("a missing address is a warning, and one that nothing answers an error")
    func unreachable() async throws {
        #expect(try await findings("parallel: 1").map(\.level) == [.warning])
        // The port of discard, which nothing serves.
        let found = try await findings("base_url: \"http://127.0.0.1:9\"")
        #expect(found.map(\.check) == ["upstream"] && found.map(\.level) == [.error])
    }

    @Test("a probe without an address says which key to set")
    func probeWithoutAddress() async throws {
        let found = try await checks("parallel: 1").probed()
        #expect(found.map(\.level) == [.error] && found[0].advice?.contains("upstream.base_url") == true, "\(found)")
    }

    /// Answers each path with a JSON text, and any other with an error.
    private struct Answers: HTTPTransport {
        let site: [String: String]
        var status = 404

        func send(_ request: HTTPRequest) -> HTTPResponse {
            let path = request.url.dropFirst("http://127.0.0.1:9".count).prefix { $0 != "?" }
            let headers = [HTTPHeader("Content-Type", "application/json")]
            return site[String(path)].map { HTTPResponse(status: 200, headers: headers, body: Array($0.utf8)) }
                ?? HTTPResponse(status: status, headers: headers, body: Array(#"{"error":"no such path"}"#.utf8))
        }
    }

    @Test("if a failing upstream does not name the account, the token is not blamed", arguments: [401, 404, 503])
    func account(status: Int) async throws {
        let folder = try TemporaryFolder()
        let schema = #"""
            schema: notes
            upstream: { base_url: "http://127.0.0.1:9", account: { path: /me, id: id }, pagination: { style: single } }
            entities: { notes: { fields: { id: { type: string } }, pull: { path: /notes } } }
            """#
        let configuration = try folder.configuration(yaml: "schema: \(folder.write(schema, to: "notes.yaml"))\n")
        let finder = SchemaFinder(environment: folder.environment())
        var checks = try UpstreamChecks(
            configuration: configuration, schema: finder.schema(for: configuration), finder: finder,
            now: { Timestamp(milliseconds: 0) })
        checks.transport = Answers(site: [:], status: status)
        let found = try #require(await checks.findings(withToken: true).first { $0.check == "account" })
        #expect(found.level == (status == 503 ? .warning : .error))
        #expect(found.advice?.contains("token") == (status != 503))
    }

    @Test("a stored token that has expired is the daemon's to renew, which may run already")
    func expiredToken() async throws {
        let folder = try TemporaryFolder()
        let schema = #"""
            schema: notes
            upstream:
              base_url: "http://127.0.0.1:9"
              account: { path: /me, id: id }
              pagination: { style: single }
              auth: { type: bearer, refresh: { path: /token, send: refresh, token: token, refresh_token: refresh } }
            entities: { notes: { fields: { id: { type: string } }, pull: { path: /notes } } }
            """#
        let configuration = try folder.configuration(
            yaml: "schema: \(folder.write(schema, to: "notes.yaml"))\nstate_dir: \(folder.path)\n")
        try TokenStore(path: configuration.signInFile)
            .save(Tokens(access: "old", refresh: "r1", expiresAt: Timestamp(milliseconds: 0)))
        let finder = SchemaFinder(environment: folder.environment())
        var checks = try UpstreamChecks(
            configuration: configuration, schema: finder.schema(for: configuration), finder: finder,
            now: { Timestamp(milliseconds: 1) })
        checks.transport = Answers(site: [:], status: 401)
        let found = try #require(await checks.findings(withToken: true).first { $0.check == "account" })
        #expect(found.level == .warning && found.advice?.hasPrefix("a running daemon gets a new one") == true)
        #expect(found.advice?.contains("repairminder-sync login --config \(folder.path("config.yaml"))") == true)
    }

    /// What is said of the lists.
    private func lists(_ site: [String: String]) async throws -> [Finding] {
        let folder = try TemporaryFolder()
        let schema = #"""
            schema: notes
            upstream: { base_url: "http://127.0.0.1:9", records: data, pagination: { style: single } }
            entities:
              notes: { fields: { id: { type: string } }, pull: { path: /notes, record: none } }
              parts: { fields: { id: { type: string } }, pull: { path: /parts, record: none } }
            """#
        let configuration = try folder.configuration(yaml: "schema: \(folder.write(schema, to: "notes.yaml"))\n")
        let finder = SchemaFinder(environment: folder.environment())
        var checks = try UpstreamChecks(
            configuration: configuration, schema: finder.schema(for: configuration), finder: finder,
            now: { Timestamp(milliseconds: 0) })
        checks.transport = Answers(site: site)
        let others = ["upstream", "tls", "clock", "account"]
        return await checks.findings(withToken: true).filter { !others.contains($0.check) }
    }

    @Test("lists that are as the schema expects are one finding")
    func expectedLists() async throws {
        let found = try await lists(["/notes": #"{"data":[{"id":"a"}]}"#, "/parts": #"{"data":[{"id":"p"}]}"#])
        #expect(found.map(\.check) == ["lists"] && found.map(\.level) == [.ok], "\(found.map(\.text))")
    }

    @Test("of several lists, only what differs is said, for each entity")
    func differentLists() async throws {
        let found = try await lists(["/notes": #"{"items":[{"id":"a"}]}"#, "/parts": #"{"data":[{"id":"p"}]}"#])
        #expect(!found.isEmpty && found.allSatisfy { $0.level != .ok }, "\(found.map(\.text))")
        #expect(found.contains { $0.text.contains("notes") && $0.text.contains("items") }, "\(found.map(\.text))")
        #expect(!found.contains { $0.text.contains("parts") }, "\(found.map(\.text))")
        let missing = try await lists(["/notes": #"{"data":[{"id":"a"}]}"#])
        #expect(missing.contains { $0.level == .error && $0.text.contains("/parts") }, "\(missing.map(\.text))")
    }

    @Test(
        "a clock that differs by more than a minute is a warning",
        arguments: [
            ("Sat, 21 Nov 2026 10:42:00 GMT", 0, Finding.Level.ok), ("Sat, 21 Nov 2026 10:42:00 GMT", 60, .ok),
            ("Sat, 21 Nov 2026 10:42:00 GMT", 61, .warning), ("Sat, 21 Nov 2026 10:42:00 GMT", -61, .warning),
            ("yesterday", 0, .warning),
        ])
    func clock(date: String, behind seconds: Int, level: Finding.Level) throws {
        let noon = try #require(Timestamp(httpDate: "Sat, 21 Nov 2026 10:42:00 GMT"))
        let response = HTTPResponse(status: 200, headers: [HTTPHeader("Date", date)])
        let found = UpstreamChecks.clock(response, noon + .seconds(-seconds))
        #expect(found.check == "clock" && found.level == level, "\(found.message)")
        if level == .warning, date != "yesterday" { #expect(found.message.contains("\(seconds) s ahead")) }
    }
}
