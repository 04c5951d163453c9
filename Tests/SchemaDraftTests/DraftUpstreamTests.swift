import EntitySchema
import Testing

@testable import SchemaDraft

@Suite("Drafting the upstream")
struct DraftUpstreamTests {
    private func draft(_ rest: [String], _ more: String = "") throws -> SchemaDraft {
        let thing = "Thing: { type: object, properties: { id: { type: integer } } }"
        return try SchemaDraft.of(
            SmallDocument(
                schemas: [thing], paths: ["/things: { \(SmallDocument.list("Thing", more)) }"], rest: rest
            ).text)
    }

    /// With security schemes, which stand beside the schemas.
    private func signIn(_ schemes: String, _ security: String) throws -> SchemaDraft {
        let text =
            SmallDocument(
                schemas: ["Thing: { type: object, properties: { id: { type: integer } } }"],
                paths: ["/things: { \(SmallDocument.list("Thing")) }"]
            ).text
        let components = "components:\n  securitySchemes: { \(schemes) }"
        return try SchemaDraft.of(
            text.replacing("components:", with: components) + "\nsecurity: [{ \(security) }]\n")
    }

    @Test(
        "An address that only shows how one looks is left out",
        arguments: [
            "https://your-shop.com/api", "https://subdomain.shop.com", "http://localhost/api", "https://unknown",
            "https://api.example.com",
        ])
    func sample(_ address: String) throws {
        let draft = try draft(["servers: [{ url: \"\(address)\" }]"])
        #expect(draft.schema.upstream.baseURL == nil)
        #expect(draft.yaml.contains("TODO base_url"))
    }

    @Test("Of several addresses, the first encrypted one that can be called is taken")
    func several() throws {
        let draft = try draft([
            "servers: [{ url: \"http://localhost/api\" }, { url: \"http://a.shop.com\" }, { url: \"https://b.shop.com\" }]"
        ])
        #expect(draft.schema.upstream.baseURL == "https://b.shop.com")
    }

    @Test(
        "An address to try the API at comes after the others",
        arguments: ["https://api-sandbox.shop.com", "https://www.demo.shop.com/v1", "https://api.shop.com/sandbox"])
    func trials(_ address: String) throws {
        let both = try draft(["servers: [{ url: \"\(address)\" }, { url: \"https://api.shop.dev/v1\" }]"])
        #expect(both.schema.upstream.baseURL == "https://api.shop.dev/v1")
        #expect(!both.yaml.contains("TODO base_url"))
        let only = try draft(["servers: [{ url: \"\(address)\" }]"])
        #expect(only.schema.upstream.baseURL == address)
        #expect(only.todos.contains { $0.contains("base_url") && $0.contains("for trials") })
    }

    @Test("An address that grows without end by variables in its variables is left out")
    func endless() throws {
        let many = { (name: String) in String(repeating: "{\(name)}", count: 500) }
        let draft = try draft([
            """
            servers:
              - url: https://a.shop.com/\(many("a"))
                variables:
                  a: { default: "\(many("b"))" }
                  b: { default: "\(many("c"))" }
                  c: { default: "\(many("d"))" }
              - url: https://{host}.shop.com
                variables: { host: { default: b } }
            """
        ])
        #expect(draft.schema.upstream.baseURL == "https://b.shop.com")
    }

    /// Things that are answered in these forms of JSON, the last of which have their list in a member.
    private func answered(_ types: [String]) throws -> SchemaDraft {
        let members = "\"@id\": { type: string }, id: { type: integer }, name: { type: string }"
        let thing = "$ref: \"#/components/schemas/Thing\""
        let content = types.map { type in
            let list = "type: array, items: { \(thing) }"
            let whole = type == "application/json" ? list : "type: object, properties: { member: { \(list) } }"
            return "\(type): { schema: { \(whole) } }"
        }
        let answer = "{ description: ok, content: { \(content.joined(separator: ", ")) } }"
        return try SchemaDraft.of(
            SmallDocument(
                schemas: ["Thing: { type: object, properties: { \(members) } }"],
                paths: [
                    "/things: { get: { responses: { \"200\": \(answer) } } }",
                    "/things/{id}: { \(SmallDocument.single("Thing")) }",
                ]
            ).text)
    }

    @Test("Of several forms of JSON, the draft describes what the daemon asks for")
    func plainJSON() throws {
        let draft = try answered(["application/ld+json", "application/json"])
        #expect(!draft.yaml.contains("records: member"), "\(draft.yaml)")
        #expect(!draft.yaml.contains("Accept:"))
    }

