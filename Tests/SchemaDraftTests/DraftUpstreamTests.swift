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

    @Test("A header that calls need and the document has no value for is marked")
    func header() throws {
        let draft = try draft([], "parameters: [{ name: From, in: header, required: true, schema: { type: string } }],")
        #expect(draft.yaml.contains("TODO headers: { From: … }: GET /things needs it"))
    }
}
