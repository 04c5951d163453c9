import JSONText
import Testing

@testable import EntitySchema

@Suite("Requests as HTTP")
struct WireRequestTests {
    private let schema: EntitySchema
    private let json = WireRequest.Header("Accept", "application/json")
    private let current = WireRequest.Header("Cache-Control", "no-cache")

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

    @Test("reads ask for JSON past all caches, the probe for nothing, a download for anything")
    func reads() throws {
        let photos = try #require(schema["photos"])
        #expect(
            photos.recordRequest(of: .object(["id": "a b"]))
                == WireRequest(path: "/photos/a%20b", headers: [json, current]))
        #expect(photos.recordRequest(of: .object([:])) == nil)
        #expect(schema.upstream.account?.request == WireRequest(path: "/me", headers: [json, current]))
        #expect(schema.upstream.probeRequest == WireRequest(path: "/ping"))
        #expect(
            WireRequest.download("/x") == WireRequest(path: "/x", headers: [WireRequest.Header("Accept", "*/*")]))
    }

    @Test("the schema's Accept and Cache-Control replace those of reads; what a request has of its own stays")
    func replaced() {
        let headers = [
            UpstreamPlan.Header(name: "accept", value: "text/x"),
            UpstreamPlan.Header(name: "Cache-Control", value: "max-age=5"),
        ]
        var read = WireRequest.get("/x")
        read.add(headers)
        #expect(read.headers.map(\.value) == ["text/x", "max-age=5"])
        var download = WireRequest.download("/x")
        download.add(headers)
        #expect(download.headers.map(\.value) == ["*/*", "max-age=5"])
        var list = WireRequest(path: "/x", headers: [WireRequest.Header("Prefer", "count=exact")])
        list.add([UpstreamPlan.Header(name: "prefer", value: "return=minimal")])
        #expect(list.headers.map(\.value) == ["count=exact"])
    }

    @Test("a value that is a step to another place is never put into a path", arguments: [".", ".."])
    func steps(_ key: String) throws {
        let photos = try #require(schema["photos"])
        #expect(photos.recordRequest(of: .object(["id": .string(key)])) == nil)
        #expect(photos.recordRequest(of: .object(["id": .string(key + "x")]))?.path == "/photos/\(key)x")
    }

    @Test(
        "a value is never put into a path if a server that unescapes it would take it for steps to another place",
        arguments: [
            "../admin", "../../admin", "a/../../admin", "a/..", "..\\admin", "..;/admin", "a/..;x=1/admin", "..;",
            "../\u{301}admin",
        ])
    func hiddenSteps(_ key: String) throws {
        let photos = try #require(schema["photos"])
        #expect(photos.recordRequest(of: .object(["id": .string(key)])) == nil)
        let push = photos.request(for: .update, record: .object(["id": .string(key)]), body: .object(["text": "n"]))
        #expect(push == nil)
    }

    @Test(
        "dots beside other characters are kept",
        arguments: ["..a/b", "a../b", "...", "a..b", "a/.../b", "..%2fadmin", "a;../b"])
    func harmlessDots(_ key: String) throws {
        let photos = try #require(schema["photos"])
        #expect(
            photos.recordRequest(of: .object(["id": .string(key)]))?.path == "/photos/\(Entity.percentEncoded(key))")
    }

    private func updating(_ call: String, _ body: String, over remote: String?) throws -> String? {
        let schema = try EntitySchema(
            yaml: """
                schema: s
                upstream: { base_url: http://localhost }
                entities:
                  notes:
                    fields: { id: { type: integer }, text: { type: string }, owner: { type: string, from: by.name }, state: { type: string } }
                    pull: { path: /notes }
                    push: { update: { call: \(call) } }
                """, file: "s.yaml")
        let notes = try #require(schema["notes"])
        let request = notes.request(
            for: .update, record: .object(["id": 1]), body: try JSONText(parsing: body),
            remote: try remote.map { try JSONText(parsing: $0) })
        return request?.body?.text
    }

    @Test("#12 PUT sends the whole record as the server last had it, with the changes over it")
    func replaces() throws {
        let remote = #"{"id":1,"text":"old","by":{"name":"Ada"},"state":"open","unknown":1.50,"updated_at":"t"}"#
        let body = #"{"text":"new"}"#
        #expect(
            try updating(#""PUT /notes/{id}""#, body, over: remote)
                == #"{"id":1,"text":"new","by":{"name":"Ada"},"state":"open","unknown":1.50,"updated_at":"t"}"#)
        #expect(
            try updating(#""PUT /notes/{id}", fields: [owner, text]"#, body, over: remote)
                == #"{"text":"new","owner":"Ada"}"#)
        #expect(
            try updating(#""PUT /notes/{id}", body: { Text: text, State: state }"#, body, over: remote)
                == #"{"Text":"new","State":"open"}"#)
        #expect(try updating(#""PUT /notes/{id}""#, body, over: nil) == body)
        #expect(try updating(#""PATCH /notes/{id}""#, body, over: remote) == body)
        #expect(try updating(#""PATCH /notes/{id}", fields: [owner, text]"#, body, over: remote) == body)
    }

    @Test(
        "a whole record has the changes of its nested fields in their places",
        arguments: ["", ", body: { note: $record }"])
    func replacesNested(_ form: String) throws {
        func sent(_ owner: String, over remote: String) throws -> String? {
            try updating(#""PUT /notes/{id}"\#(form)"#, #"{"owner":\#(owner)}"#, over: remote)
        }
        let remote = #"{"id":1,"by":{"name":"Ada","age":36},"state":"open"}"#
        #expect(try sent(#""Bo""#, over: remote) == #"{"id":1,"by":{"name":"Bo","age":36},"state":"open"}"#)
        #expect(try sent("null", over: remote) == #"{"id":1,"by":{"name":null,"age":36},"state":"open"}"#)
        #expect(try sent(#""Bo""#, over: #"{"id":1,"by":null}"#) == #"{"id":1,"by":{"name":"Bo"}}"#)
        #expect(try sent(#""Bo""#, over: #"{"id":1}"#) == #"{"id":1,"by":{"name":"Bo"}}"#)
        #expect(try sent(#""Bo""#, over: #"{"id":1,"by":"Ada"}"#) == #"{"id":1,"by":"Ada","owner":"Bo"}"#)
        #expect(try sent(#""Bo""#, over: #"{"id":1,"owner":"Ada"}"#) == #"{"id":1,"owner":"Bo"}"#)
        let assumed = #"{"id":1,"by":{"name":"Ada"},"owner":"Cy"}"#
        #expect(try sent(#""Bo""#, over: assumed) == #"{"id":1,"by":{"name":"Bo"}}"#)
        let other = try updating(#""PUT /notes/{id}"\#(form)"#, #"{"state":"done"}"#, over: assumed)
        #expect(other == #"{"id":1,"by":{"name":"Cy"},"state":"done"}"#, "what was sent before is not undone")
    }

    /// What an edit of `email` sends, if the record has `emails`: the field is read from the first element.
    private func sentEmail(_ route: String, over emails: String) throws -> String? {
        let schema = try EntitySchema(
            yaml: """
                schema: s
                upstream: { base_url: http://localhost }
                entities:
                  people:
                    fields: { id: { type: integer }, email: { type: string, from: emails.0.address } }
                    pull: { path: /people }
                    push: { update: { call: \(route) } }
                """, file: "s.yaml")
        let remote = try JSONText(parsing: #"{"id":1\#(emails)}"#)
        let request = try #require(schema["people"]).request(
            for: .update, record: remote, body: .object(["email": "new"]), remote: remote)
        return request?.body?.text
    }

    @Test("a whole record has the change of a list element in its place, if the list has that element")
    func replacesElement() throws {
        let put = #""PUT /people/{id}""#
        #expect(
            try sentEmail(put, over: #","emails":[{"address":"a","kind":"work"},{"address":"b"}]"#)
                == #"{"id":1,"emails":[{"address":"new","kind":"work"},{"address":"b"}]}"#)
        #expect(
            try sentEmail(put, over: #","emails":[{"kind":"work"}]"#)
                == #"{"id":1,"emails":[{"kind":"work","address":"new"}]}"#)
        #expect(try sentEmail(put, over: #","emails":[]"#) == #"{"id":1,"emails":[],"email":"new"}"#)
        #expect(try sentEmail(put, over: "") == #"{"id":1,"email":"new"}"#)
        let list = #""PATCH /people/{id}", body: { $fields: { emails: [{ address: email }] } }"#
        #expect(
            try sentEmail(list, over: #","emails":[{"address":"a"},{"address":"b"}]"#)
                == #"{"emails":[{"address":"new"}]}"#)
    }

    @Test("answers are read from success and account_errors, also in their short forms")
    func answers() throws {
        func plan(_ text: String) throws -> AnswerPlan {
            try EntitySchema(
                yaml: """
                    schema: s
                    upstream: { base_url: http://localhost\(text) }
                    entities: { notes: { fields: { id: { type: string } }, pull: { path: /notes } } }
                    """, file: "s.yaml"
            ).upstream.answers
        }
        #expect(try plan("") == AnswerPlan())
        #expect(try plan(", success: done").success == AnswerPlan.Success(place: Place(paths: ["done"])))
        #expect(
            try plan(", success: { at: [a, b.c], is: ok }").success
                == AnswerPlan.Success(place: Place(paths: ["a", "b.c"]), values: ["ok"]))
        #expect(try plan(", account_errors: [A, B]").accountErrors == AnswerPlan.AccountErrors(codes: ["A", "B"]))
        #expect(
            try plan(", account_errors: { at: why, is: [A] }").accountErrors
                == AnswerPlan.AccountErrors(place: Place(paths: ["why"]), codes: ["A"]))
        #expect(throws: SchemaError.self) { try plan(", success: { is: ok }") }
        #expect(throws: SchemaError.self) { try plan(", account_errors: { at: why }") }
    }

    @Test("a change has its key, the version and its type, and asks for JSON that is not compressed, in that order")
    func change() throws {
        let photos = try #require(schema["photos"])
        let body = JSONText.object(["text": "new"])
        var change = try #require(photos.request(for: .update, record: .object(["id": "a"]), body: body))
        change.version = "\"1\""
        let headers = [
            WireRequest.Header("Idempotency-Key", "k"), WireRequest.Header("If-Match", "\"1\""),
            WireRequest.Header("Content-Type", "application/json"), json,
            WireRequest.Header("Accept-Encoding", "identity"),
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
            WireRequest.Header("Idempotency-Key", "k"), WireRequest.Header("Content-Type", "image/png"), json,
            WireRequest.Header("Accept-Encoding", "identity"),
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
        let authorized = WireRequest.get("/x").authorized(by: "t", at: .bearer)
        #expect(authorized.headers == [json, current, WireRequest.Header("Authorization", "Bearer t")])
        #expect(authorized.secrets == ["t"] && WireRequest.get("/x").authorized(by: nil, at: .bearer) == .get("/x"))
    }
}
