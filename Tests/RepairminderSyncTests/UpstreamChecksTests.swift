import EntitySchema
import TestSupport
import Testing
import Upstream

@testable import repairminder_sync

@Suite("What doctor checks at the upstream")
struct UpstreamChecksTests {
    /// `upstream` is that of the configuration.
    private func findings(_ upstream: String) async throws -> [Finding] {
        let folder = try TemporaryFolder()
        let schema = """
            schema: notes
            upstream: { pagination: { style: single } }
            entities: { notes: { fields: { id: { type: string } }, pull: { path: /notes } } }
            """
        let configuration = try folder.configuration(
            yaml: "schema: \(folder.write(schema, to: "notes.yaml"))\nupstream: { \(upstream) }\n")
        let finder = SchemaFinder(environment: folder.environment())
        let checks = try UpstreamChecks(
            configuration: configuration, schema: finder.schema(for: configuration), finder: finder,
            now: { Timestamp(milliseconds: 0) })
        return await checks.findings(withToken: false)
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
