import Foundation
import JSONText
import Synchronization
import TestSupport
import Testing

@testable import EntitySchema
@testable import Upstream

/// `auth.session`: the daemon signs in by itself.
@Suite("A session from stored credentials", .timeLimit(.minutes(10)))
struct StoredSessionTests {
    private let folder: TemporaryFolder
    private let server = TokenServer()
    private let store: TokenStore

    init() throws {
        folder = try TemporaryFolder()
        store = TokenStore(path: folder.path("tokens.json"))
        try put("right")
    }

    private func put(_ password: String, mode: Int = 0o600) throws {
        let path = folder.path("password")
        try? FileManager.default.removeItem(atPath: path)
        let data = Data("\(password)\n".utf8)
        #expect(FileManager.default.createFile(atPath: path, contents: data, attributes: [.posixPermissions: mode]))
    }

    private func upstream(_ change: (String) -> String = { $0 }, clock: ServerClock? = nil) throws -> HTTPUpstream {
        let plan = try EntitySchema(yaml: change(TokenServer.schema), file: "shop.yaml").upstream
        let (transport, now) = (server.transport, { @Sendable [server] in server.now })
        let access = UpstreamAccess(
            plan: plan, transport: transport, secrets: SecretFiles(paths: ["password": folder.path("password")]),
            clock: clock, now: now)
        return HTTPUpstream(access, token: RotatingToken(access, store: store))
    }

    private func orders(_ upstream: HTTPUpstream) async throws -> Int {
        let list = ListPlan(style: .single, pageSize: 100, records: .itself)
        return try await upstream.page(PageRequest(path: "/orders", list: list)).count
    }

    private func failure(_ upstream: HTTPUpstream) async -> UpstreamError? {
        do {
            _ = try await orders(upstream)
            return nil
        } catch {
            return error as? UpstreamError
        }
    }

    private var signIns: Int { server.calls("/sign-in").count }

    @Test("signs in before the first request, and before the token expires")
    func signsIn() async throws {
        let upstream = try upstream()
        #expect(try await orders(upstream) == 2)
        #expect(server.requests.map(\.url) == ["https://shop.example/sign-in", "https://shop.example/orders"])
        let sent = try #require(server.calls("/sign-in").first)
        #expect(sent.json == .object(["user": "ada", "password": "right"]) && sent.header("Authorization") == nil)
        server.advance(.seconds(4))
        #expect(try await orders(upstream) == 2)
        #expect(signIns == 1)
        server.advance(.seconds(1))
        #expect(try await orders(upstream) == 2)
        #expect(signIns == 2, "half of its time is over")
    }

    @Test("uses a stored token after a restart until that expires")
    func restart() async throws {
        server.state.withLock { $0.life = .seconds(3600) }
        #expect(try await orders(upstream()) == 2)
        server.advance(.seconds(3500))
        #expect(try await orders(upstream()) == 2)
        #expect(signIns == 1)
        server.advance(.seconds(80))
        #expect(try await orders(upstream()) == 2)
        #expect(signIns == 2)
    }

    @Test("signs in again if the stored token cannot be used", arguments: [1, 70_000])
    func unusableFile(_ length: Int) async throws {
        let text = [UInt8](repeating: UInt8(ascii: "{"), count: length)
        try PrivateFile(path: store.path).replace(with: text)
        let upstream = try upstream()
        #expect(await upstream.missing == nil)
        for _ in 1...2 { #expect(try await orders(upstream) == 2) }
        #expect(try store.load() != nil)
        try PrivateFile(path: store.path).replace(with: text)
        #expect(try await orders(upstream) == 2, "with the token in memory")
        #expect(signIns == 1)
        server.revoke()
        server.advance(.seconds(6))
        #expect(try await orders(upstream) == 2)
        #expect(signIns == 2)
        #expect(try store.load() != nil)
    }

    @Test("signs in once for all requests whose token expired on the way")
    func singleFlight() async throws {
        let upstream = try upstream { $0.replacing("check: { call: GET /me, account: id }", with: "") }
        server.state.withLock { $0.isStrict = true }
        #expect(try await orders(upstream) == 2)
        server.revoke()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { try await orders(upstream) } }
            for try await count in group { #expect(count == 2) }
        }
        #expect(signIns == 2)
    }

