import Foundation
import JSONText
import Synchronization
import TestSupport
import Testing

@testable import EntitySchema
@testable import Upstream

@Suite("A rotating token", .timeLimit(.minutes(10)))
struct RotatingTokenTests {
    private let folder: TemporaryFolder
    private let store: TokenStore
    private let time = Time()

    private final class Time: Sendable {
        let now = Mutex(Timestamp.sample)
    }

    init() throws {
        folder = try TemporaryFolder()
        store = TokenStore(path: folder.path("tokens.json"))
    }

    private static let refreshed = HTTPResponse.json(200, #"{"data":{"token":"new","refresh":"r2","life":"900"}}"#)

    /// An upstream that accepts the tokens in `good`, and refreshes as given.
    private func upstream(
        good: Set<String> = ["new"], refresh: @escaping ScriptedTransport.Answer = { _ in Self.refreshed }
    ) throws -> (HTTPUpstream, RotatingToken, ScriptedTransport) {
        let schema = try EntitySchema(yaml: Self.schema, file: "test.yaml")
        let transport = ScriptedTransport { request throws(TransportError) in
            if request.url.hasSuffix("/token") { return try await refresh(request) }
            let token = request.header("Authorization")?.dropFirst("Bearer ".count)
            guard let token, good.contains(String(token)) else { return HTTPResponse.json(401, "{}") }
            return HTTPResponse.json(200, #"{"id":"me"}"#)
        }
        let now: @Sendable () -> Timestamp = { [time] in time.now.withLock { $0 } }
        let access = UpstreamAccess(plan: schema.upstream, transport: transport, now: now)
        let token = RotatingToken(access, store: store)
        return (HTTPUpstream(access, token: token), token, transport)
    }

    private func refreshes(_ transport: ScriptedTransport) -> [HTTPRequest] {
        transport.requests.filter { $0.url.hasSuffix("/token") }
    }

    private func failure(_ upstream: HTTPUpstream) async -> UpstreamError? {
        do throws(UpstreamError) {
            _ = try await upstream.account()
            return nil
        } catch {
            return error
        }
    }

    private var now: Timestamp { time.now.withLock { $0 } }

    @Test("a message names the command that signs in this daemon")
    func loginCommand() async throws {
        let login = "sudo repairminder-sync login --config /etc/repairminder-sync/north.yaml"
        let own = TokenStore(path: store.path, login: login)
        let plan = try EntitySchema(yaml: Self.schema, file: "test.yaml").upstream
        let access = UpstreamAccess(plan: plan, transport: ScriptedTransport { _ in Self.refreshed }, now: { .sample })
        #expect(await RotatingToken(access, store: own).missing == "not signed in; run \(login)")
        try PrivateFile(path: store.path).write(Array("{}".utf8))
        #expect {
            try own.load()
        } throws: { ($0 as? TokenFileError)?.message == "\(own.path) contains no token; run \(login)" }
    }

    @Test("reports a missing base address first, then a missing sign-in")
    func missing() async throws {
        let (upstream, _, transport) = try upstream()
        #expect(await upstream.missing == "not signed in; run repairminder-sync login")
        try store.save(Tokens(access: "new"))
        #expect(await upstream.missing == nil)
        var plan = try EntitySchema(yaml: Self.schema, file: "test.yaml").upstream
        plan.baseURL = nil
        let nowhere = HTTPUpstream(plan: plan, transport: transport, now: { [time] in time.now.withLock { $0 } })
        #expect(await nowhere.missing?.contains("upstream.base_url") == true)
        #expect(await failure(nowhere) == .held(try #require(await nowhere.missing)))
        await #expect(throws: UpstreamError.held(try #require(await nowhere.missing))) { try await nowhere.probe() }
        #expect(transport.requests.isEmpty)
    }

    @Test("is refreshed when it is refused, and the request is repeated")
    func refused() async throws {
        try store.save(Tokens(access: "old", refresh: "r1"))
        let (upstream, _, transport) = try upstream()
        #expect(try await upstream.account()?.id == "me")
        let request = try #require(refreshes(transport).first)
        #expect(request.method == "POST" && request.url == "https://shop.example/token")
        #expect(request.json == JSONText.object(["refreshToken": "r1"]))
        #expect(request.header("Authorization") == nil)
        #expect(try store.load() == Tokens(access: "new", refresh: "r2", expiresAt: now + .seconds(900)))
    }

    @Test("keeps its refresh token if the next one is longer than any", arguments: ["r", "\\u0001"])
    func longRefreshToken(_ letter: String) async throws {
        try store.save(Tokens(access: "old", refresh: "r1"))
        let long = String(repeating: letter, count: 17_000)
        let (upstream, _, _) = try upstream { _ in
            HTTPResponse.json(200, #"{"data":{"token":"new","refresh":"\#(long)"}}"#)
        }
        #expect(try await upstream.account()?.id == "me")
        #expect(try store.load() == Tokens(access: "new", refresh: "r1"))
    }

    @Test("is refreshed once for all requests that were refused")
    func singleFlight() async throws {
        let count = 50
        try store.save(Tokens(access: "old", refresh: "r1"))
        let arrived = AsyncStream.makeStream(of: Void.self)
        let gate = AsyncStream.makeStream(of: Void.self)
        let (upstream, _, transport) = try upstream { _ in
            arrived.continuation.yield()
            for await _ in gate.stream {}
            return Self.refreshed
        }
        try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<count { group.addTask { try await upstream.account()?.id } }
            for await _ in arrived.stream { break }
            // All requests are refused before the one exchange gets its response.
            while transport.requests.count < count + 1 { await Task.yield() }
            gate.continuation.finish()
            for try await id in group { #expect(id == "me") }
        }
        #expect(refreshes(transport).count == 1)
        #expect(transport.requests.count == 2 * count + 1)
    }

    @Test("is not refreshed again for a request refused with the previous token")
    func late() async throws {
        try store.save(Tokens(access: "old", refresh: "r1"))
        let (_, token, transport) = try upstream()
        _ = try await token.current()
        #expect(try await token.renew(refused: "old"))
        #expect(try await token.renew(refused: "old"))
        #expect(try await token.current() == "new")
        #expect(refreshes(transport).count == 1)
    }

    @Test("is on disk before any request uses it")
    func savedFirst() async throws {
        try store.save(Tokens(access: "old", refresh: "r1"))
        let (upstream, _, transport) = try upstream()
        try folder.block("tokens.json.new")
        guard case .unauthorized(let message) = await failure(upstream) else { return wrong() }
        #expect(message.contains("tokens.json"))
        #expect(!transport.requests.contains { $0.header("Authorization") == "Bearer new" })
        #expect(try store.load()?.refresh == "r1")
        try folder.unblock("tokens.json.new")
        #expect(try await upstream.account()?.id == "me")
        #expect(
            refreshes(transport).count == 1,
            "the received tokens are saved as soon as possible, without another refresh")
        #expect(try store.load()?.refresh == "r2")
    }

    @Test("keeps its refresh token when the upstream returns no new one")
    func notRotated() async throws {
        try store.save(Tokens(access: "old", refresh: "r1"))
        let (upstream, _, _) = try upstream { _ in HTTPResponse.json(200, #"{"data":{"token":"new"}}"#) }
        #expect(try await upstream.account()?.id == "me")
        #expect(try store.load() == Tokens(access: "new", refresh: "r1"))
    }

    @Test("ends with the sign-in, and the message says to sign in again", arguments: [400, 401, 403, 422])
    func ended(_ status: Int) async throws {
        try store.save(Tokens(access: "old", refresh: "r1"))
        let (upstream, _, transport) = try upstream { _ in HTTPResponse.json(status, #"{"error":"revoked"}"#) }
        for _ in 1...3 {
            guard case .unauthorized(let message) = await failure(upstream) else { return wrong() }
            #expect(message.contains("repairminder-sync login") && message.contains("revoked"))
        }
        #expect(refreshes(transport).count == 1, "a refused refresh token is left alone for a minute")
        #expect(try store.load()?.refresh == "r1")
        time.now.withLock { $0 = $0 + .seconds(61) }
        _ = await failure(upstream)
        #expect(refreshes(transport).count == 2)
    }

    @Test("is read from a new sign-in without a restart")
    func login() async throws {
        try store.save(Tokens(access: "old", refresh: "r1"))
        let (upstream, _, transport) = try upstream(good: ["login"]) { _ in HTTPResponse.json(401, "{}") }
        _ = await failure(upstream)
        try store.save(Tokens(access: "login", refresh: "l1"))
        #expect(try await upstream.account()?.id == "me")
        #expect(refreshes(transport).count == 1)
    }

    @Test("is replaced by a sign-in that finished during the refresh")
    func loginMeanwhile() async throws {
        try store.save(Tokens(access: "old", refresh: "r1"))
        let (upstream, _, _) = try upstream(good: ["login"]) { [store] _ in
            try? store.save(Tokens(access: "login", refresh: "l1"))
            return Self.refreshed
        }
        #expect(try await upstream.account()?.id == "me")
        #expect(try store.load()?.refresh == "l1")
    }

    @Test("of a new sign-in replaces one that still counts, from the next request on")
    func otherLogin() async throws {
        try store.save(Tokens(access: "old"))
        let (upstream, _, transport) = try upstream(good: ["old", "login"])
        #expect(try await upstream.account()?.id == "me")
        try store.save(Tokens(access: "login"))
        #expect(try await upstream.account()?.id == "me")
        #expect(transport.requests.map { $0.header("Authorization") } == ["Bearer old", "Bearer login"])
    }

    @Test("is sent no more after a sign-out, and neither is a request without one, until the next sign-in")
    func logout() async throws {
        try store.save(Tokens(access: "old"))
        let (upstream, _, transport) = try upstream(good: ["old", "login"])
        #expect(try await upstream.account()?.id == "me")
        #expect(try store.remove())
        for _ in 1...2 {
            #expect(await failure(upstream) == .unauthorized("not signed in; run repairminder-sync login"))
        }
        #expect(transport.requests.count == 1)
        try store.save(Tokens(access: "login"))
        #expect(try await upstream.account()?.id == "me")
    }

    @Test("is not saved when a sign-out came during the refresh")
    func logoutMeanwhile() async throws {
        try store.save(Tokens(access: "old", refresh: "r1"))
        let (upstream, _, transport) = try upstream { [store] _ in
            _ = try? store.remove()
            return Self.refreshed
        }
        guard case .unauthorized(let message) = await failure(upstream) else { return wrong() }
        #expect(message.contains("signed out"))
        #expect(try store.load() == nil)
        _ = await failure(upstream)
        #expect(transport.requests.count == 2, "the refused request and the refresh")
    }

    @Test("that still counts is sent no more when a sign-out came while it was renewed early")
    func logoutDuringEarlyRefresh() async throws {
        try store.save(Tokens(access: "old", refresh: "r1", expiresAt: now + .seconds(29)))
        let (upstream, _, transport) = try upstream(good: ["old", "new"]) { [store] _ in
            _ = try? store.remove()
            return Self.refreshed
        }
        guard case .unauthorized = await failure(upstream) else { return wrong() }
        #expect(transport.requests.count == 1, "the refresh")
        #expect(try store.load() == nil)
    }

    @Test("that could not be saved is forgotten at a sign-out")
    func logoutBeforeSaved() async throws {
        try store.save(Tokens(access: "old", refresh: "r1"))
        let (upstream, token, _) = try upstream()
        try folder.block("tokens.json.new")
        guard case .unauthorized = await failure(upstream) else { return wrong() }
        try folder.unblock("tokens.json.new")
        #expect(try store.remove())
        await #expect(throws: UpstreamError.self) { try await token.renew(refused: "old") }
        #expect(try store.load() == nil)
    }

    @Test("is not lost while the upstream is unreachable or its response is unclear")
    func unreachable() async throws {
        try store.save(Tokens(access: "old", refresh: "r1"))
        let answers = Mutex<[Result<HTTPResponse, TransportError>]>([
            .failure(.unreachable("no network")), .failure(.ambiguous("time-out")),
            .success(HTTPResponse(status: 502)),
            .success(HTTPResponse(status: 429, headers: [HTTPHeader("Retry-After", "7")])), .success(Self.refreshed),
        ])
        let (upstream, _, transport) = try upstream { _ throws(TransportError) in
            try answers.withLock { $0.removeFirst() }.get()
        }
        #expect(await failure(upstream) == .offline("no network"))
        #expect(await failure(upstream) == .unclear(status: nil, "time-out"))
        guard case .unclear(502, _) = await failure(upstream) else { return wrong() }
        guard case .throttled(.seconds(7), _) = await failure(upstream) else { return wrong() }
        #expect(try await upstream.account()?.id == "me")
        #expect(refreshes(transport).map { $0.json?["refreshToken"]?.string } == Array(repeating: "r1", count: 5))
    }

    @Test("is refreshed before it expires, unless that is not possible yet")
    func proactive() async throws {
        try store.save(Tokens(access: "old", refresh: "r1", expiresAt: now + .seconds(29)))
        let isOffline = Mutex(true)
        let (upstream, _, transport) = try upstream(good: ["old", "new"]) { _ throws(TransportError) in
            if isOffline.withLock({ $0 }) { throw .unreachable("no network") }
            return Self.refreshed
        }
        #expect(try await upstream.account()?.id == "me")
        #expect(transport.requests.last?.header("Authorization") == "Bearer old")
        isOffline.withLock { $0 = false }
        #expect(try await upstream.account()?.id == "me")
        #expect(transport.requests.last?.header("Authorization") == "Bearer new")
        #expect(!transport.requests.contains { $0.url.hasSuffix("/token") && $0.json == nil })
        #expect(refreshes(transport).count == 2)
    }

    @Test("is not refreshed with more than half a minute left")
    func fresh() async throws {
        try store.save(Tokens(access: "old", refresh: "r1", expiresAt: now + .seconds(30)))
        let (upstream, _, transport) = try upstream(good: ["old"])
        #expect(try await upstream.account()?.id == "me")
        #expect(refreshes(transport).isEmpty)
    }

    @Test("is not refreshed for each request when its lifetime is shorter than that")
    func shortLived() async throws {
        try store.save(Tokens(access: "old", refresh: "r1"))
        let (upstream, _, transport) = try upstream { _ in
            HTTPResponse.json(200, #"{"data":{"token":"new","life":20}}"#)
        }
        for _ in 1...3 { #expect(try await upstream.account()?.id == "me") }
        #expect(refreshes(transport).count == 1)
    }

    @Test("is reported as missing with a message to sign in")
    func signedOut() async throws {
        let (upstream, _, transport) = try upstream()
        guard case .unauthorized(let message) = await failure(upstream) else { return wrong() }
        #expect(message.contains("repairminder-sync login"))
        try store.save(Tokens(access: "old"))
        guard case .unauthorized(let message) = await failure(upstream) else { return wrong() }
        #expect(message.contains("repairminder-sync login"))
        #expect(refreshes(transport).isEmpty)
    }

    @Test("is rejected when it is not a valid header value, and when the response has none")
    func unusable() async throws {
        for body in [#"{"data":{"token":"a\r\nX: b"}}"#, "{}", "<html>", #"{"data":{"token":7}}"#] {
            try store.save(Tokens(access: "old", refresh: "r1"))
            let (upstream, _, _) = try upstream { _ in HTTPResponse.json(200, body) }
            guard case .throttled(_, let message) = await failure(upstream) else { return wrong() }
            #expect(message.contains("auth.refresh"))
            #expect(try store.load()?.refresh == "r1")
        }
    }

    @Test(
        "a failed refresh is never mistaken for an error about a record, and is repeated",
        arguments: [404, 409, 410, 412, 302])
    func otherStatus(_ status: Int) async throws {
        try store.save(Tokens(access: "old", refresh: "r1"))
        let isWell = Mutex(false)
        let (upstream, _, transport) = try upstream { _ in
            isWell.withLock { $0 } ? Self.refreshed : HTTPResponse(status: status)
        }
        for _ in 1...2 {
            guard case .throttled(_, let message) = await failure(upstream) else { return wrong() }
            #expect(message.contains("auth.refresh"))
        }
        #expect(refreshes(transport).count == 1)
        isWell.withLock { $0 = true }
        time.now.withLock { $0 = $0 + .seconds(30) }
        #expect(try await upstream.account()?.id == "me")
    }

    @Test("a request that is refused with the new token too fails permanently")
    func refusedTwice() async throws {
        try store.save(Tokens(access: "old", refresh: "r1"))
        let (upstream, _, transport) = try upstream(good: [])
        guard case .unauthorized = await failure(upstream) else { return wrong() }
        #expect(transport.requests.count == 3)
    }

    private func wrong() {
        Issue.record("failed in another way")
    }

    private static let schema = """
        schema: shop
        upstream:
          base_url: https://shop.example
          account: { path: /me, id: id }
          error_message: error
          auth:
            type: bearer
            refresh: { path: /token, send: refreshToken, token: data.token, refresh_token: data.refresh, expires_in: data.life }
        entities:
          orders:
            fields: { id: { type: string } }
            pull: { path: /orders, pagination: { style: single } }
        """
}
