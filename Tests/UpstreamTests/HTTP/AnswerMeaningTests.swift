import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import Upstream

/// What each `means` of a rule does in the answer to each kind of request.
@Suite("The meaning that a rule gives an answer")
struct AnswerMeaningTests {
    private static let rules = AnswerRule.Meaning.allCases.map { meaning in
        "    - { when: { say: \(meaning.rawValue) }, means: \(meaning.rawValue) }"
    }.joined(separator: "\n")

    /// Each answer's body names its meaning, with any status.
    private static let schema = """
        schema: shop
        upstream:
          base_url: https://shop.example
          records: data
          answers:
        \(rules)
          batch: { call: POST /batch, element: { method: "{$method}", url: "{$path}", body: $body }, results: results, status: code, answer: body }
        entities:
          orders:
            fields: { id: { type: string }, status: { type: string }, notes: { type: string } }
            pull: { path: /orders, detail: { path: "/orders/{id}/lines", into: lines, when_changed: any } }
            push:
              create: { call: POST /orders }
              update:
                - { call: "POST /orders/{id}/close", when: { status: closed }, fields: [status], body: {} }
                - { call: "PATCH /orders/{id}", fields: [notes] }
              delete: { call: "DELETE /orders/{id}" }
            content: { upload: { call: "PUT /orders/{id}/content" } }
          lines:
            fields: { id: { type: string }, order_id: { type: reference, to: orders, index: true } }
        """

    private static let record = JSONText.object(["id": "a", "status": "closed", "notes": "n"])

    private struct Server {
        let schema: EntitySchema
        let orders: Entity
        let upstream: HTTPUpstream

        init(_ status: Int, _ body: String) throws {
            schema = try EntitySchema(yaml: AnswerMeaningTests.schema, file: "shop.yaml")
            orders = try #require(schema["orders"])
            upstream = HTTPUpstream(
                plan: schema.upstream, transport: ScriptedTransport { _ in .json(status, body) }, token: nil,
                now: { Timestamp.sample })
        }

        func request(_ operation: Operation, _ fields: [String]) throws -> PushRequest {
            let body = JSONText.object(members: fields.map { (key: $0, value: AnswerMeaningTests.record[$0] ?? .null) })
            return try #require(orders.request(for: operation, record: AnswerMeaningTests.record, body: body))
        }
    }

    private static func word(_ error: UpstreamError) -> String {
        switch error {
        case .refused: "refused"
        case .barred: "hold"
        case .unauthorized: "signed_out"
        case .throttled(.seconds(30), _): "throttled"
        case .locked: "locked"
        case .gone: "gone"
        case .changed: "changed"
        case .unclear: "unclear"
        case .malformed: "malformed"
        default: "\(error)"
        }
    }

    /// The meaning of an answer that is no failure to the engine.
    private static func word(_ answer: PushAnswer) -> String {
        if case .repeatedFailure = answer { "repeated" } else { "ok" }
    }

    /// The meaning of what `send` returns or throws.
    private func answer(_ send: () async throws -> PushAnswer) async throws -> String {
        do {
            return Self.word(try await send())
        } catch let error as UpstreamError {
            return Self.word(error)
        }
    }

    /// What a rule means where the answer is not that to a single change.
    private static func word(ofOther meaning: AnswerRule.Meaning) -> String {
        meaning == .repeated ? "unclear" : meaning.rawValue
    }

    /// The meaning of what `send` throws; "ok" if it throws nothing.
    private func outcome(_ send: () async throws -> Void) async throws -> String {
        do {
            try await send()
            return "ok"
        } catch let error as UpstreamError {
            return Self.word(error)
        }
    }

    private static let statuses = [200, 404, 409, 500]