    @Test("with wrong credentials stops, says what to do, and tries again rarely")
    func wrong() async throws {
        try put("wört")
        let upstream = try upstream()
        for _ in 1...50 {
            guard case .unauthorized(let message) = await failure(upstream) else { return unexpected() }
            #expect(message.contains("upstream.secrets.password") && !message.contains("wört"), "\(message)")
            server.advance(.seconds(10))
        }
        #expect(signIns == 1, "500 s")
        server.advance(.seconds(401))
        _ = await failure(upstream)
        #expect(signIns == 2, "a quarter of an hour later")
        server.advance(.seconds(1700))
        _ = await failure(upstream)
        #expect(signIns == 2)
        server.advance(.seconds(101))
        _ = await failure(upstream)
        #expect(signIns == 3, "twice as long")
    }

    @Test(
        "no error repeats a credential, however the upstream spells it",
        arguments: [
            "Pä\"ss/w&rd+1", "P\\u00e4\\\"ss/w&rd+1", "P%C3%A4%22ss%2Fw%26rd%2B1", "Pä&quot;ss/w&amp;rd+1",
            "UMOkInNzL3cmcmQrMQ==", "P\u{E4}\\\"ss\\/w&rd+1",
        ])
    func spellings(_ spelling: String) async throws {
        try put("Pä\"ss/w&rd+1")
        let quoted = JSONText.object(["message": .string("not \(spelling)!")])
        for status in [400, 503] {
            server.state.withLock { $0.answers["/sign-in"] = .json(status, quoted.text) }
            let message = try #require(await failure(upstream())?.message)
            #expect(message.contains("not …!"), "\(message)")
        }
    }

    @Test("with wrong credentials signs in at once when they are corrected")
    func corrected() async throws {
        try put("wrong")
        let upstream = try upstream()
        _ = await failure(upstream)
        try put("right")
        #expect(try await orders(upstream) == 2)
    }

