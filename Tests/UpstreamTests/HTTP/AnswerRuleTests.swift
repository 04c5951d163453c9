import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import Upstream

/// What an answer means by the rules of a schema.
@Suite("Rules for answers")
struct AnswerRuleTests {
    private static let rules = """
        - { status: 200, when: { extensions.code: UNAUTHENTICATED }, means: signed_out }
        - { status: 2xx, when: { errors.ne: null }, means: refused }
        - { status: 403, header: { X-Quota: "0" }, means: throttled, until: { header: X-Quota-Reset } }
        - { status: 420, means: throttled, until: { at: wait.seconds } }
        - { status: [400, 422], when: { code: [4711, LOCKED] }, means: hold }
        - { status: 400, when: { code: stale }, means: changed }
        - { status: 400, when: { code: no_such_order }, means: gone }
        - { status: 400, when: { code: known_key }, means: repeated }
        - { status: 404, header: { X-Proxy: any }, means: unclear }
        - { status: 409, when: { reason: already_done }, means: ok }
        - { header: { Content-Type: text/x-queued }, means: ok }
        """

    private static func schema() throws -> EntitySchema {
        let rules = rules.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n")
        return try EntitySchema(
            yaml: """
                schema: s
                upstream:
                  base_url: "https://shop.example"
                  records: data
                  error_message: [message, errors, detail]
                  answers:
                \(rules)
                entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders } } }
                """, file: "s.yaml")
    }

    private func upstream(_ response: HTTPResponse, token: (any Credentials)? = nil) throws -> HTTPUpstream {
        let schema = try Self.schema()
        return HTTPUpstream(plan: schema.upstream, transport: ScriptedTransport { _ in response }, token: token)
    }

    private func outcome(
        _ status: Int, _ body: String, _ fields: [HTTPHeader] = []
    ) async throws -> Result<PushAnswer, UpstreamError> {
        let upstream = try upstream(HTTPResponse.json(status, body, fields))
        do throws(UpstreamError) {
            let request = PushRequest(method: "PATCH", path: "/orders/1", body: "{}", record: Place(paths: ["data"]))
            return .success(try await upstream.push(request, idempotencyKey: "k"))
        } catch {
            return .failure(error)
        }
    }

    private func error(_ status: Int, _ body: String, _ fields: [HTTPHeader] = []) async throws -> UpstreamError? {
        guard case .failure(let error) = try await outcome(status, body, fields) else { return nil }
        return error
    }

    private let words = "PATCH /orders/1 answered"

    @Test("200 with errors, as GraphQL has them, is refused in their words")
    func errors() async throws {
        let body = #"{"data":null,"errors":[{"message":"No such status"}]}"#
        #expect(try await error(200, body) == .refused(status: 200, "\(words) 200: No such status"))
        let fine = #"{"data":{"id":"1"},"errors":null}"#
        #expect(try await outcome(200, fine) == .success(.record(RemoteRecord(.object(["id": "1"])))))
    }

    @Test("a failure that is said to be the answer to an earlier attempt is no new one")
    func repeated() async throws {
        let fields = [HTTPHeader("Idempotent-Replayed", "true")]
        let failure = PushAnswer.repeatedFailure(status: 500, "\(words) 500: broken")
        #expect(try await outcome(500, #"{"message":"broken"}"#, fields) == .success(failure))
        #expect(try await error(500, #"{"message":"broken"}"#) == .unclear(status: 500, "\(words) 500: broken"))
        #expect(try await error(400, "{}", fields) == .refused(status: 400, "\(words) 400"))
        for status in [402, 403, 404, 409, 410, 412, 423] {
            let refusal = PushAnswer.repeatedFailure(status: status, "\(words) \(status): no")
            #expect(try await outcome(status, #"{"message":"no"}"#, fields) == .success(refusal))
        }
    }

    @Test("a refusal of a repeat, as a rule names it, does not say what became of the first attempt")
    func refusedRepeat() async throws {
        let failure = PushAnswer.repeatedFailure(status: 400, "\(words) 400: code: known_key")
        #expect(try await outcome(400, #"{"code":"known_key"}"#) == .success(failure))
    }