    @Test("If there is only another one, it asks for that")
    func otherJSON() throws {
        let draft = try answered(["application/ld+json"])
        #expect(draft.yaml.contains("Accept: \"application/ld+json, application/json;q=0.9\""), "\(draft.yaml)")
        #expect(draft.yaml.contains("records: member"))
        #expect(draft.schema["things"]?.pull?.single.path.source == "/things/{id}")
    }

    @Test("Lines of JSON are not asked for, because they are no list that the daemon reads")
    func lines() throws {
        #expect(try !answered(["application/x-ndjson"]).yaml.contains("Accept:"))
    }

    @Test("The word before the token is the one that the document shows")
    func word() throws {
        let draft = try signIn(
            "key: { type: apiKey, in: header, name: Authorization, description: \"Send `Authorization: SSWS {token}`\" }",
            "key: []")
        #expect(draft.schema.upstream.tokenPlace == .header(name: "Authorization", before: "SSWS ", after: ""))
    }

    @Test("Of two headers that are needed together, the secret one has the token and the other is a setting")
    func pair() throws {
        let draft = try signIn(
            "id: { type: apiKey, in: header, name: X-App-Id }, token: { type: apiKey, in: header, name: X-App-Token }",
            "id: [], token: []")
        #expect(draft.schema.upstream.tokenPlace == .header(name: "X-App-Token", before: "", after: ""))
        #expect(draft.settings == ["x_app_id"])
        #expect(draft.yaml.contains("X-App-Id: \"{$setting.x_app_id}\""))
    }

    @Test("Of two secret headers that are needed together, one has the token and the other is a stored credential")
    func secretPair() throws {
        let draft = try signIn(
            "key: { type: apiKey, in: header, name: X-App-Key }, token: { type: apiKey, in: header, name: X-App-Token }",
            "key: [], token: []")
        #expect(draft.schema.upstream.tokenPlace == .header(name: "X-App-Token", before: "", after: ""))
        #expect(draft.schema.upstream.headerSecrets == ["x_app_key"], "\(draft.yaml)")
        #expect(draft.settings.isEmpty)
    }

    @Test("A header that only names the user goes along with the one that has the token, even as its alternative")
    func userAndToken() throws {
        let user = "user: { type: apiKey, in: header, name: X-Auth-User }"
        let token = "token: { type: apiKey, in: header, name: X-Auth-Token }"
        let draft = try signIn("\(user), \(token)", "user: [] }, { token: []")
        #expect(draft.schema.upstream.tokenPlace == .header(name: "X-Auth-Token", before: "", after: ""))
        #expect(draft.settings == ["x_auth_user"], "\(draft.yaml)")
        let only = try signIn("\(user), key: { type: apiKey, in: query, name: key }", "user: []")
        #expect(only.schema.upstream.tokenPlace == .header(name: "X-Auth-User", before: "", after: ""))
    }

    @Test("Two headers that only one of several calls needs are not needed for all")
    func rarePair() throws {
        let both = "security: [{ id: [], token: [] }],"
        let text =
            SmallDocument(
                schemas: ["Thing: { type: object, properties: { id: { type: integer } } }"],
                paths: [
                    "/parts: { \(SmallDocument.list("Thing", both)) }", "/things: { \(SmallDocument.list("Thing")) }",
                    "/tools: { \(SmallDocument.list("Thing")) }",
                ]
            ).text
        let schemes =
            "id: { type: apiKey, in: header, name: X-App-Id }, token: { type: apiKey, in: header, name: X-App-Token }"
        let draft = try SchemaDraft.of(
            text.replacing("components:", with: "components:\n  securitySchemes: { \(schemes) }")
                + "\nsecurity: [{ token: [] }]\n")
        #expect(draft.schema.upstream.tokenPlace == .header(name: "X-App-Token", before: "", after: ""))
        #expect(draft.settings.isEmpty)
    }

    @Test("A sign-in for programs is taken only if people have none")
    func programs() throws {
        let flow = "tokenUrl: \"https://a.shop.com/token\", scopes: {}"
        let both = try signIn(
            "o: { type: oauth2, flows: { clientCredentials: { \(flow) }, authorizationCode: { \(flow) } } }", "o: []")
        #expect(!both.yaml.contains("client_credentials"))
        let only = try signIn("o: { type: oauth2, flows: { clientCredentials: { \(flow) } } }", "o: []")
        #expect(only.yaml.contains("client_credentials"))
    }

    // MARK: Headers

    private func headers(_ header: String) throws -> SchemaDraft {
        try draft([], "parameters: [{ in: header, required: true, \(header) }],")
    }

    @Test("A header that most lists need and the document has no value for is a setting")
    func header() throws {
        let draft = try headers("name: X-Tenant, schema: { type: string }")
        #expect(draft.yaml.contains("X-Tenant: \"{$setting.x_tenant}\""))
        #expect(draft.settings == ["x_tenant"])
    }

