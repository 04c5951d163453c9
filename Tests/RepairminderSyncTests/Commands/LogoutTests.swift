import EntitySchema
import TestSupport
import Testing

@testable import Upstream
@testable import repairminder_sync

@Suite("What logout says")
struct LogoutTests {
    private static func schema(auth: String) throws -> EntitySchema {
        let yaml = """
            schema: far
            upstream: { base_url: "http://far", auth: { \(auth) } }
            entities: { notes: { fields: { id: { type: string } }, pull: { path: /notes } } }
            """
        return try EntitySchema(yaml: yaml, file: "far.yaml")
    }

    private static let refresh = "refresh: { path: /token, send: r, token: token, refresh_token: r }"
    private static let session = #"session: { call: POST /login, body: { p: "{$secret.password}" }, token: token }"#

    @Test("that the token counts on is said whenever the upstream did not revoke it")
    func outcomes() {
        #expect(LogoutCommand.outcome(nil).joined().contains("not signed in"))
        #expect(LogoutCommand.outcome(.done) == ["signed out; the upstream no longer accepts the token"])
        for outcome in [SignOut.Revocation.notOffered, .failed("no network")] {
            let text = LogoutCommand.outcome(outcome).joined(separator: "\n")
            #expect(text.hasPrefix("signed out") && text.contains("accepts the token until it expires"))
        }
        #expect(LogoutCommand.outcome(.failed("no network")).contains("no network"))
    }

    @Test("a token file and stored credentials are named with their key; a sign-in has no other source")
    func otherSources() throws {
        let folder = try TemporaryFolder()
        let plain = try folder.configuration(yaml: "schema: far\n")
        #expect(LogoutCommand.otherSource(plain, try Self.schema(auth: Self.refresh)) == nil)
        let stored = try #require(LogoutCommand.otherSource(plain, try Self.schema(auth: Self.session)))
        #expect(stored.contains("upstream.secrets.password"))
        let fixed = try folder.configuration(yaml: "schema: far\nupstream: { token_file: /etc/token }\n")
        let file = try #require(LogoutCommand.otherSource(fixed, try Self.schema(auth: Self.refresh)))
        #expect(file.contains("/etc/token") && file.contains("upstream.token_file"))
    }
}
