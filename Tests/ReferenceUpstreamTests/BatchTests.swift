import EntitySchema
import JSONText
import ReferenceUpstream
import SocketServer
import Testing

/// How the reference upstream serves the batches of a schema.
@Suite("The reference upstream's batches")
struct BatchTests {
    private static func yaml(_ batch: String) -> String {
        """
        schema: shop
        upstream:
          base_url: http://localhost
          error_message: message
          idempotency_header: Idempotency-Key
          batch: { call: POST /batch, size: 3, body: { requests: $changes }, \(batch) }
        entities:
          orders:
            fields: { id: { type: string }, text: { type: string }, size: { type: integer } }
            pull: { path: /orders }
            push:
              create: { call: POST /orders }
              update: { call: "PATCH /orders/{id}", fields: [text] }
              delete: { call: "DELETE /orders/{id}" }
        """
    }

    private static let element =
        #"element: { id: "{$id}", method: "{$method}", url: "{$path}", key: "{$key}", body: $body }"#
    private static let plain = element + #", results: results, by: { id: "{$id}" }, status: status, answer: body"#

    private func harness(_ batch: String = plain, faults: [Faults.Rule] = []) throws -> Harness {
        let schema = try EntitySchema(yaml: Self.yaml(batch), file: "shop.yaml")
        return try Harness(schema, ["orders": [#"{"id":"a","text":"n"}"#, #"{"id":"b","text":"n"}"#]]) {
            $0.faults = Faults(faults)
        }
    }

    private static func body(_ elements: String...) -> String { #"{"requests":[\#(elements.joined(separator: ","))]}"# }

    private static let edit = #"{"id":"1","method":"PATCH","url":"/orders/a","key":"k1","body":{"text":"new"}}"#
    private static let create = #"{"id":"2","method":"POST","url":"/orders","key":"k2","body":{"id":"c","text":"c"}}"#
    private static let remove = #"{"id":"3","method":"DELETE","url":"/orders/b","key":"k3"}"#
    private static let stray = #"{"id":"4","method":"PATCH","url":"/orders/z","key":"k4","body":{"text":"z"}}"#

    private func texts(_ harness: Harness) -> [String] {
        harness.upstream.records(of: "orders").map { "\($0["id"]?.plain ?? "") \($0["text"]?.plain ?? "")" }
    }

    private func statuses(_ reply: Reply) throws -> [String] {
        try JSONText(reply.body)["results"]?.elements.map { "\($0["id"]?.plain ?? "") \($0["status"]?.plain ?? "")" }
            ?? []
    }

    @Test("each element is answered as the request that it stands for")
    func elements() async throws {
        let harness = try harness()
        let reply = try await harness.send("POST", "/batch", Self.body(Self.edit, Self.create, Self.stray))
        #expect(reply.response.status == 200)
        #expect(try statuses(reply) == ["1 200", "2 201", "4 404"])
        let last = try JSONText(reply.body)["results"]?.elements.last
        #expect(last?.at(path: "body.message")?.string?.isEmpty == false)
        #expect(texts(harness) == ["a new", "b n", "c c"])
        #expect(try await harness.send("POST", "/batch", Self.body(Self.remove)).response.status == 200)
        #expect(texts(harness) == ["a new", "c c"])
    }

    @Test("an element that comes again under its key is answered again and not applied again, in a batch or alone")
    func keys() async throws {
        let harness = try harness()
        for _ in 1...2 { _ = try await harness.send("POST", "/batch", Self.body(Self.create)) }
        let headers = [("Idempotency-Key", "k2"), ("Content-Type", "application/json")]
        let alone = try await harness.send("POST", "/orders", #"{"id":"c","text":"c"}"#, headers: headers)
        #expect(alone.response.status == 201)
        #expect(texts(harness) == ["a n", "b n", "c c"])
        #expect(harness.upstream.log.map(\.applied) == [true, false, false])
    }

    @Test("more elements than the schema allows are refused, and so is another form")
    func refused() async throws {
        let harness = try harness()
        let many = Self.body(Self.edit, Self.create, Self.remove, Self.stray)
        #expect(try await harness.send("POST", "/batch", many).response.status == 413)
        #expect(try await harness.send("POST", "/batch", #"{"items":[]}"#).response.status == 400)
        #expect(try await harness.send("POST", "/batch", "no").response.status == 400)
        #expect(try statuses(try await harness.send("POST", "/batch", Self.body(#"{"a":1}"#))) == [" 400"])
        #expect(texts(harness) == ["a n", "b n"])
    }

    @Test("an atomic batch applies all elements or none")
    func atomic() async throws {
        let harness = try harness(Self.plain + ", atomic: true")
        #expect(try await harness.send("POST", "/batch", Self.body(Self.edit, Self.stray)).response.status == 400)
        #expect(texts(harness) == ["a n", "b n"])
        #expect(try await harness.send("POST", "/batch", Self.body(Self.edit, Self.create)).response.status == 200)
        #expect(texts(harness) == ["a new", "b n", "c c"])
    }

    @Test("a server that breaks down after half of a batch has applied that half, and answers nothing")
    func half() async throws {
        let harness = try harness(faults: [Faults.Rule(.cutBatch, next: 1, path: "/batch")])
        await #expect(throws: BrokenExchange.unanswered) {
            try await harness.send("POST", "/batch", Self.body(Self.create, Self.edit))
        }
        #expect(texts(harness) == ["a n", "b n", "c c"])
        #expect(harness.upstream.log.first?.appliedText == Self.create)
        let again = try await harness.send("POST", "/batch", Self.body(Self.create, Self.edit))
        #expect(try statuses(again) == ["2 201", "1 200"])
        #expect(texts(harness) == ["a new", "b n", "c c"])
    }

    @Test("a batch has its record and its error where the schema says")
    func places() async throws {
        let harness = try harness(
            Self.element + ", results: results, status: status, record: item, error: problem")
        let reply = try await harness.send("POST", "/batch", Self.body(Self.edit, Self.stray))
        let results = try JSONText(reply.body)["results"]?.elements ?? []
        #expect(results.first?.at(path: "item.text") == "new")
        #expect(results.last?["problem"]?.string?.isEmpty == false)
    }

    @Test("habits change the answer to each element")
    func habits() async throws {
        let harness = try harness()
        harness.upstream.habits = Habits(.emptyAnswers)
        let reply = try await harness.send("POST", "/batch", Self.body(Self.edit, Self.create))
        #expect(try statuses(reply) == ["1 204", "2 201"])
        #expect(texts(harness) == ["a new", "b n", "c c"])
    }
}