    @Test("A header with a version has the value that the document shows")
    func versionHeader() throws {
        let draft = try headers("name: Api-Version, example: \"2026-01\", schema: { type: string }")
        #expect(draft.yaml.contains("Api-Version: \"2026-01\""))
        #expect(draft.settings.isEmpty)
    }

    @Test("A header that only one of several calls needs is marked")
    func rareHeader() throws {
        let thing = "Thing: { type: object, properties: { id: { type: integer } } }"
        let from = "parameters: [{ name: From, in: header, required: true, schema: { type: string } }],"
        let draft = try SchemaDraft.of(
            SmallDocument(
                schemas: [thing],
                paths: [
                    "/things: { \(SmallDocument.list("Thing")) }", "/others: { \(SmallDocument.list("Thing", from)) }",
                ]
            ).text)
        #expect(draft.yaml.contains("TODO headers: { From: … }: GET /others needs it"))
    }

    @Test(
        "The header of the token and the type of the body are no headers to set",
        arguments: ["X-Api-Token", "contentType"])
    func ownHeader(_ name: String) throws {
        let text =
            SmallDocument(
                schemas: ["Thing: { type: object, properties: { id: { type: integer } } }"],
                paths: [
                    "/things: { \(SmallDocument.list("Thing", "parameters: [{ name: \(name), in: header, required: true, schema: { type: string } }],")) }"
                ]
            ).text
        let draft = try SchemaDraft.of(
            text.replacing(
                "components:",
                with: "components:\n  securitySchemes: { key: { type: apiKey, in: header, name: X-API-TOKEN } }"))
        #expect(!draft.yaml.contains("TODO headers"))
        #expect(draft.settings.isEmpty)
    }

    // MARK: The word before the token

    @Test(
        "The word before the token is that of the scheme's description, of its name or of the document",
        arguments: [
            (
                "key: { type: apiKey, in: header, name: Authorization, description: 'Token-based, with required prefix \"Token\"' }",
                "Token "
            ),
            ("jwtAuth: { type: apiKey, in: header, name: Authorization }", "Bearer "),
            ("BearerAuth: { type: apiKey, in: header, name: Authorization }", "Bearer "),
            ("key: { type: http, scheme: Token }", "Token "),
            (
                "key: { type: apiKey, in: header, name: Authorization, description: 'Prefixed with Api-Key' }",
                "Api-Key "
            ),
        ])
    func usualWord(_ scheme: String, _ word: String) throws {
        let name = String(scheme.prefix { $0 != ":" })
        let place = try signIn(scheme, "\(name): []").schema.upstream.tokenPlace
        #expect(place == (word == "Bearer " ? .bearer : .header(name: "Authorization", before: word, after: "")))
    }

    @Test(
        "Where a user's password gives a token, a person is told how the daemon signs in with it",
        arguments: ["token", "/token"])
    func password(_ url: String) throws {
        let draft = try signIn(
            "user: { type: oauth2, flows: { password: { tokenUrl: \"\(url)\", scopes: {} } } }", "user: []")
        #expect(draft.schema.upstream.tokenPlace == .bearer)
        #expect(draft.todos.contains { $0.hasPrefix("auth.session: { call: POST /token, encoding: form") })
        let other = try signIn(
            "user: { type: oauth2, flows: { implicit: { authorizationUrl: \"https://a.shop.com\" } } }", "user: []")
        #expect(other.todos.contains { $0.hasPrefix("upstream.token_file") })
    }

    @Test("Without a way to sign in, the parameter of the calls that is called like a token has it")
    func tokenParameter() throws {
        let header = try draft(
            [], "parameters: [{ name: X-API-Key, in: header, required: true, schema: { type: string } }],")
        #expect(header.schema.upstream.tokenPlace == .header(name: "X-API-Key", before: "", after: ""))
        #expect(header.settings.isEmpty)
        let query = try draft(
            [], "parameters: [{ name: api_key, in: query, required: true, schema: { type: string } }],")
        #expect(query.schema.upstream.tokenPlace == .query(name: "api_key"))
        #expect(query.settings.isEmpty)
    }

    // MARK: Addresses

    @Test(
        "An address with a place for something of the reader's own is shown, not used",
        arguments: ["{ store: { default: store } }", "{ store: { default: unknown } }", "{ store: { default: \"\" } }"])
    func template(_ variables: String) throws {
        let draft = try draft([
            "servers: [{ url: \"https://api.shop.com/stores/{store}/v2\", variables: \(variables) }]"
        ])
        #expect(draft.schema.upstream.baseURL == nil)
        #expect(draft.yaml.contains("TODO base_url: the address of the API"))
    }

