import EntitySchema
import Foundation
import JSONText
import TestSupport
import Testing
import Upstream

@testable import SyncEngine

/// An upstream quotes secrets in its errors: checks that no kind of request repeats them in its own error.
@Suite("Secrets in errors")
struct ErrorSecretsTests {
    private static let token = "TOKEN-SECRET"

    private static let yaml = """
        schema: shop
        upstream:
          base_url: http://shop.example
          pagination: { style: cursor, next: next }
          account: { path: /me, id: id }
          error_message: error
          auth:
            type: bearer
            refresh: { path: /refresh, send: refresh_token, token: token, refresh_token: refresh_token }
            login:
              password:
                - { call: POST /login, ask: { email: Email, password: Password }, secret: [password], keep: { ticket: ticket } }
                - { call: POST /code, send: [ticket], ask: { code: Code } }
        entities:
          orders:
            fields:
              id: { type: string }
              notes: { type: string }
              pin: { type: string, secret: true }
            pull: { path: /orders }
            push:
              update: { call: "PATCH /orders/{id}" }
        """

    private let schema: EntitySchema

    init() throws {
        schema = try EntitySchema(yaml: Self.yaml, file: "shop.yaml")
    }

    private struct Answering: HTTPTransport {
        let answer: @Sendable (HTTPRequest) throws(TransportError) -> HTTPResponse

        func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse { try answer(request) }
    }

    private struct FixedToken: Credentials {
        func current() async throws(UpstreamError) -> String? { ErrorSecretsTests.token }
        func renew(refused: String?) async throws(UpstreamError) -> Bool { false }
    }

    /// Answers every request with an error that quotes the token and these texts; reports each error as the engine sees it.
    private func upstream(
        quoting texts: String, status: Int = 422, and members: String = #""id":"a""#
    ) -> GuardedUpstream {
        let body = #"{"error":"\#(Self.token) \#(texts)",\#(members)}"#
        return guarded { _ in HTTPResponse(status: status, body: Array(body.utf8)) }
    }

