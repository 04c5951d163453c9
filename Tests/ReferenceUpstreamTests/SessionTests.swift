import EntitySchema
import JSONText
import ReferenceUpstream
import Testing

@Suite("Sessions upstream")
struct SessionTests {
    private func harness(_ auth: String) throws -> Harness {
        let schema = try EntitySchema(
            yaml: """
                schema: s
                upstream: { auth: \(auth) }
                entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders } } }
                """, file: "s.yaml")
        let harness = try Harness(schema) { $0.user = ReferenceUpstream.User(name: "ada", password: "right") }
        try harness.at("2026-01-01T00:00:00Z")
        return harness
    }

    @Test("the right password gives a JWT, which the check and a refresh accept until it expires")
    func session() async throws {
        let harness = try harness(
            """
            { session: { call: POST /in, body: { who: "{$secret.user}", password: "{$secret.password}" }, token: a.token, expires: jwt },
              refresh: { call: POST /again, with: access, token: token, expires: jwt },
              check: { call: GET /me, account: user.id } }
            """)
        #expect(try await harness.send("POST", "/in", #"{"who":"ada","password":"wrong"}"#).status == 401)
        let answer = try await harness.send("POST", "/in", #"{"password":"right","who":"ada"}"#)
        let bearer = [("Authorization", "Bearer \(try answer.at("a.token").plain)")]
        #expect(try await harness.get("/orders").status == 401)
        #expect(try await harness.get("/orders", bearer).status == 200)
        #expect(try await harness.get("/me", bearer).at("user.id") == "company-1")
        let next = try await harness.send("POST", "/again", headers: bearer).at("token").plain
        try harness.at("2026-01-01T00:15:00Z")
        #expect(try await harness.get("/me", bearer).status == 401)
        #expect(try await harness.send("POST", "/again", headers: [("Authorization", "Bearer \(next)")]).status == 401)
    }

    @Test("client credentials are taken as a form with HTTP Basic")
    func clientCredentials() async throws {
        let harness = try harness("{ client_credentials: { token_url: /token, scope: read } }")
        let form = "grant_type=client_credentials&scope=read"
        // ada:right, ada:wrong
        let headers = [("Authorization", "Basic YWRhOnJpZ2h0")]
        #expect(
            try await harness.send("POST", "/token", form, headers: [("Authorization", "Basic YWRhOndyb25n")]).status
                == 401)
        let answer = try await harness.send("POST", "/token", form, headers: headers)
        #expect(try answer.at("expires_in") == 900)
        let bearer = [("Authorization", "Bearer \(try answer.at("access_token").plain)")]
        #expect(try await harness.get("/orders", bearer).status == 200)
    }
}
