import JSONText
import Testing

@testable import EntitySchema

@Suite("Requests as HTTP")
struct WireRequestTests {
    private let schema: EntitySchema
    private let json = WireRequest.Header("Accept", "application/json")

    init() throws {
        schema = try EntitySchema(
            yaml: """
                schema: small
                upstream:
                  base_url: http://localhost
                  probe: /ping
                  account: { path: /me, id: id }
                  idempotency_header: Idempotency-Key
                  version: { etag: true }
                  auth:
                    refresh: { path: /refresh, send: refresh_token, token: token }
                    login:
                      password:
                        - { call: POST /login, ask: { email: Email, password: Password }, secret: [password], keep: { user: id } }
                        - { call: POST /verify, ask: { code: Code }, send: [user] }
                entities:
                  photos:
                    fields: { id: { type: string }, text: { type: string } }
                    pull: { path: /photos }
                    push: { update: { call: "PATCH /photos/{id}" } }
                    content: { upload: { call: "PUT /photos/{id}/file" } }
                """, file: "small.yaml")
    }

    @Test("reads ask for JSON, the probe for nothing, a download for anything")
    func reads() throws {
        let photos = try #require(schema["photos"])
        #expect(photos.recordRequest(of: .object(["id": "a b"])) == WireRequest(path: "/photos/a%20b", headers: [json]))
        #expect(photos.recordRequest(of: .object([:])) == nil)
        #expect(schema.upstream.account?.request == WireRequest(path: "/me", headers: [json]))
        #expect(schema.upstream.probeRequest == WireRequest(path: "/ping"))
        #expect(
            WireRequest.download("/x") == WireRequest(path: "/x", headers: [WireRequest.Header("Accept", "*/*")]))
    }

    @Test("a change has its key, the version and its type, in that order")
    func change() throws {
        let photos = try #require(schema["photos"])
        let body = JSONText.object(["text": "new"])
        var change = try #require(photos.request(for: .update, record: .object(["id": "a"]), body: body))
        change.version = "\"1\""
        let headers = [
            WireRequest.Header("Idempotency-Key", "k"), WireRequest.Header("If-Match", "\"1\""),
            WireRequest.Header("Content-Type", "application/json"),
        ]
        #expect(
            change.request(schema.upstream, idempotencyKey: "k")
                == WireRequest(method: "PATCH", path: "/photos/a", headers: headers, body: body))
    }

    @Test("an upload has the content's type and no JSON body")
    func upload() throws {
        let content = Content(sha256: "", size: 3, type: "image/png")
        let upload = try #require(schema["photos"]?.request(for: content, record: .object(["id": "a"])))
        let headers = [
            WireRequest.Header("Idempotency-Key", "k"), WireRequest.Header("Content-Type", "image/png"),
        ]
        #expect(
            upload.request(schema.upstream, idempotencyKey: "k")
                == WireRequest(method: "PUT", path: "/photos/a/file", headers: headers))
    }

    @Test("a sign-in step sends kept values, then answers, and no error may repeat any text among them")
    func signIn() throws {
        let refresh = try #require(schema.upstream.refresh)
        let steps = try #require(schema.upstream.login.first).steps
        let first = refresh.request(for: steps[0], with: ["email": "a@b.c", "password": "p"])
        #expect(first.path == "/login" && Set(first.secrets) == ["a@b.c", "p"])
        #expect(first.body?.text == #"{"email":"a@b.c","password":"p"}"#)
        #expect(first.headers == [json, WireRequest.Header("Content-Type", "application/json")])
        let second = refresh.request(for: steps[1], with: ["user": 7, "code": "123", "password": "p"])
        #expect(second.body?.text == #"{"user":7,"code":"123"}"# && Set(second.secrets) == ["123", "p"])
    }

    @Test("a refresh token and a bearer token are secrets of their request")
    func tokens() throws {
        let refresh = try #require(schema.upstream.refresh).request(with: "r")
        #expect(refresh.method == "POST" && refresh.body?.text == #"{"refresh_token":"r"}"# && refresh.secrets == ["r"])
        let authorized = WireRequest.get("/x").authorized(by: "t")
        #expect(authorized.headers == [json, WireRequest.Header("Authorization", "Bearer t")])
        #expect(authorized.secrets == ["t"] && WireRequest.get("/x").authorized(by: nil) == .get("/x"))
    }
}