    private func guarded(
        _ answer: @escaping @Sendable (HTTPRequest) throws(TransportError) -> HTTPResponse
    ) -> GuardedUpstream {
        let http = HTTPUpstream(
            plan: schema.upstream, transport: Answering(answer: answer), token: FixedToken(),
            now: { Timestamp(milliseconds: 0) })
        return GuardedUpstream(
            upstream: http, schema: schema, refusal: { nil },
            report: { _, error in #expect(error?.message.contains("SECRET") != true) })
    }

    /// The message of the error that `request` throws.
    private func message(_ request: () async throws -> Void) async throws -> String {
        let error = await #expect(throws: UpstreamError.self) { try await request() }
        return try #require(error).message
    }

    private var orders: Entity { get throws { try #require(schema["orders"]) } }

    private var pageRequest: PageRequest {
        get throws {
            let plan = try #require(try orders.pull)
            return PageRequest(entity: "orders", path: plan.path, list: plan.list)
        }
    }

    private func pushRequest(_ body: String) throws -> PushRequest {
        var request = PushRequest(
            entity: "orders", method: "PATCH", path: "/orders/a", body: try JSONText(parsing: body))
        request.secrets = ["OLD-SECRET"]
        return request
    }

    @Test("the account's error does not repeat the token")
    func account() async throws {
        let message = try await message { _ = try await upstream(quoting: "is expired").account() }
        #expect(message == "GET /me answered 422: … is expired")
    }

    @Test("a page's error quotes nothing where the entity has secrets")
    func page() async throws {
        let request = try pageRequest
        let message = try await message { _ = try await upstream(quoting: "SECRET-PIN of b").page(request) }
        #expect(message == "GET /orders answered 422")
    }

    @Test("a next page that cannot be used is not quoted where the entity has secrets")
    func cursor() async throws {
        let request = try pageRequest
        let upstream = guarded { _ in
            HTTPResponse(status: 200, body: Array(#"{"data":[{"id":"a"}],"next":{"pin":"SECRET-PIN"}}"#.utf8))
        }
        let message = try await message { _ = try await upstream.page(request) }
        #expect(!message.contains("SECRET"), "\(message)")
    }

    @Test("a record's error quotes nothing where the entity has secrets")
    func record() async throws {
        let entity = try orders
        let known = try JSONText(parsing: #"{"id":"a","pin":"KNOWN-SECRET"}"#)
        let upstream = upstream(quoting: "KNOWN-SECRET and SECRET-PIN")
        let message = try await message { _ = try await upstream.record(of: entity, known: known) }
        #expect(message == "GET /orders/a answered 422")
    }

    @Test("a record's error does not repeat the known record's secrets, whatever the upstream is")
    func knownRecord() async throws {
        let fake = FakeUpstream()
        fake.failRecords(.unclear(status: 500, "a pin of KNOWN-SECRET cannot be"))
        let guarded = GuardedUpstream(upstream: fake, schema: schema, refusal: { nil }, report: { _, _ in })
        let entity = try orders
        let known = try JSONText(parsing: #"{"id":"a","pin":"KNOWN-SECRET"}"#)
        let message = try await message { _ = try await guarded.record(of: entity, known: known) }
        #expect(message == "a pin of … cannot be")
    }

    @Test("a change's error repeats no secret that was sent, that the record had, or that the answer holds")
    func push() async throws {
        let request = try pushRequest(#"{"pin":"NEW-SECRET"}"#)
        let upstream = upstream(
            quoting: "NEW-SECRET is no pin, OLD-SECRET was, their-SECRET is",
            and: #""record":{"pin":"their-SECRET"}"#)
        let message = try await message { _ = try await upstream.push(request, idempotencyKey: "k") }
        #expect(message == "PATCH /orders/a answered 422: … … is no pin, … was, … is")
    }

    @Test("an upload's error repeats no secret of the record, nor one that the answer holds")
    func upload() async throws {
        let request = try pushRequest("{}")
        let upstream = upstream(quoting: "OLD-SECRET and their-SECRET", and: #""pin":"their-SECRET""#)
        let message = try await message {
            let source = BodySource(size: 0) { _, _ in [] }
            _ = try await upstream.upload(request, from: source, idempotencyKey: "k")
        }
        #expect(message == "PATCH /orders/a answered 422: … … and …")
    }

    @Test(
        "a download's error does not repeat the address's query, on the upstream or elsewhere",
        arguments: ["http://shop.example/a.jpg", "https://files.example/a.jpg"])
    func download(_ address: String) async throws {
        let upstream = guarded { request throws(TransportError) in
            throw .ambiguous("no answer to \(request.url) with \(Self.token)")
        }
        let message = try await message {
            let sink = BodySink { _ in true }
            _ = try await upstream.download("\(address)?signature=URL-SECRET", limit: 9, into: sink)
        }
        #expect(!message.contains("URL-SECRET"), "\(message)")
    }

    @Test("a probe's error quotes nothing")
    func probe() async throws {
        let upstream = upstream(quoting: "SECRET", status: 500)
        let message = try await message { try await upstream.probe() }
        #expect(!message.contains("SECRET"), "\(message)")
    }

    // MARK: Signing in

    @Test("a sign-in's error repeats no answer of the user, no ticket and no token", arguments: ["/login", "/code"])
    func signIn(_ failing: String) async throws {
        let transport = Answering { request in
            guard request.url.hasSuffix(failing) else {
                return HTTPResponse(status: 200, body: Array(#"{"ticket":"TICKET-SECRET"}"#.utf8))
            }
            let quoted = "TICKET-SECRET PASS-SECRET CODE-SECRET ACCESS-SECRET"
            return HTTPResponse(status: 403, body: Array(#"{"error":"\#(quoted)","token":"ACCESS-SECRET"}"#.utf8))
        }
        let session = SignInSession(
            UpstreamAccess(plan: schema.upstream, transport: transport, now: { Timestamp(milliseconds: 0) }),
            refresh: try #require(schema.upstream.refresh))
        let way = try #require(schema.upstream.login.first)
        let answers = ["email": "ada@example.org", "password": "PASS-SECRET", "code": "CODE-SECRET"]
        let message = try await message {
            _ = try await session.run(way) { try #require(answers[$0.name]) }
        }
        // The first step comes before the ticket and the code.
        let known = failing == "/code" ? "… … … …" : "TICKET-SECRET … CODE-SECRET …"
        #expect(message == "POST \(failing) answered 403: \(known)")
    }

    @Test("a token refresh's error repeats neither the old tokens nor a new one", arguments: [400, 500])
    func refresh(_ status: Int) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "tokens-\(UUID().uuidString)")
        let store = TokenStore(path: file.path)
        let now = Timestamp(milliseconds: 1_700_000_000_000)
        try store.save(Tokens(access: "ACCESS-SECRET", refresh: "REFRESH-SECRET", expiresAt: now - .seconds(1)))
        let transport = Answering { _ in
            let body = #"{"error":"ACCESS-SECRET REFRESH-SECRET NEW-SECRET","token":"NEW-SECRET"}"#
            return HTTPResponse(status: status, body: Array(body.utf8))
        }
        let access = UpstreamAccess(plan: schema.upstream, transport: transport, now: { now })
        let http = HTTPUpstream(access, token: RotatingToken(access, store: store))
        let upstream = GuardedUpstream(upstream: http, schema: schema, refusal: { nil }, report: { _, _ in })
        let message = try await message { _ = try await upstream.account() }
        #expect(message.contains("answered \(status): … … …"), "\(message)")
    }
}