    @Test(
        "an answer that is neither a token nor a refusal is asked for again after half a minute, then more rarely",
        arguments: [
            (200, "{}"), (200, #"{"token":null}"#), (200, #"{"token":""}"#), (200, #"{"token":"a b"}"#),
            (200, "<html>"), (200, ""), (200, #"{"token":"t1","#), (404, "no backend"), (302, ""),
            (403, "<html>Just a moment</html>"),
            (200, #"{"token":"\#(String(repeating: "t", count: 20_000))"}"#),
        ])
    func noToken(_ status: Int, _ body: String) async throws {
        server.state.withLock { $0.answers["/sign-in"] = .json(status, body) }
        let upstream = try upstream()
        for _ in 1...3 {
            guard case .throttled(let wait, let message) = await failure(upstream) else { return unexpected() }
            #expect(wait == .seconds(30) && message.contains("upstream.auth.session"), "\(message)")
        }
        #expect(signIns == 1 && server.calls("/orders").isEmpty)
        server.advance(.seconds(30))
        _ = await failure(upstream)
        #expect(signIns == 2)
        server.state.withLock { $0.answers = [:] }
        server.advance(.seconds(59))
        #expect(await failure(upstream) != nil)
        server.advance(.seconds(1))
        #expect(try await orders(upstream) == 2, "twice as long")
    }

    @Test("other credentials do not wait because the answer to the first ones was unclear")
    func unclearCorrected() async throws {
        server.state.withLock { $0.answers["/sign-in"] = .json(404, "no backend") }
        let upstream = try upstream()
        _ = await failure(upstream)
        server.state.withLock { ($0.answers, $0.password) = ([:], "new") }
        try put("new")
        #expect(try await orders(upstream) == 2)
    }

    @Test(
        "the error quotes an answer without a token",
        arguments: [
            (#"{"error":"maintenance until noon"}"#, "maintenance until noon"),
            ("<html>Down for maintenance</html>", "Down for maintenance"), (#"{"token":"t1","#, "cut off"),
        ])
    func quoted(_ body: String, _ words: String) async throws {
        server.state.withLock { $0.answers["/sign-in"] = .json(200, body) }
        let message = try #require(await failure(upstream())?.message)
        #expect(message.contains(words), "\(message)")
    }

    @Test(
        "the error does not quote a token that is elsewhere in the answer",
        arguments: [
            #"{"data":{"jwt":"s3cr3t"}}"#, #"{"token":"s3cr3t","#, "s3cr3t", "token s3cr3t-0123456789-0123456789",
        ])
    func unquoted(_ body: String) async throws {
        server.state.withLock { $0.answers["/sign-in"] = .json(200, body) }
        let message = try #require(await failure(upstream())?.message)
        #expect(!message.contains("s3cr3t"), "\(message)")
    }

    @Test(
        "of all meanings of a rule, only a refusal concerns the credentials; after the others, it tries again later",
        arguments: AnswerRule.Meaning.allCases)
    func ruledMeaning(_ meaning: AnswerRule.Meaning) async throws {
        server.state.withLock { $0.answers["/sign-in"] = .json(409, "{}") }
        let rule = "  answers: [{ status: 409, means: \(meaning.rawValue) }]\n  auth:\n"
        let upstream = try upstream { $0.replacing("  auth:\n", with: rule) }
        let error = await failure(upstream)
        _ = await failure(upstream)
        switch (meaning, error) {
        case (.refused, .unauthorized), (.signedOut, .unauthorized): #expect(signIns == 1)
        case (.unclear, .unclear(409, _)), (.repeated, .unclear(409, _)): #expect(signIns == 2)
        case (.throttled, .throttled(.seconds(30), _)): #expect(signIns == 2)
        case (_, .throttled(.seconds(30), let message)):
            #expect(signIns == 1 && message.contains("The next attempt is at"), "\(message)")
        case let other: Issue.record("\(other)")
        }
    }

    @Test("a rule of the schema says that a 200 refuses the credentials")
    func ruled() async throws {
        server.state.withLock { $0.answers["/sign-in"] = .json(200, #"{"error":"wrong password"}"#) }
        let rule = "  answers: [{ status: 200, when: { error: wrong password }, means: refused }]\n  auth:\n"
        let upstream = try upstream { $0.replacing("  auth:\n", with: rule) }
        guard case .unauthorized(let message) = await failure(upstream) else { return unexpected() }
        #expect(message.contains("wrong password") && message.contains("upstream.secrets.password"), "\(message)")
        server.advance(.seconds(600))
        _ = await failure(upstream)
        #expect(signIns == 1)
    }

    @Test("a missing or exposed credential sends nothing")
    func unusable() async throws {
        try put("right", mode: 0o640)
        let upstream = try upstream()
        #expect(await upstream.missing?.contains("chmod 600") == true)
        guard case .unauthorized(let message) = await failure(upstream) else { return unexpected() }
        #expect(message.contains("chmod 600"))
        try FileManager.default.removeItem(atPath: folder.path("password"))
        #expect(await upstream.missing?.contains("is missing") == true)
        #expect(await failure(upstream) != nil)
        #expect(server.requests.isEmpty)
    }

    @Test("an unreachable or failing upstream is no refusal of the credentials")
    func unclear() async throws {
        let upstream = try upstream()
        for answer in [HTTPResponse(status: 503), HTTPResponse(status: 429, headers: [HTTPHeader("Retry-After", "7")])]
        {
            server.state.withLock { $0.answers["/sign-in"] = answer }
            switch await failure(upstream) {
            case .unclear(503, _), .throttled(.seconds(7), _): break
            case let other: Issue.record("\(String(describing: other))")
            }
        }
        server.state.withLock { $0.answers = [:] }
        #expect(try await orders(upstream) == 2)
    }

    @Test("an upstream that gives tokens and refuses them is not asked without end")
    func useless() async throws {
        server.state.withLock { $0.answers["/orders"] = .json(401, "{}") }
        let upstream = try upstream()
        for _ in 1...60 {
            _ = await failure(upstream)
            server.advance(.milliseconds(500))
        }
        #expect(signIns <= 5, "\(signIns) in half a minute")
    }

    @Test("a token that has counted is replaced however soon it ends, as by another sign-in of the same user")
    func endedSoon() async throws {
        let upstream = try upstream { $0.replacing("check: { call: GET /me, account: id }", with: "") }
        server.state.withLock { ($0.isStrict, $0.life) = (true, .seconds(3600)) }
        for _ in 1...9 {
            #expect(try await orders(upstream) == 2)
            server.revoke()
            server.advance(.seconds(6))
        }
        #expect(signIns == 9)
    }

    @Test("a JWT's expiry is read with the server's clock")
    func clock() async throws {
        let ahead = Duration.seconds(3600)
        server.state.withLock { ($0.life, $0.ahead) = (.seconds(60), ahead) }
        let clock = ServerClock(now: { [server] in server.now }, monotonic: { .zero }, initialOffset: ahead)
        let upstream = try upstream(clock: clock)
        _ = try await orders(upstream)
        #expect(try #require(store.load()?.expiresAt?.since(server.now)) == .seconds(60))
    }

    @Test("a token that has expired by this machine's clock when it is given is used until it is refused")
    func wrongClock() async throws {
        server.state.withLock { $0.ahead = .seconds(-3600) }
        let upstream = try upstream()
        for _ in 1...5 { #expect(try await orders(upstream) == 2) }
        #expect(signIns == 1)
        #expect(try #require(try store.load()).expiresAt == nil)
        server.revoke()
        #expect(try await orders(upstream) == 2)
        #expect(signIns == 2)
    }

    @Test("`with: access` refreshes with the old token while it counts, and signs in afterwards")
    func access() async throws {
        let upstream = try upstream {
            $0.replacing(
                "    check:",
                with: "    refresh: { call: POST /refresh, with: access, token: token, expires: jwt }\n    check:")
        }
        _ = try await orders(upstream)
        let first = try #require(store.load()?.access)
        server.advance(.seconds(6))
        _ = try await orders(upstream)
        #expect(signIns == 1 && server.calls("/refresh").map { $0.header("Authorization") } == ["Bearer \(first)"])
        #expect(server.calls("/refresh").first?.body == nil)
        server.advance(.seconds(11))
        _ = try await orders(upstream)
        #expect(signIns == 2 && server.calls("/refresh").count == 1, "expired")
        server.revoke()
        #expect(try await orders(upstream) == 2)
        #expect(signIns == 3 && server.calls("/refresh").count == 1, "refused")
    }

    @Test("a look at the upstream signs in once and stores nothing")
    func probe() async throws {
        let plan = try EntitySchema(yaml: TokenServer.schema, file: "shop.yaml").upstream
        let secrets = SecretFiles(paths: ["password": folder.path("password")])
        let (transport, now) = (server.transport, { @Sendable [server] in server.now })
        let access = UpstreamAccess(plan: plan, transport: transport, secrets: secrets, now: now)
        let session = try #require(ProbeSession(access, stored: Tokens(access: "old", expiresAt: server.now)))
        let upstream = HTTPUpstream(access, token: session)
        #expect(try await orders(upstream) == 2)
        server.revoke()
        #expect(await failure(upstream) != nil)
        #expect(signIns == 1)
        #expect(try store.load() == nil)
    }

    private func unexpected() {
        Issue.record("it went another way")
    }
}
