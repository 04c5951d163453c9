import EntitySchema
import JSONText
import ReferenceUpstream
import Testing

@Suite("Signing in upstream")
struct SignInTests {
    private let harness: Harness

    init() throws {
        harness = try Harness(TestSchema.live()) {
            $0.user = ReferenceUpstream.User(name: "ada@example.org", password: "right")
        }
        try harness.at("2026-01-01T00:00:00Z")
    }

    private func post(_ path: String, _ body: JSONText) async throws -> Reply {
        try await harness.send("POST", path, body.text)
    }

    private func login(_ password: String = "right") async throws -> Reply {
        try await post("/api/auth/login", .object(["email": "ada@example.org", "password": .string(password)]))
    }

    private func code() throws -> String { try #require(harness.upstream.mailedCodes.last) }

    private func tokens() async throws -> (access: String, refresh: String) {
        let user = try await login().at("data.userId")
        _ = try await post("/api/auth/2fa/request", .object(["userId": user, "email": "ada@example.org"]))
        let reply = try await post("/api/auth/2fa/verify", .object(["userId": user, "code": .string(try code())]))
        return (try reply.at("data.token").plain, try reply.at("data.refreshToken").plain)
    }

    private func orders(_ token: String) async throws -> Int {
        try await harness.get("/api/orders", [("Authorization", "Bearer \(token)")]).status
    }

    @Test("a password and the mailed code give valid tokens")
    func password() async throws {
        #expect(try await harness.get("/api/orders").status == 401)
        let (access, refresh) = try await tokens()
        #expect(access != refresh)
        #expect(try await orders(access) == 200)
        #expect(try await orders(refresh) == 401)
        #expect(try await harness.get("/api/auth/me", [("Authorization", "Bearer \(access)")]).status == 200)
    }

    @Test("a mailed code alone gives tokens too")
    func magicLink() async throws {
        let email = JSONText.object(["email": "ada@example.org"])
        #expect(try await post("/api/auth/magic-link/request", email).status == 200)
        let answer = try await post("/api/auth/magic-link/verify-code", email.setting("code", to: .string(try code())))
        #expect(try await orders(answer.at("data.token").plain) == 200)
    }

    @Test("a wrong password is refused and mails nothing")
    func wrongPassword() async throws {
        #expect(try await login("wrong").status == 401)
        let user = JSONText.object(["userId": "user-1", "email": "ada@example.org"])
        #expect(try await post("/api/auth/2fa/request", user).status == 401)
        #expect(harness.upstream.mailedCodes.isEmpty)
    }

    @Test("a code is valid once, for ten minutes, and for five tries")
    func codes() async throws {
        let user = try await login().at("data.userId")
        func request() async throws {
            _ = try await post("/api/auth/2fa/request", .object(["userId": user, "email": "ada@example.org"]))
        }
        func verify(_ code: String) async throws -> Int {
            try await post("/api/auth/2fa/verify", .object(["userId": user, "code": .string(code)])).status
        }
        try await request()
        try harness.at("2026-01-01T00:10:00Z")
        #expect(try await verify(code()) == 401)
        try await request()
        for _ in 1...5 { #expect(try await verify("wrong") == 401) }
        #expect(try await verify(code()) == 401)
        try await request()
        #expect(try await verify(code()) == 200)
        #expect(try await verify(code()) == 401)
    }

    @Test("an access token expires, and a refresh token gives the next one")
    func refresh() async throws {
        let (access, refresh) = try await tokens()
        try harness.at("2026-01-01T00:14:59Z")
        #expect(try await orders(access) == 200)
        try harness.at("2026-01-01T00:15:00Z")
        #expect(try await orders(access) == 401)
        let next = try await post("/api/auth/refresh", .object(["refreshToken": .string(refresh)]))
        #expect(try next.at("data.expiresIn") == 900)
        #expect(try await orders(next.at("data.token").plain) == 200)
    }

    @Test("a refresh token is valid once, and its successor is valid")
    func rotation() async throws {
        let (_, refresh) = try await tokens()
        let body = JSONText.object(["refreshToken": .string(refresh)])
        let next = try await post("/api/auth/refresh", body).at("data.refreshToken")
        #expect(try await post("/api/auth/refresh", body).status == 401)
        #expect(try await post("/api/auth/refresh", .object(["refreshToken": next])).status == 200)
    }

    @Test("after signing out no token is valid")
    func logout() async throws {
        let (access, refresh) = try await tokens()
        _ = try await harness.send("POST", "/api/auth/logout", headers: [("Authorization", "Bearer \(access)")])
        #expect(try await orders(access) == 401)
        #expect(try await post("/api/auth/refresh", .object(["refreshToken": .string(refresh)])).status == 401)
    }

    @Test("the admin paths show the mail and let access tokens expire")
    func admin() async throws {
        let (access, refresh) = try await tokens()
        #expect(try await harness.get("/__admin/mail").json()["code"]?.string == code())
        #expect(try await harness.send("DELETE", "/__admin/tokens").status == 204)
        #expect(try await orders(access) == 401)
        #expect(try await post("/api/auth/refresh", .object(["refreshToken": .string(refresh)])).status == 200)
    }

    @Test("without a user there is no sign-in and every caller is accepted")
    func open() async throws {
        let open = try Harness(TestSchema.live())
        #expect(try await open.send("POST", "/api/auth/login", "{}").status == 404)
        #expect(try await open.get("/api/orders").status == 200)
    }
}
