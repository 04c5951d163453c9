import EntitySchema
import Foundation
import JSONText
import ReferenceUpstream
import SocketServer
import TestSupport
import Testing

@testable import Upstream

@Suite("Signing in")
struct SignInSessionTests {
    private let schema: EntitySchema
    private let reference: ReferenceUpstream
    private let now: @Sendable () -> Timestamp = { Timestamp(milliseconds: 1_700_000_000_000) }

    init() throws {
        schema = try ProjectFiles.schema("repairminder-live")
        var settings = ReferenceUpstream.Settings()
        settings.user = ReferenceUpstream.User(name: "ada@example.org", password: "right")
        reference = ReferenceUpstream(schema: schema, settings: settings, now: now)
    }

    /// Signs in over a socket; `answers` overrides the correct answers.
    private func signIn(_ way: String, _ answers: [String: String] = [:]) async throws -> (Tokens, [String]) {
        let server = SocketServer(listeners: [.tcp(host: "127.0.0.1", port: 0)]) { [reference] request in
            await reference.respond(to: request)
        }
        let address = try #require(try server.bind().first)
        let serving = Task { try await server.run() }
        defer { serving.cancel() }
        let session = SignInSession(
            UpstreamAccess(
                plan: schema.upstream, baseURL: "\(address)", transport: try CurlTransport(userAgent: "test"), now: now),
            refresh: try #require(schema.upstream.refresh))
        var asked: [String] = []
        let tokens = try await session.run(try #require(schema.upstream.login.first { $0.name == way })) { question in
            asked.append(question.name)
            let right = ["email": "ada@example.org", "password": "right", "code": reference.mailedCodes.last ?? ""]
            return try #require(answers[question.name] ?? right[question.name])
        }
        return (tokens, asked)
    }

    @Test(
        "each method ends with tokens, and asks each question right before its answer is sent",
        arguments: [("password", ["email", "password", "code"]), ("magic_link", ["email", "code"])])
    func ways(_ way: String, _ questions: [String]) async throws {
        let (tokens, asked) = try await signIn(way)
        #expect(asked == questions)
        #expect(tokens.access.hasPrefix("access-") && tokens.refresh?.hasPrefix("refresh-") == true)
        #expect(tokens.expiresAt == now() + .seconds(900))
        #expect(reference.mailedCodes.count == 1)
    }

    @Test("a wrong answer ends it with the upstream's error text", arguments: ["email", "password", "code"])
    func wrong(_ name: String) async throws {
        let error = await #expect(throws: UpstreamError.self) { try await signIn("password", [name: "mistaken"]) }
        #expect(error?.wordless == .unauthorized(""))
        let words = name == "code" ? "the code is wrong" : "the name or the password is wrong"
        #expect(error?.message.contains(words) == true)
    }

    @Test("a response with a token ends the sign-in, whatever steps are left")
    func early() async throws {
        let transport = ScriptedTransport { _ in
            HTTPResponse(status: 200, body: Array(#"{"data":{"token":"t","refreshToken":"r"}}"#.utf8))
        }
        let session = SignInSession(
            UpstreamAccess(plan: schema.upstream, transport: transport, now: now),
            refresh: try #require(schema.upstream.refresh))
        let tokens = try await session.run(try #require(schema.upstream.login.first)) { $0.name }
        #expect(tokens == Tokens(access: "t", refresh: "r"))
        #expect(transport.requests.count == 1)
    }

    @Test("when a token expires is read with the server's clock")
    func expiry() async throws {
        let end = (now() + .seconds(3660)).description
        let transport = ScriptedTransport { _ in
            .json(200, #"{"data":{"token":"t","refreshToken":"r","expiresIn":"\#(end)"}}"#)
        }
        let clock = ServerClock(now: now, monotonic: { .zero }, initialOffset: .seconds(3600))
        let session = SignInSession(
            UpstreamAccess(plan: schema.upstream, transport: transport, clock: clock, now: now),
            refresh: try #require(schema.upstream.refresh))
        let tokens = try await session.run(try #require(schema.upstream.login.first)) { $0.name }
        #expect(tokens.expiresAt == now() + .seconds(60))
    }
}
