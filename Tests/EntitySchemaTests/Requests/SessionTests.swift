import JSONText
import Testing

@testable import EntitySchema

@Suite("Sessions in schema files")
struct SessionTests {
    private static func upstream(_ auth: String, settings: [String: String] = [:]) throws -> UpstreamPlan {
        let yaml = """
            schema: small
            upstream:
              base_url: http://localhost
              auth: \(auth)
            entities:
              notes: { fields: { id: { type: string } }, pull: { path: /notes } }
            """
        return try EntitySchema(yaml: yaml, file: "small.yaml", settings: settings).upstream
    }

    @Test("a session's body has settings, credentials and constants, each with its type")
    func body() throws {
        let call = try #require(
            try Self.upstream(
                """
                { session: { call: POST /in, headers: { X-App: "{$secret.app}" }, token: a.token, expires: jwt, body: {
                    user: "{$setting.user}", days: 7, ok: true, deep: { list: ["{$secret.password}", "x{$secret.app}"] } } } }
                """, settings: ["user": "ada"]
            ).session)
        #expect(call.secretNames == ["app", "password"] && call.expiry == .jwt)
        let request = call.request(secrets: ["app": "A", "password": "p\"w"])
        #expect(
            request.body?.text
                == #"{"user":"ada","days":7,"ok":true,"deep":{"list":["p\"w","xA"]}}"#)
        #expect(request.headers.contains(WireRequest.Header("X-App", "A")))
        #expect(request.secretMembers == ["token"] && request.secrets.contains("p\"w"))
    }

    @Test("a session can be sent as a form")
    func form() throws {
        let call = try #require(
            try Self.upstream(
                "{ session: { call: POST /in, encoding: form, token: t, body: { password: '{$secret.p}' } } }"
            ).session)
        let request = call.request(secrets: ["p": "a&b c"])
        #expect(request.text == "password=a%26b%20c" && request.body == nil)
        #expect(Set(["a&b c", "a%26b%20c", "a%26b+c", "a&amp;b c"]).isSubset(of: request.secrets))
    }

    @Test("client credentials are a form with HTTP Basic, or with both in the body")
    func clientCredentials() throws {
        let plain = try #require(
            try Self.upstream("{ client_credentials: { token_url: /token, scope: read } }").session)
        let secrets = ["client_id": "my app", "client_secret": "s:1"]
        let request = plain.request(secrets: secrets)
        #expect(request.path == "/token" && request.text == "grant_type=client_credentials&scope=read")
        // base64("my%20app:s%3A1")
        #expect(request.headers.contains(WireRequest.Header("Authorization", "Basic bXklMjBhcHA6cyUzQTE=")))
        #expect(request.secrets.contains("bXklMjBhcHA6cyUzQTE="))
        #expect(plain.token == Place(paths: ["access_token"]) && plain.expiry == .place(Place(paths: ["expires_in"])))
        let inBody = try #require(
            try Self.upstream(
                """
                { client_credentials: { token_url: "https://login.example.com/token", in: body, client_id: "{$setting.client}",
                    audience: api, parameters: { resource: r } } }
                """, settings: ["client": "c1"]
            ).session)
        #expect(inBody.isElsewhere)
        #expect(
            inBody.request(secrets: secrets).text
                == "grant_type=client_credentials&client_id=c1&client_secret=s%3A1&audience=api&resource=r")
    }

    @Test("a refresh can send the access token itself")
    func access() throws {
        let refresh = try #require(
            try Self.upstream("{ refresh: { call: POST /r, with: access, token: t } }").refresh)
        let request = refresh.request(carrying: "old", at: .bearer)
        #expect(request.path == "/r" && request.body == nil && request.secrets == ["old"])
        #expect(request.headers.contains(WireRequest.Header("Authorization", "Bearer old")))
    }

    @Test(
        "what a session, a refresh or a check says wrongly is refused",
        arguments: [
            ("{ session: { call: POST /in, token: t, body: { a: b } } }", "{$secret.name}"),
            ("{ session: { call: GET /in, token: t, body: { a: '{$secret.p}' } } }", "expected POST and a path"),
            (
                "{ session: { call: POST http://a.example/in, token: t, body: { a: '{$secret.p}' } } }",
                "without encryption"
            ),
            ("{ session: { call: POST http://127.evil.example/in, token: t, body: { a: '{$secret.p}' } } }", "without"),
            (
                "{ session: { call: POST https://u@a.example/in, token: t, body: { a: '{$secret.p}' } } }",
                "expected a path"
            ),
            ("{ session: { call: POST /in, token: t, body: { a: '{$secret.P}' } } }", "lower-case"),
            ("{ session: { call: POST /in, token: t, body: { a: '{$since}' } } }", "cannot stand here"),
            ("{ session: { call: POST /in, tokn: t } }", "did you mean token?"),
            ("{ session: { call: POST /in, token: t, encoding: xml, body: { a: '{$secret.p}' } } }", "json or form"),
            (
                "{ session: { call: POST /in, token: t, body: { a: '{$secret.p}' } }, client_credentials: { token_url: /t } }",
                "one way to sign in"
            ),
            ("{ client_credentials: { token_url: /t, in: header } }", "basic (the default) or body"),
            ("{ client_credentials: { token_url: /t, client_secret: abc } }", "expected a stored one"),
            ("{ client_credentials: { token_url: /t, parameters: { grant_type: x } } }", "sent already"),
            ("{ send: { basic: true }, client_credentials: { token_url: /t } }", "not a user:password"),
            ("{ refresh: { path: /r, with: refresh, token: t } }", "expected access"),
            ("{ refresh: { path: /r, with: access, send: a, token: t } }", "remove send"),
            ("{ refresh: { path: /r, call: POST /r, send: a, token: t } }", "remove path"),
            ("{ refresh: { path: /r, send: a, token: t, expires: e, expires_in: e } }", "remove expires_in"),
            ("{ check: { call: DELETE /me } }", "expected GET"),
            ("{ check: { path: /me } }", "unknown key path"),
        ])
    func refusals(_ auth: String, _ message: String) {
        expectRefusal(message) { try Self.upstream(auth) }
    }

    @Test("an address on this machine needs no TLS", arguments: ["127.0.0.1:8080", "localhost", "[::1]:1"])
    func loopback(_ host: String) throws {
        let plan = try Self.upstream("{ client_credentials: { token_url: 'http://\(host)/t' } }")
        #expect(plan.session?.address == "http://\(host)/t")
    }
}