    @Test("a page with errors is no list")
    func page() async throws {
        let upstream = try upstream(HTTPResponse.json(200, #"{"data":[],"errors":[{"message":"Broken"}]}"#))
        let list = try #require(Self.schema()["orders"]?.pull).list
        await #expect(throws: UpstreamError.refused(status: 200, "GET /orders answered 200: Broken")) {
            _ = try await upstream.page(PageRequest(path: "/orders", list: list))
        }
    }

    @Test("the header or the member that a rule names says how long to wait")
    func waits() async throws {
        let fields = [HTTPHeader("X-Quota", "0"), HTTPHeader("X-Quota-Reset", "77")]
        #expect(try await error(403, "{}", fields) == .throttled(.seconds(77), "\(words) 403"))
        #expect(try await error(420, #"{"wait":{"seconds":9}}"#) == .throttled(.seconds(9), "\(words) 420"))
        #expect(try await error(420, "slow down") == .throttled(.seconds(30), "\(words) 420: slow down"))
        #expect(try await error(403, "{}", [HTTPHeader("X-Quota", "1")]) == .barred(status: 403, "\(words) 403"))
    }

    @Test("codes hold, name another version, or say that there is no record")
    func codes() async throws {
        #expect(try await error(422, #"{"code":4711}"#) == .barred(status: 422, "\(words) 422: code: 4711"))
        #expect(try await error(400, #"{"code":"stale"}"#) == .changed(status: 400, "\(words) 400: code: stale"))
        let gone = UpstreamError.gone(status: 400, "\(words) 400: code: no_such_order")
        #expect(try await error(400, #"{"code":"no_such_order"}"#) == gone)
        #expect(try await error(400, #"{"code":"other"}"#) == .refused(status: 400, "\(words) 400: code: other"))
    }

    @Test("a status of success or failure can mean the other")
    func exchanged() async throws {
        let done = #"{"reason":"already_done"}"#
        #expect(try await outcome(409, done) == .success(.accepted(location: nil)))
        #expect(try await error(409, #"{"reason":"no"}"#) == .changed(status: 409, "\(words) 409: reason: no"))
        let type = HTTPHeader("Content-Type", "text/x-queued; charset=utf-8")
        let response = HTTPResponse(status: 200, headers: [type], body: Array("in line".utf8))
        let request = PushRequest(method: "PATCH", path: "/orders/1", body: "{}")
        #expect(try await upstream(response).push(request, idempotencyKey: "k") == .accepted(location: nil))
    }

    @Test("404 of a gateway that names itself does not say that the record is gone")
    func gateway() async throws {
        let fields = [HTTPHeader("X-Proxy", "edge-7")]
        #expect(try await error(404, "{}", fields) == .unclear(status: 404, "\(words) 404"))
        #expect(try await error(404, "{}") == .gone(status: 404, "\(words) 404"))
    }

    @Test("a token that is refused by a rule is renewed once")
    func signedOut() async throws {
        let body = #"{"errors":[{"message":"Sign in"}],"extensions":{"code":"UNAUTHENTICATED"}}"#
        let token = CountedToken()
        let upstream = try upstream(HTTPResponse.json(200, body), token: token)
        await #expect(throws: UpstreamError.unauthorized("\(words) 200: Sign in")) {
            try await upstream.push(PushRequest(method: "PATCH", path: "/orders/1", body: "{}"), idempotencyKey: "k")
        }
        #expect(token.renewals.next() == 2)
    }

    private struct CountedToken: Credentials {
        let renewals = Counter()

        func current() async throws(UpstreamError) -> String? { "t" }
        func renew(refused: String?) async throws(UpstreamError) -> Bool {
            _ = renewals.next()
            return true
        }
    }

    @Test("all texts at the places of error_message are shown, each once")
    func texts() async throws {
        let body = #"{"message":"Invalid","errors":{"email":["is taken"]},"detail":"Invalid"}"#
        #expect(try await error(422, body) == .refused(status: 422, "\(words) 422: Invalid; email: is taken"))
    }
}
