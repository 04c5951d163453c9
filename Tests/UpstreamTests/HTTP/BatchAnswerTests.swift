import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import Upstream

/// Which result belongs to which change of a batch, and what it says.
@Suite("The answer to a batch")
struct BatchAnswerTests {
    private static let shop = """
        schema: shop
        upstream:
          base_url: https://shop.example
          records: data
          error_message: message
          answers: [{ status: 409, when: { code: LOCKED }, means: hold }]
          BATCH
        entities:
          orders:
            fields: { id: { type: string }, text: { type: string } }
            pull: { path: /orders }
            push: { create: { call: POST /orders }, update: { call: "PATCH /orders/{id}" } }
        """

    private static let byID = """
        batch: { call: POST /batch, element: { id: "{$id}", url: "{$path}", body: $body }, results: responses, \
        by: { id: "{$id}" }, status: status, answer: body }
        """

    private static let byOrder = """
        batch: { call: POST /batch, element: { url: "{$path}", body: $body }, results: results, status: code, \
        record: item, error: problem }
        """

    private static let withoutStatus = """
        batch: { call: POST /batch, element: { url: "{$path}", body: $body }, error: problem }
        """

    /// What each of three edits was answered, in a word.
    private func answers(
        _ body: String, _ batch: String, status: Int = 200, operation: Operation = .update, rules: String? = nil,
        keys: [String] = ["a", "b", "c"]
    ) async throws -> [String] {
        var yaml = Self.shop.replacing("BATCH", with: batch)
        if let rules {
            yaml = yaml.replacing("answers: [{ status: 409, when: { code: LOCKED }, means: hold }]", with: rules)
        }
        let schema = try EntitySchema(yaml: yaml, file: "shop.yaml")
        let entity = try #require(schema["orders"])
        var elements: [BatchRequest.Element] = []
        let plan = try #require(schema.upstream.batch)
        for key in keys {
            let record = JSONText.object(["id": .string(key), "text": "new"])
            let request = try #require(entity.request(for: operation, record: record, body: .object(["text": "new"])))
            elements.append(entity.element(request, of: record, idempotencyKey: "k", in: plan))
        }
        let transport = ScriptedTransport { _ in .json(status, body) }
        let upstream = HTTPUpstream(plan: schema.upstream, transport: transport)
        return try await upstream.push(BatchRequest(plan: plan, elements: elements)).map(Self.word)
    }

    private static func word(_ result: BatchResult) -> String {
        switch result {
        case .success(.record(let record)): "record \(record.record["id"]?.plain ?? "")"
        case .success(.accepted): "accepted"
        case .success(.repeatedFailure(let status, _)): "repeated \(status)"
        case .failure(.unclear(let status, _)): "unclear \(status ?? 0)"
        case .failure(.refused(let status, let message)): "refused \(status ?? 0) \(message)"
        case .failure(.changed(let status, _)): "changed \(status)"
        case .failure(.gone(let status, _)): "gone \(status)"
        case .failure(.throttled(let delay, _)): "throttled \(delay)"
        case .failure(.barred(let status, _, _)): "barred \(status)"
        case .failure(.unauthorized): "unauthorized"
        case .failure(let error): "\(error)"
        }
    }