    @Test("applies to the answer to any kind of change", arguments: AnswerRule.Meaning.allCases, statuses)
    func changes(_ meaning: AnswerRule.Meaning, _ status: Int) async throws {
        let server = try Server(status, #"{"say":"\#(meaning.rawValue)"}"#)
        let requests = [
            try server.request(.create, ["notes"]), try server.request(.update, ["notes"]),
            try server.request(.update, ["status"]), try server.request(.delete, []),
        ]
        #expect(requests.map(\.path) == ["/orders", "/orders/a", "/orders/a/close", "/orders/a"])
        for request in requests {
            let found = try await answer { try await server.upstream.push(request, idempotencyKey: "k") }
            #expect(found == meaning.rawValue, "\(request.method) \(request.path)")
        }
    }

    @Test("applies to the answer to an upload", arguments: AnswerRule.Meaning.allCases, statuses)
    func uploads(_ meaning: AnswerRule.Meaning, _ status: Int) async throws {
        let server = try Server(status, #"{"say":"\#(meaning.rawValue)"}"#)
        let content = Content(sha256: String(repeating: "0", count: 64), size: 0, type: "image/png")
        let request = try #require(server.orders.request(for: content, record: Self.record))
        let found = try await answer {
            try await server.upstream.upload(
                request, from: BodySource(size: 0) { _, _ in [] }, idempotencyKey: "k")
        }
        #expect(found == meaning.rawValue)
    }

    @Test(
        "applies to one result of a batch, and the others keep theirs", arguments: AnswerRule.Meaning.allCases,
        statuses)
    func results(_ meaning: AnswerRule.Meaning, _ status: Int) async throws {
        let result = #"{"code":\#(status),"body":{"say":"\#(meaning.rawValue)"}}"#
        let server = try Server(200, #"{"results":[\#(result),{"code":200,"body":{"data":{"id":"a"}}}]}"#)
        let plan = try #require(server.schema.upstream.batch)
        let element = server.orders.element(
            try server.request(.update, ["notes"]), of: Self.record, idempotencyKey: "k", in: plan)
        let results = try await server.upstream.push(BatchRequest(plan: plan, elements: [element, element]))
        let found = results.map { result in
            switch result {
            case .success: "ok"
            case .failure(let error): Self.word(error)
            }
        }
        #expect(found == [Self.word(ofOther: meaning), "ok"])
    }

    @Test(
        "applies to the answer to a whole batch", arguments: AnswerRule.Meaning.allCases.filter { $0 != .ok },
        statuses)
    func batches(_ meaning: AnswerRule.Meaning, _ status: Int) async throws {
        let server = try Server(status, #"{"say":"\#(meaning.rawValue)"}"#)
        let plan = try #require(server.schema.upstream.batch)
        let element = server.orders.element(
            try server.request(.update, ["notes"]), of: Self.record, idempotencyKey: "k", in: plan)
        let found = try await outcome {
            _ = try await server.upstream.push(BatchRequest(plan: plan, elements: [element]))
        }
        #expect(found == Self.word(ofOther: meaning))
    }

    @Test(
        "applies to the answer to a list, and to a detail's list", arguments: AnswerRule.Meaning.allCases, statuses
    )
    func lists(_ meaning: AnswerRule.Meaning, _ status: Int) async throws {
        let server = try Server(status, #"{"say":"\#(meaning.rawValue)"}"#)
        let list = try #require(server.orders.pull).list
        for path in ["/orders", "/orders/a/lines"] {
            let found = try await outcome {
                _ = try await server.upstream.page(PageRequest(path: path, list: list))
            }
            #expect(found == (meaning == .ok ? "malformed" : Self.word(ofOther: meaning)), "a success has a list")
        }
    }

    @Test("applies to the answer to a single record", arguments: AnswerRule.Meaning.allCases, statuses)
    func records(_ meaning: AnswerRule.Meaning, _ status: Int) async throws {
        let server = try Server(status, #"{"say":"\#(meaning.rawValue)"}"#)
        var isAbsent = false
        let found = try await outcome {
            isAbsent = try await server.upstream.record(of: server.orders, known: Self.record) == nil
        }
        switch meaning {
        case .gone: #expect(found == "ok" && isAbsent)
        case .ok: #expect(found == "malformed", "a success has a record")
        default: #expect(found == Self.word(ofOther: meaning))
        }
    }
}
