import Testing

@testable import EntitySchema

@Suite("Texts that are sent as they are written")
struct FixedTextTests {
    /// A schema whose sixth line is `text`.
    private func schema(_ text: String, settings: [String: String] = [:]) throws(SchemaError) -> EntitySchema {
        let yaml = """
            schema: small
            entities:
              orders: { fields: { id: { type: string } }, pull: { path: /orders } }
            upstream:
              base_url: http://localhost
              \(text)
            """
        return try EntitySchema(yaml: yaml, file: "small.yaml", settings: settings)
    }

    private static let refresh = "refresh: { call: POST /r, send: a, token: t }"

    @Test(
        "a value in braces is refused, with its line and key, where it would be sent as it is written",
        arguments: [
            (#"headers: { X-Key: "{$secret.k} {$key}" }"#, "headers.X-Key", "{$key}"),
            (#"probe: "/ping?k={$secret.k}""#, "probe", "{$secret.k}"),
            (#"headers: { X-Key: "a {$token} b" }"#, "headers.X-Key", "{$token}"),
            (#"headers: { X-Key: "{$account" }"#, "headers.X-Key", "{$account"),
            (#"account: { path: "/me/{$token}", id: id }"#, "account.path", "{$token}"),
            (#"probe: "/ping?at={$now}""#, "probe", "{$now}"),
            (#"auth: { logout: "/out/{$token}" }"#, "auth.logout", "{$token}"),
            (#"auth: { check: { call: "GET /me/{$account}" } }"#, "auth.check.call", "{$account}"),
            (#"auth: { refresh: { path: "/r/{$token}", send: a, token: t } }"#, "auth.refresh.path", "{$token}"),
            (
                #"auth: { session: { call: "POST /in/{$setup}", body: { p: "{$secret.p}" }, token: t } }"#,
                "auth.session.call", "{$setup}"
            ),
            (
                #"auth: { client_credentials: { token_url: "https://a.example/{$account}" } }"#,
                "auth.client_credentials.token_url", "{$account}"
            ),
            (
                #"auth: { \#(refresh), login: { in: [{ call: "POST /{$account}/in" }] } }"#, "auth.login.in.0.call",
                "{$account}"
            ),
            (#"signals: [{ sse: { path: "/s/{$account}", entity: orders } }]"#, "signals.0.sse.path", "{$account}"),
            (
                #"signals: [{ sse: { path: /s, query: { of: "{$account}" }, entity: orders } }]"#,
                "signals.0.sse.query.of", "{$account}"
            ),
            (
                #"signals: [{ sse: { path: /s, subscribe: { on: A, call: "POST /{$event.id}", body: {} }, entity: orders } }]"#,
                "signals.0.sse.subscribe.call", "{$event.id}"
            ),
            (
                #"signals: [{ events: { path: "/e/{$now}", since: { param: a, next: b }, entity: orders } }]"#,
                "signals.0.events.path", "{$now}"
            ),
            (
                #"signals: [{ events: { path: /e, query: { of: "{$now}" }, since: { param: a, next: b }, entity: orders } }]"#,
                "signals.0.events.query.of", "{$now}"
            ),
            (
                #"signals: [{ webhook: { path: "/h/{$account}", entity: orders, signature: { header: X } } }]"#,
                "signals.0.webhook.path", "{$account}"
            ),
        ])
    func refused(_ text: String, _ key: String, _ value: String) throws {
        let error = try #require(#expect(throws: SchemaError.self) { try schema(text) })
        #expect(error.line == 6 && error.key == "upstream.\(key)", "\(error)")
        #expect(error.problem.hasPrefix("\(value) cannot stand here; expected a fixed text"), "\(error)")
    }

    @Test("a header may have stored credentials, whose names are checked")
    func credentials() throws {
        let plan = try schema(#"headers: { X-A: "{$secret.a}", X-B: "k={$secret.b_2}, {$secret.a}" }"#).upstream
        #expect(plan.headerSecrets == ["a", "b_2"])
        let filled = plan.headers.map { $0.filled(with: ["a": "1", "b_2": "{$secret.a}"]).value }
        #expect(filled == ["1", "k={$secret.a}, 1"])
        for name in ["", "A", "a-b"] {
            let error = try #require(
                #expect(throws: SchemaError.self) { try schema("headers: { X-A: \"{$secret.\(name)}\" }") })
            #expect(error.problem.hasPrefix("$secret.\(name) names no credential"), "\(error)")
        }
    }

    @Test("a setting, and braces without a name of a value, stand where a text is fixed")
    func allowed() throws {
        let text = #"headers: { X-Tenant: "{$setting.tenant}", X-Filter: "{a}", X-Price: "$5" }"#
        let headers = try schema(text, settings: ["tenant": "north"]).upstream.headers
        #expect(headers.map(\.value) == ["north", "{a}", "$5"])
    }
}