    @Test("a result is found by what it repeats of its element, in any order")
    func byID() async throws {
        let found = try await answers(
            #"""
            {"responses":[{"id":"3","status":204},{"id":1,"status":200,"body":{"data":{"id":"a"}}},
              {"id":"2","status":422,"body":{"message":"too long"}}]}
            """#, Self.byID)
        #expect(found == ["record a", "refused 422 PATCH /orders/b in POST /batch answered 422: too long", "accepted"])
    }

    @Test(
        "a result that is missing, doubled, unknown or without a status says nothing",
        arguments: [
            #"[{"id":"1","status":204},{"id":"3","status":204}]"#,
            #"[{"id":"1","status":204},{"id":"2","status":204},{"id":"2","status":204},{"id":"3","status":204}]"#,
            #"[{"id":"1","status":204},{"id":"4","status":204},{"id":"3","status":204}]"#,
            #"[{"id":"1","status":204},{"status":204},{"id":"3","status":204}]"#,
            #"[{"id":"1","status":204},{"id":"2"},{"id":"3","status":204}]"#,
            #"[{"id":"1","status":204},null,{"id":"3","status":204}]"#,
            #"[{"id":"1","status":204},{"id":"2","status":"fine"},{"id":"3","status":204}]"#,
            #"[{"id":"1","status":204},{"id":"2","status":200,"body":{"data":{"id":"c"}}},{"id":"3","status":204}]"#,
            #"[{"id":"1","status":204},{"id":"2","status":200,"body":{"hello":"world"}},{"id":"3","status":204}]"#,
        ])
    func unmatched(_ results: String) async throws {
        let found = try await answers(#"{"responses":\#(results)}"#, Self.byID)
        #expect(found == ["accepted", "unclear 200", "accepted"])
    }

    @Test("results in the order of the elements count only if there are as many")
    func byOrder() async throws {
        let three = #"{"code":200,"item":{"id":"a"}},{"code":"204 No Content"},{"code":404,"problem":"none"}"#
        #expect(try await answers(#"{"results":[\#(three)]}"#, Self.byOrder) == ["record a", "accepted", "gone 404"])
        for results in ["", #"{"code":204}"#, three + #",{"code":204}"#] {
            let found = try await answers(#"{"results":[\#(results)]}"#, Self.byOrder)
            #expect(found == ["unclear 200", "unclear 200", "unclear 200"])
        }
    }

    @Test("a result with the key of another change is not this one's, though the keys look the same")
    func equivalentKeys() async throws {
        let (composed, apart) = ("caf\u{E9}", "cafe\u{301}")
        func results(_ keys: [String]) -> String {
            #"{"results":[\#(keys.map { #"{"code":200,"item":{"id":"\#($0)"}}"# }.joined(separator: ","))]}"#
        }
        let right = try await answers(results([composed, apart]), Self.byOrder, keys: [composed, apart])
        #expect(right.map(\.exact) == ["record \(composed)".exact, "record \(apart)".exact])
        let wrong = try await answers(results([apart, composed]), Self.byOrder, keys: [composed, apart])
        #expect(wrong == ["unclear 200", "unclear 200"])
    }

    @Test("statuses and the schema's rules mean what they mean in an answer of its own")
    func meanings() async throws {
        let found = try await answers(
            #"""
            {"responses":[{"id":"1","status":429,"headers":{"Retry-After":"7"}},
              {"id":"2","status":409,"body":{"code":"LOCKED"}},{"id":"3","status":"HTTP/1.1 412 Precondition Failed"}]}
            """#, Self.byID)
        #expect(found == ["throttled 7.0 seconds", "barred 409", "changed 412"])
        let more = try await answers(
            #"""
            {"responses":[{"id":"1","status":503},{"id":"2","status":401},
              {"id":"3","status":200,"body":{"success":false,"message":"no"}}]}
            """#, Self.byID)
        #expect(more == ["unclear 503", "unauthorized", "unclear 200"])
    }

    @Test("a result without a status is a success, unless it has an error or is null")
    func withoutStatus() async throws {
        let found = try await answers(
            #"[{"data":{"id":"a"}},{"problem":"too long"},{}]"#, Self.withoutStatus, status: 201)
        #expect(found == ["record a", "refused 422 PATCH /orders/b in POST /batch answered 422: too long", "accepted"])
        let null = try await answers(#"[null,{"problem":null},{}]"#, Self.withoutStatus)
        #expect(null[0] == "unclear 200" && null[2] == "accepted")
    }

    @Test("a result without a status and without the answer is refused if it has an error, else it says nothing")
    func lackingAnswer() async throws {
        let batch = """
            batch: { call: POST /batch, element: { url: "{$path}", body: $body }, answer: success, error: problem }
            """
        let found = try await answers(
            #"[{"success":{"data":{"id":"a"}}},{"problem":"too long"},{"note":"later"}]"#, batch)
        let refusal = "refused 422 PATCH /orders/b in POST /batch answered 422: too long"
        #expect(found == ["record a", refusal, "unclear 200"])
        let empty = try await answers(#"[{"success":{}},{},{"problem":null}]"#, batch)
        #expect(empty == ["accepted", "unclear 200", "unclear 200"])
    }

    @Test("an empty list of errors is none")
    func emptyErrors() async throws {
        let found = try await answers(
            #"[{"data":{"id":"a"},"problem":[]},{"data":{"id":"b"},"problem":""},{"success":true,"problem":false}]"#,
            Self.withoutStatus)
        #expect(found == ["record a", "record b", "accepted"])
    }

    @Test("an answer without a list of results is unclear as a whole; a refusal is one")
    func whole() async throws {
        for body in [#"{"ok":true}"#, #"{"responses":{}}"#, #"{"responses":null}"#] {
            let error = await #expect(throws: UpstreamError.self) { try await answers(body, Self.byID) }
            #expect(error?.wordless == .unclear(status: 200, ""))
            #expect(error?.message.contains("POST /batch answered 200 without a list of results") == true)
        }
        await #expect(throws: UpstreamError.gone(status: 404, "POST /batch answered 404")) {
            try await answers("", Self.byID, status: 404)
        }
    }

    @Test("a refusal with results that say their status has applied what they say")
    func refusedWithResults() async throws {
        let found = try await answers(
            #"{"responses":[{"id":"1","status":204},{"id":"2","status":422,"body":{"message":"too long"}}]}"#,
            Self.byID, status: 422)
        let refusal = "refused 422 PATCH /orders/b in POST /batch answered 422: too long"
        #expect(found == ["accepted", refusal, "unclear 422"])
    }

    @Test("a rule that finds the whole refused counts if no result is a failure by itself")
    func ruleOfTheWhole() async throws {
        let rules = "answers: [{ when: { error.ne: null }, means: refused }]"
        let batch = Self.withoutStatus.replacing(
            "error: problem", with: "results: results, record: item, error: problem")
        await #expect(throws: UpstreamError.self) {
            try await answers(
                #"{"error":"quota","results":[{"item":{"id":"a"}},{"item":{"id":"b"}},{"item":{"id":"c"}}]}"#,
                batch, rules: rules)
        }
    }

    @Test(
        "a rule that finds the first change refused in an answer with 2xx says nothing of the others",
        arguments: ["refused", "gone", "changed", "throttled"])
    func ruleOfTheFirst(_ meaning: String) async throws {
        let rules = #"answers: [{ when: { results.0.problem: bad }, means: \#(meaning) }]"#
        let batch = Self.withoutStatus.replacing(
            "error: problem", with: "results: results, record: item, error: problem")
        let found = try await answers(
            #"{"results":[{"problem":"bad"},{"item":{"id":"b"}},{"item":{"id":"c"}}]}"#,
            batch, rules: rules)
        #expect(found == ["refused 422 PATCH /orders/a in POST /batch answered 422: bad", "record b", "record c"])
    }

    @Test("new records that the upstream gives keys of its own are matched by their place")
    func createdKeys() async throws {
        let found = try await answers(
            #"{"results":[{"code":201,"item":{"id":"x"}},{"code":201,"item":{"id":"y"}},{"code":201,"item":{"id":"z"}}]}"#,
            Self.byOrder, operation: .create)
        #expect(found == ["record x", "record y", "record z"])
    }
}
