import JSONText
import Testing

@testable import EntitySchema

@Suite("How a token is refreshed")
struct RefreshTests {
    private static func upstream(_ auth: String) throws -> UpstreamPlan {
        let yaml = """
            schema: small
            upstream:
              base_url: http://localhost
              auth: { \(auth) }
            entities:
              notes: { fields: { id: { type: string } }, pull: { path: /notes } }
            """
        return try EntitySchema(yaml: yaml, file: "small.yaml").upstream
    }

    private static func sent(_ refresh: String) throws -> WireRequest {
        let call = try #require(try upstream("refresh: { \(refresh) }").refresh?.call)
        return call.request(secrets: ["client_id": "me", "client_secret": "s 1"], refreshToken: "r/1")
    }

    @Test(
        "a token_url is OAuth 2 as the standard has it, with the client in HTTP Basic or in the form",
        arguments: [
            ("", "grant_type=refresh_token&refresh_token=r%2F1", "Basic bWU6cyUyMDE="),
            (
                ", in: body, scope: read",
                "grant_type=refresh_token&refresh_token=r%2F1&client_id=me&client_secret=s%201&scope=read", nil
            ),
            (", client_secret: none", "grant_type=refresh_token&refresh_token=r%2F1&client_id=me", nil),
        ])
    func standard(_ more: String, _ body: String, _ basic: String?) throws {
        let sent = try Self.sent("token_url: https://login.example/token\(more)")
        #expect(sent.path == "https://login.example/token" && sent.method == "POST")
        #expect(sent.text == body)
        #expect(sent.headers.first { $0.name == "Authorization" }?.value == basic)
        #expect(sent.headers.contains(.init("Content-Type", "application/x-www-form-urlencoded")))
        #expect(sent.secrets.contains("r/1") && sent.secrets.contains("s 1"))
        #expect(sent.secretMembers == ["access_token", "refresh_token"])
    }

    @Test("the standard names are where the answer has the tokens, unless the schema says otherwise")
    func places() throws {
        let refresh = try #require(try Self.upstream("refresh: { token_url: /token }").refresh)
        #expect(refresh.token == Place(paths: ["access_token"]))
        #expect(refresh.refreshToken == Place(paths: ["refresh_token"]))
        #expect(refresh.expiry == .place(Place(paths: ["expires_in"])))
        let other = try #require(try Self.upstream("refresh: { token_url: /token, token: data.t }").refresh)
        #expect(other.token == Place(paths: ["data.t"]))
    }

    @Test("without another sign-in, the first refresh token is a stored credential")
    func first() throws {
        let plan = try Self.upstream("refresh: { token_url: /token }")
        #expect(plan.session?.secretNames == ["client_id", "client_secret", "refresh_token"])
        let sent = plan.session?.request(secrets: ["refresh_token": "r"])
        #expect(sent?.text == "grant_type=refresh_token&refresh_token=r")
        #expect(plan.session?.refreshToken == Place(paths: ["refresh_token"]))
        let login = "login: { a: [{ call: POST /x, ask: { code: C } }] }"
        #expect(try Self.upstream("refresh: { token_url: /token }, \(login)").session == nil)
    }

    @Test(
        "a body of its own, and a form",
        arguments: [
            (
                #"call: POST /r, body: { a: { b: "{$refresh_token}" }, c: "{$secret.client_id}" }, token: t"#,
                #"{"a":{"b":"r/1"},"c":"me"}"#
            ),
            (#"call: POST /r, body: { b: "{$refresh_token}" }, encoding: form, token: t"#, "b=r%2F1"),
            ("call: POST /r, send: old, encoding: form, token: t", "old=r%2F1"),
        ])
    func bodies(_ refresh: String, _ body: String) throws {
        let sent = try Self.sent(refresh)
        #expect((sent.text ?? sent.body?.text) == body)
    }

    @Test(
        "a refresh that sends nothing, or says one thing twice, is refused",
        arguments: [
            ("call: POST /r, body: { a: b }, token: t", "expected {$refresh_token}"),
            (#"call: POST /r, body: { a: "{$refresh_token}" }, send: b, token: t"#, "remove send"),
            (#"call: POST /r, with: access, encoding: form, token: t"#, "with: access"),
            ("token_url: http://other.example/t", "without encryption"),
            ("token_url: /t, client_secret: none, in: basic", "no HTTP Basic"),
            ("token_url: /t, send: a", "send"),
        ])
    func refused(_ refresh: String, _ problem: String) {
        let error = #expect(throws: SchemaError.self) { try Self.upstream("refresh: { \(refresh) }") }
        #expect(error?.description.contains(problem) == true, "\(error?.description ?? "accepted")")
    }
}