    @Test(
        "Of an address without a host, or with a sample of one, the path is shown",
        arguments: ["/api/v1/", "http://localhost:8080/api/v1", "https://demo.shop.example/api/v1"])
    func pathWithoutHost(_ address: String) throws {
        let draft = try draft(["servers: [{ url: \"\(address)\" }]"])
        #expect(draft.schema.upstream.baseURL == nil)
        #expect(draft.todos.contains { $0.contains("base_url: the address of the API, https://…/api/v1, here") })
    }

    @Test("So is one whose place is named after where the value comes from")
    func environment() throws {
        let draft = try draft([
            "servers: [{ url: \"https://api.shop.com/stores/{$$.env.store}/v2\", variables: { $$.env.store: { default: store } } }]"
        ])
        #expect(draft.schema.upstream.baseURL == nil, "\(draft.yaml)")
    }

    @Test("A version that each call needs in its address is there")
    func versionParameter() throws {
        let thing = "Thing: { type: object, properties: { id: { type: integer }, title: { type: string } } }"
        let version =
            "parameters: [{ name: api-version, in: query, required: true, schema: { type: string, example: \"1.0\" } }],"
        let gone = "delete: { \(version) responses: { \"204\": { description: gone } } }"
        let things = try SchemaDraft.of(
            SmallDocument(
                schemas: [thing],
                paths: [
                    "/things: { \(SmallDocument.list("Thing", version)), \(SmallDocument.call("post", "Thing", "Thing", version)) }",
                    "/things/{id}: { \(SmallDocument.single("Thing", version)), \(gone) }",
                ]
            ).text
        ).schema["things"]
        #expect(things?.push.create.first?.call == "POST /things?api-version=1.0")
        #expect(things?.push.delete.first?.call == "DELETE /things/{id}?api-version=1.0")
    }

    @Test(
        "A status is the upstream's only near the top of the paths",
        arguments: [("/api/v1/status", true), ("/status", true), ("/imports/status", false)])
    func status(_ path: String, _ isProbe: Bool) throws {
        let thing = "Thing: { type: object, properties: { id: { type: integer } } }"
        let status = "\(path): { get: { responses: { \"200\": { description: ok } } } }"
        let draft = try SchemaDraft.of(
            SmallDocument(schemas: [thing], paths: ["/things: { \(SmallDocument.list("Thing")) }", status]).text)
        #expect(draft.yaml.contains("probe: \(path)") == isProbe, "\(draft.yaml)")
    }

    @Test("A header for idempotency keys is set only if every creation takes it")
    func idempotency() throws {
        let thing = "Thing: { type: object, properties: { id: { type: integer }, name: { type: string } } }"
        let key = "parameters: [{ name: Idempotency-Key, in: header, schema: { type: string } }],"
        func draft(_ second: String) throws -> SchemaDraft {
            let paths = [("things", key), ("parts", second)].map { name, more in
                "/\(name): { \(SmallDocument.list("Thing")), \(SmallDocument.call("post", "Thing", "Thing", more)) }"
            }
            return try SchemaDraft.of(SmallDocument(schemas: [thing], paths: paths).text)
        }
        let all = try draft(key)
        #expect(all.yaml.contains("  idempotency_header: Idempotency-Key"), "\(all.yaml)")
        let some = try draft("")
        #expect(!some.yaml.contains("\n  idempotency_header:"), "\(some.yaml)")
        #expect(some.todos.contains { $0.contains("idempotency_header") && $0.hasSuffix("POST /parts") })
    }

    @Test(
        "It is only for the kinds of changes that all take it",
        arguments: [
            (true, "idempotency_header: { header: Idempotency-Key, for: [create, update] }"),
            (false, "idempotency_header: { header: Idempotency-Key, for: [create] }"),
        ])
    func idempotencyOperations(_ updatesTakeIt: Bool, _ expected: String) throws {
        let thing = "Thing: { type: object, properties: { id: { type: integer }, name: { type: string } } }"
        let key = "parameters: [{ name: Idempotency-Key, in: header, schema: { type: string } }],"
        let update = SmallDocument.call("patch", "Thing", "Thing", updatesTakeIt ? key : "")
        let paths = [
            "/things: { \(SmallDocument.list("Thing")), \(SmallDocument.call("post", "Thing", "Thing", key)) }",
            "/things/{id}: { \(SmallDocument.single("Thing")), \(update), \(SmallDocument.deletion) }",
        ]
        let draft = try SchemaDraft.of(SmallDocument(schemas: [thing], paths: paths).text)
        #expect(draft.yaml.contains(expected), "\(draft.yaml)")
    }
}
