import JSONText
import Testing

@testable import EntitySchema

@Suite("Where a change carries its idempotency key")
struct IdempotencyKeyTests {
    private static func schema(upstream: String = "", push: String, record: String = "") throws -> EntitySchema {
        let yaml = """
            schema: small
            upstream: { base_url: http://localhost\(upstream) }
            entities:
              notes:
                fields:
                  id: { type: string }
                  text: { type: string }
                pull: { path: /notes\(record) }
                push: { \(push) }
            """
        return try EntitySchema(yaml: yaml, file: "small.yaml")
    }

    private static func sent(_ push: String, _ operation: Operation = .create) throws -> WireRequest {
        let schema = try schema(push: push)
        let record = JSONText.object(["id": "a", "text": "new"])
        let request = try #require(
            schema["notes"]?.request(for: operation, record: record, body: .object(["text": "new"])))
        return request.request(schema.upstream, idempotencyKey: "k 1")
    }

    @Test(
        "the key stands wherever the route has it, and nowhere else",
        arguments: [
            (
                #"create: { call: POST /notes, body: { <<: $fields, request: "{$key}" } }"#,
                #"{"text":"new","request":"k 1"}"#
            ),
            (
                #"create: { call: POST /notes, body: { uuid: "{$key}", data: [{ note: $fields, by: "{$key}" }] } }"#,
                #"{"uuid":"k 1","data":[{"note":{"text":"new"},"by":"k 1"}]}"#
            ),
            (
                #"create: { call: POST /notes, encoding: form, body: { <<: $fields, request: "{$key}" } }"#,
                "text=new&request=k%201"
            ),
        ])
    func bodies(_ push: String, _ expected: String) throws {
        let sent = try Self.sent(push)
        #expect((sent.text ?? sent.body?.text) == expected)
        #expect(sent.path == "/notes" && sent.headers.map(\.name) == ["Content-Type", "Accept"])
    }

    @Test(
        "the key stands in a path or a query, percent-encoded",
        arguments: [
            ("/notes/by-key/{$key}", "/notes/by-key/k%201"),
            ("/notes?request_id={$key}&v=2", "/notes?request_id=k%201&v=2"),
        ])
    func paths(_ path: String, _ expected: String) throws {
        let sent = try Self.sent(#"create: { call: "POST \#(path)" }"#)
        #expect(sent.path == expected && sent.body?.text == #"{"text":"new"}"#)
    }

    @Test("a deletion carries its key in its body too")
    func deletions() throws {
        let push = #"delete: { call: "POST /notes/{id}/delete", body: { id: "{id}", request: "{$key}" } }"#
        #expect(try Self.sent(push, .delete).body?.text == #"{"id":"a","request":"k 1"}"#)
    }

    @Test("the upstream recognizes the repeats of those changes that carry a key")
    func recognized() throws {
        let create = #"create: { call: POST /notes, body: { <<: $fields, r: "{$key}" } }"#
        let schema = try Self.schema(push: #"\#(create), update: { call: "PATCH /notes/{id}" }"#)
        let entity = try #require(schema["notes"])
        #expect(entity.recognizesRepeats(of: .create, record: .object([:]), fields: ["text"], schema.upstream))
        #expect(!entity.recognizesRepeats(of: .update, record: .object([:]), fields: ["text"], schema.upstream))
    }

    private static let routes = """
        create: { call: POST /notes }, update: { call: "PATCH /notes/{id}" }, delete: { call: "DELETE /notes/{id}" }
        """

    @Test(
        "the header goes with the changes whose repeats the upstream recognizes by it, and only with these",
        arguments: [
            ("Key", Operation.allCases), ("{ header: Key }", Operation.allCases),
            ("{ header: Key, for: create }", [Operation.create]),
            ("{ header: Key, for: [create, delete] }", [Operation.create, .delete]),
        ])
    func header(_ header: String, _ operations: [Operation]) throws {
        let schema = try Self.schema(upstream: ", idempotency_header: \(header)", push: Self.routes)
        let notes = try #require(schema["notes"])
        let record = JSONText.object(["id": "a", "text": "new"])
        for operation in Operation.allCases {
            let isTaken = operations.contains(operation)
            #expect(
                notes.recognizesRepeats(of: operation, record: record, fields: ["text"], schema.upstream) == isTaken)
            let body = JSONText.object(["text": "new"])
            let sent = try #require(notes.request(for: operation, record: record, body: body))
                .request(schema.upstream, idempotencyKey: "k")
            #expect(sent.headers.contains(WireRequest.Header("Key", "k")) == isTaken, "\(operation)")
        }
    }

    @Test("a batch has a key of its own in the header only if that is for all of its changes")
    func headerOfBatch() throws {
        let element = #"{ method: "{$method}", url: "{$path}", body: $body, k: "{$key}" }"#
        let batch = "batch: { call: POST /b, element: \(element) }"
        let header = ", idempotency_header: { header: Key, for: create }, \(batch)"
        let schema = try Self.schema(upstream: header, push: Self.routes)
        let notes = try #require(schema["notes"])
        let record = JSONText.object(["id": "a", "text": "new"])
        func hasHeader(_ operations: [Operation]) throws -> Bool {
            let plan = try #require(schema.upstream.batch)
            let elements = try operations.map { operation in
                let change = try #require(notes.request(for: operation, record: record, body: .object(["text": "new"])))
                return notes.element(change, of: record, idempotencyKey: "k", in: plan)
            }
            let sent = BatchRequest(plan: plan, elements: elements).request(schema.upstream)
            return sent.headers.contains { $0.name == "Key" }
        }
        #expect(try hasHeader([.create, .create]))
        #expect(try !hasHeader([.create, .update]))
        #expect(try !hasHeader([.update]))
    }

    @Test(
        "a header that says in another way which changes it is for is refused",
        arguments: [
            ("{ for: create }", "idempotency_header", "the key header is missing"),
            ("{ header: Key, for: [] }", "idempotency_header.for", "expected create, update or delete"),
            ("{ header: Key, for: [create, updates] }", "idempotency_header.for.1", "updates is not known here"),
            ("{ header: Key, for: POST }", "idempotency_header.for", "expected one of create, update, delete"),
            ("{ header: Key, only: create }", "idempotency_header.only", "unknown key only"),
        ])
    func headerRefused(_ header: String, _ key: String, _ words: String) {
        let error = #expect(throws: SchemaError.self) {
            try Self.schema(upstream: ", idempotency_header: \(header)", push: Self.routes)
        }
        expectRefusal(error, "upstream.\(key)", words)
    }

    @Test("a batch whose elements have the body that carries the key shows it")
    func batches() throws {
        let route = #"call: POST /notes, body: { <<: $fields, r: "{$key}" }"#
        _ = try Self.schema(push: "create: { \(route), batch: { call: POST /notes/batch } }")
        let error = #expect(throws: SchemaError.self) {
            try Self.schema(
                push: "create: { \(route), batch: { call: POST /notes/batch, element: { note: $fields } } }")
        }
        #expect(error?.problem.contains("write {$key} in each element") == true)
        #expect(error?.key == "entities.notes.push.create.batch" && error?.line == 9)
    }

    @Test(
        "a key where none is sent, or where a field is named, is refused",
        arguments: [
            (
                #"create: { call: POST /notes, body: { name: text, r: "{$key}" } }"#, "",
                "{ <<: { $fields: { … } }, name:"
            ),
            (#"create: { call: POST /notes, body: { <<: $fields, r: "n {$key}" } }"#, "", "{$key} alone"),
            (#"create: { call: POST /notes, body: { <<: $fields, r: "{$kay}" } }"#, "", "{$kay} cannot stand here"),
            (
                "create: { call: POST /notes }", #", record: { call: POST /read, body: { id: "{id}", r: "{$key}" } }"#,
                "this reads a record"
            ), ("create: { call: POST /notes }", #", record: { path: "/notes/{$key}" }"#, "{$key} cannot stand here"),
        ])
    func refused(_ push: String, _ record: String, _ problem: String) throws {
        let error = #expect(throws: SchemaError.self) { try Self.schema(push: push, record: record) }
        #expect(error?.description.contains(problem) == true, "\(error?.description ?? "accepted")")
    }
}
