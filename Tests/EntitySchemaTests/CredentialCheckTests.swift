import TestSupport
import Testing

@testable import EntitySchema

@Suite("Credentials in a schema")
struct CredentialCheckTests {
    /// A schema whose sixth line is a part of `upstream`, and its tenth one of `pull`.
    private func schema(
        _ upstream: String = "probe: /", _ pull: String = "path: /orders", settings: [String: String] = [:]
    ) throws(SchemaError) -> EntitySchema {
        let yaml = """
            schema: small
            # Comments count as lines.
            upstream:
              base_url: http://localhost
              records: data
              \(upstream)
            entities:
              orders:
                fields: { id: { type: string }, secret: { type: string, secret: true }, token: { type: string } }
                pull: { \(pull) }
                push: { create: { call: POST /orders, body: { id: id, apiKey: token, password: secret } } }
            """
        return try EntitySchema(yaml: yaml, file: "small.yaml", settings: settings)
    }

    @Test(
        "a literal is refused with its line, its key and what to write instead",
        arguments: [
            ("headers: { X-Api-Key: abc }", "headers.X-Api-Key", "auth: { send: { header: X-Api-Key } }"),
            ("headers: { X-Api-Key: abc }", "headers.X-Api-Key", #"a second one as "{$secret.x_api_key}""#),
            ("headers: { X-Shopify-Access-Token: abc }", "headers.X-Shopify-Access-Token", "upstream.token_file"),
            ("headers: { Cookie: session=abc }", "headers.Cookie", "Cookie looks like a credential"),
            ("probe: /ping?api_key=abc", "probe", "auth: { send: { query: api_key } }"),
            ("account: { path: \"/me?a=b&access_token=abc\", id: id }", "account.path", "access_token looks like"),
            (
                #"auth: { session: { call: POST /in, token: t, body: { user: "{$secret.user}", password: abc } } }"#,
                "auth.session.body.password", #"write "{$secret.password}", and store it as upstream.secrets.password"#
            ),
            (
                #"auth: { session: { call: POST /in, token: t, body: { a: [{ appKey: abc }], b: "{$secret.b}" } } }"#,
                "auth.session.body.a.0.appKey", "{$secret.appkey}"
            ),
            (
                #"auth: { session: { call: POST /in, token: t, basic: { user: "{$secret.u}", password: abc } } }"#,
                "auth.session.basic.password", "{$secret.password}"
            ),
            (
                #"auth: { session: { call: POST /in, token: t, headers: { X-Auth-Key: abc, X: "{$secret.u}" } } }"#,
                "auth.session.headers.X-Auth-Key", "{$secret.x_auth_key}"
            ),
            (
                "signals: [{ sse: { path: /s, query: { token: abc }, entity: orders } }]",
                "signals.0.sse.query.token", "token looks like a credential"
            ),
        ])
    func refused(_ text: String, _ key: String, _ problem: String) throws {
        let error = try #require(#expect(throws: SchemaError.self) { try schema(text) })
        #expect(error.line == 6 && error.key == "upstream.\(key)", "\(error)")
        #expect(error.problem.contains(problem), "\(error)")
    }

    @Test(
        "so is one in how an entity is read",
        arguments: [
            ("path: /orders, query: { key: a, apikey: abc }", "query.apikey"),
            ("path: /orders, query: { api_key: [abc] }", "query.api_key.0"),
            ("path: \"/orders?api_key=abc\"", "path"),
            ("call: POST /orders, body: { where: { client_secret: abc } }", "body.where.client_secret"),
        ])
    func refusedInPull(_ pull: String, _ key: String) throws {
        let error = try #require(#expect(throws: SchemaError.self) { try schema("probe: /", pull) })
        #expect(error.line == 10 && error.key == "entities.orders.pull.\(key)", "\(error)")
        #expect(error.problem.contains("looks like a credential, which must not stand in the schema"), "\(error)")
    }

    @Test("so is one after $text, among the names of fields")
    func refusedAmongFields() throws {
        let yaml = """
            schema: small
            upstream: { base_url: http://localhost }
            entities:
              orders:
                fields: { id: { type: string }, token: { type: string } }
                pull: { path: /orders }
                push:
                  create: { call: POST /orders, body: { $fields: { a: [{ token: token, api_key: { $text: abc } }] } } }
            """
        let error = try #require(
            #expect(throws: SchemaError.self) { try EntitySchema(yaml: yaml, file: "small.yaml") })
        #expect(error.line == 8 && error.problem.contains("api_key looks like a credential"), "\(error)")
    }

    @Test("a user in the address is refused")
    func address() throws {
        let yaml = """
            schema: small
            upstream: { base_url: "https://ada:secret@shop.example/api" }
            entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders } } }
            """
        let error = try #require(
            #expect(throws: SchemaError.self) { try EntitySchema(yaml: yaml, file: "small.yaml") })
        #expect(error.line == 2 && error.key == "upstream.base_url", "\(error)")
        #expect(error.problem.contains("auth: { send: { basic: true } }"), "\(error)")
    }

    @Test(
        "settings, stored credentials, names of fields, and what only sounds alike may stand there",
        arguments: [
            #"headers: { X-App-Key: "{$setting.app}", Idempotency: key }"#,
            #"auth: { session: { call: POST /in, token: t, body: { password: "{$secret.p}", grant_type: password } } }"#,
        ])
    func allowed(_ text: String) throws {
        let query = #"query: { sync_token: "*", page_token: a, with_secret: false, key: a }"#
        _ = try schema(text, "path: /orders, \(query)", settings: ["app": "a"])
    }

    @Test(
        "no example has one, and each can be read",
        arguments: ["api-key", "drf", "elasticsearch", "graphql", "jsonapi", "odata", "pocketbase", "rails"])
    func examples(_ name: String) throws {
        let yaml = try ProjectFiles.text("config/schemas/examples/\(name).yaml")
        let schema = try EntitySchema(yaml: yaml, file: name, settings: ["user": "ada"])
        #expect(!schema.entities.isEmpty)
    }
}
