import EntitySchema
import Foundation
import JSONText
import Synchronization
import TestSupport
import Testing
import Upstream

@testable import SyncEngine

@Suite("Signing in for a person at the page")
struct SignInDeskTests {
    /// An upstream that knows one password and one code.
    private final class SignInTransport: HTTPTransport {
        let isOffline = Mutex(false)

        func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
            if isOffline.withLock({ $0 }) { throw .unreachable("connection refused") }
            let body = request.body.flatMap { try? JSONText($0) }
            switch request.url {
            case _ where request.url.hasSuffix("/login"):
                guard body?["password"]?.string == "right" else {
                    return answer(401, #"{"message":"wrong: \#(body?["password"]?.string ?? "")"}"#)
                }
                return answer(200, #"{"user":7}"#)
            case _ where request.url.hasSuffix("/verify"):
                guard body?["code"]?.string == "123456", body?["user"]?.text == "7" else { return answer(401, "{}") }
                return answer(200, #"{"token":"t","refreshToken":"r"}"#)
            default: return answer(200, "{}")
            }
        }

        private func answer(_ status: Int, _ text: String) -> HTTPResponse {
            HTTPResponse(status: status, body: Array(text.utf8))
        }
    }

    private static let schema = """
        schema: shop
        upstream:
          base_url: http://localhost
          auth:
            type: bearer
            refresh: { path: /refresh, send: refreshToken, token: token, refresh_token: refreshToken }
            login:
              password:
                - { call: POST /login, ask: { email: Email, password: Password }, secret: [password], keep: { user: user } }
                - { call: POST /mail, send: [user] }
                - { call: POST /verify, send: [user], ask: { code: Code } }
        entities:
          orders:
            fields: { id: { type: string } }
            pull: { path: /orders }
        """

    private let folder: TemporaryFolder
    private let clock = ManualClock()
    private let transport = SignInTransport()
    private let store: TokenStore
    private let desk: SignInDesk

    init() throws {
        folder = try TemporaryFolder()
        store = TokenStore(path: folder.path("tokens.json"))
        let plan = try EntitySchema(yaml: Self.schema, file: "shop.yaml").upstream
        let (now, counter) = ({ @Sendable [clock] in clock.timestamp }, Counter())
        desk = SignInDesk(
            ways: plan.login,
            session: SignInSession(
                UpstreamAccess(plan: plan, transport: transport, now: now), refresh: try #require(plan.refresh)),
            store: store, now: now, makeID: { "sign-in-\(counter.next())" })
    }

    /// The names of the questions that come next; nil when signed in.
    private func names(_ outcome: SignInDesk.Outcome) -> [String]? {
        if case .questions(let questions, _) = outcome { questions.map(\.name) } else { nil }
    }

    private let right = ["email": "ada@example.org", "password": "right"]

    /// The error of an answer; nil if it is accepted.
    private func error(_ answers: [String: String], id: String = "sign-in-1") async -> SignInError? {
        do throws(any Error) {
            _ = try await desk.answer(answers, id: id)
            return nil
        } catch {
            return error as? SignInError
        }
    }

    @Test("the questions come step by step, and the tokens are stored at the end")
    func steps() async throws {
        #expect(desk.names == ["password"])
        #expect(try await names(desk.begin("password")) == ["email", "password"])
        #expect(try await names(desk.answer(right, id: "sign-in-1")) == ["code"])
        #expect(try store.load() == nil)
        #expect(try await desk.answer(["code": "123456"], id: "sign-in-1") == .signedIn)
        #expect(try store.load()?.access == "t")
        guard case .unknown = await error(["code": "123456"]) else {
            Issue.record("a sign-in that is over can go on")
            return
        }
    }

    @Test("a refused answer can be given again, and its error does not repeat it")
    func refused() async throws {
        _ = try await desk.begin("password")
        guard case .refused(let message) = await error(["email": "ada@example.org", "password": "mistaken"]) else {
            Issue.record("expected a refusal")
            return
        }
        #expect(!message.contains("mistaken"))
        #expect(try await names(desk.answer(right, id: "sign-in-1")) == ["code"])
        guard case .refused = await error(["code": "000000"]) else {
            Issue.record("expected a refusal")
            return
        }
        #expect(try await desk.answer(["code": "123456"], id: "sign-in-1") == .signedIn)
    }

    @Test("after five refusals more have to wait, so that no account is locked")
    func bounded() async throws {
        _ = try await desk.begin("password")
        for _ in 1...SignInDesk.mostRefusals { _ = await error(["email": "ada@example.org", "password": "no"]) }
        #expect(await error(right) == .tooMany(SignInDesk.pause))
        clock.advance(by: SignInDesk.pause)
        _ = try await desk.begin("password")
        #expect(try await names(desk.answer(right, id: "sign-in-2")) == ["code"])
    }

    @Test("a sign-in ends ten minutes after the last answer, and when another one begins")
    func over() async throws {
        _ = try await desk.begin("password")
        _ = try await desk.begin("password")
        #expect(await error(right) == .unknown("this sign-in is over; begin again"))
        clock.advance(by: SignInDesk.patience)
        #expect(await error(right, id: "sign-in-2") == .unknown("this sign-in is over; begin again"))
    }

    @Test("an unreachable upstream is no refusal, and the answer can be sent again")
    func offline() async throws {
        _ = try await desk.begin("password")
        transport.isOffline.withLock { $0 = true }
        for _ in 0...SignInDesk.mostRefusals {
            #expect(await error(right) == .unavailable("the upstream is unavailable: connection refused"))
        }
        transport.isOffline.withLock { $0 = false }
        #expect(await error(right) == nil)
    }

    @Test("an unknown way and a missing answer are reported")
    func mistakes() async throws {
        await #expect(throws: SignInError.unknown("no way to sign in is called fax; expected password")) {
            _ = try await desk.begin("fax")
        }
        _ = try await desk.begin("password")
        #expect(await error(["email": "ada@example.org", "password": ""]) == .unanswered(["password"]))
        #expect(await error(right.merging(["code": "1"]) { $1 }) == .unasked(["code"]))
    }
}
