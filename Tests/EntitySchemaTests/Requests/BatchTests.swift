import JSONText
import Testing

@testable import EntitySchema

@Suite("Several changes as one request")
struct BatchTests {
    private static func schema(upstream: String = "", push: String) throws -> EntitySchema {
        let yaml = """
            schema: small
            upstream:
              base_url: http://localhost
              idempotency_header: Idempotency-Key
              version: { etag: true }
            \(upstream)
            entities:
              notes:
                fields:
                  id: { type: string }
                  text: { type: string }
                  size: { type: integer }
                  code: { type: string, secret: true }
                pull: { path: /notes }
                push:
            \(push)
            """
        return try EntitySchema(yaml: yaml, file: "small.yaml")
    }

    private static let routes = """
                  create: { call: POST /notes }
                  update: { call: "PATCH /notes/{id}" }
                  delete: { call: "DELETE /notes/{id}" }
        """

    /// The request for one change of each kind.
    private static func sent(
        _ schema: EntitySchema, _ operations: [Operation] = Operation.allCases, key: String = "k"
    ) throws -> WireRequest {
        let entity = try #require(schema["notes"])
        var elements: [BatchRequest.Element] = []
        var plan: BatchPlan?
        for (index, operation) in operations.enumerated() {
            let record = JSONText.object(["id": .string("n\(index)"), "text": "new", "size": 3])
            let body = JSONText.object(["text": "new"])
            let own = try #require(entity.batchPlan(for: operation, record: record, fields: ["text"]))
            let request = try #require(
                entity.request(for: operation, record: record, body: body, version: #""v\#(index)""#))
            plan = plan ?? own
            elements.append(entity.element(request, of: record, idempotencyKey: "\(key)\(index)", in: own))
        }
        return BatchRequest(plan: try #require(plan), elements: elements).request(schema.upstream)
    }

    @Test("a batch of the upstream has each change as the request that it would be by itself")
    func shared() throws {
        let batch = """
              batch:
                call: POST /api/batch
                body: { requests: $changes }
                element:
                  method: "{$method}"
                  url: "/api{$path}"
                  headers: { Idempotency-Key: "{$key}", If-Match: "{$version}", Content-Type: "{$type}" }
                  body: $body
                answer: body
                status: status
            """
        let request = try Self.sent(try Self.schema(upstream: batch, push: Self.routes))
        #expect(request.method == "POST" && request.path == "/api/batch")
        let expected = #"""
            {"requests":[
            {"method":"POST","url":"/api/notes","headers":{"Idempotency-Key":"k0","Content-Type":"application/json"},"body":{"text":"new"}},
            {"method":"PATCH","url":"/api/notes/n1","headers":{"Idempotency-Key":"k1","If-Match":"\"v1\"","Content-Type":"application/json"},"body":{"text":"new"}},
            {"method":"DELETE","url":"/api/notes/n2","headers":{"Idempotency-Key":"k2","If-Match":"\"v2\""}}]}
            """#
        #expect(request.body?.text == expected.replacing("\n", with: ""))
    }

    @Test("a batch of a route has new records, edits with their key, and keys of deleted records")
    func own() throws {
        let push = """
                  create: { call: POST /notes, look_up: key, batch: { call: POST /notes/batch, body: { items: $changes } } }
                  update: { call: "PATCH /notes/{id}", batch: { call: PATCH /notes } }
                  delete: { call: "DELETE /notes/{id}", batch: { call: POST /notes/delete, body: { ids: $changes } } }
            """
        let schema = try Self.schema(push: push)
        #expect(try Self.sent(schema, [.create]).body?.text == #"{"items":[{"text":"new"}]}"#)
        #expect(try Self.sent(schema, [.update]).body?.text == #"[{"id":"n0","text":"new"}]"#)
        #expect(try Self.sent(schema, [.delete]).body?.text == #"{"ids":["n0"]}"#)
    }

    @Test(
        "an edit in a batch of a route has its key where the upstream's records have it",
        arguments: [
            (#"'"Record Id"'"#, #"[{"Record Id":"n0","text":"new"}]"#),
            ("sys.id", #"[{"sys":{"id":"n0"},"text":"new"}]"#),
            ("{ link: url }", nil), ("[shop, no]", nil),
        ])
    func keyElsewhere(_ source: String, _ sent: String?) throws {
        func schema(_ push: String) throws -> EntitySchema {
            try EntitySchema(
                yaml: """
                    schema: small
                    upstream: { base_url: http://localhost }
                    entities:
                      notes:
                        key: { field: id, from: \(source) }
                        fields:
                          id: { type: string }
                          shop: { type: string }
                          no: { type: string }
                          text: { type: string }
                        pull: { path: /notes, record: none }
                        push: { \(push) }
                    """, file: "small.yaml")
        }
        let batch = "batch: { call: POST /notes/batch }"
        // A new record has no key.
        let made = try schema("create: { call: POST /notes, look_up: { match: [text] }, \(batch) }")
        #expect(try Self.sent(made, [.create]).body?.text == #"[{"text":"new"}]"#)
        let update = #"update: { call: "PATCH /shops/{shop}/notes/{no}", \#(batch) }"#
        guard let sent else {
            let error = #expect(throws: SchemaError.self) { try schema(update) }
            #expect(error?.key == "entities.notes.push.update.batch" && error?.problem.contains("in element") == true)
            return
        }
        let own = try #require(schema(update)["notes"]?.push.update.first?.batch)
        let record = JSONText.object(["id": "n0", "text": "new", "shop": "s", "no": "1"])
        let entity = try #require(schema(update)["notes"])
        let request = try #require(
            entity.request(for: .update, record: record, body: .object(["text": "new"])))
        let element = entity.element(request, of: record, idempotencyKey: "k", in: own)
        #expect(BatchRequest(plan: own, elements: [element]).request(made.upstream).body?.text == sent)
    }

    @Test("an element may differ by operation, and have the members of the body among its own")
    func operations() throws {
        let batch = """
              batch:
                call: POST /operations
                type: application/vnd.api+json;ext="https://jsonapi.org/ext/atomic"
                body: { "atomic:operations": $changes }
                create: { op: add, href: "{$path}", <<: $body }
                update: { op: update, href: "{$path}", <<: $body }
                delete: { op: remove, href: "{$path}" }
                results: atomic:results
                atomic: true
            """
        let routes = Self.routes.replacing("POST /notes }", with: "POST /notes, look_up: key }")
        let request = try Self.sent(try Self.schema(upstream: batch, push: routes))
        let expected = #"""
            {"atomic:operations":[{"op":"add","href":"/notes","text":"new"},{"op":"update","href":"/notes/n1","text":"new"},{"op":"remove","href":"/notes/n2"}]}
            """#
        #expect(request.body?.text == expected)
        #expect(request.headers.first?.value == #"application/vnd.api+json;ext="https://jsonapi.org/ext/atomic""#)
    }

    @Test("the key of a batch is the same for the same changes in the same order, and another one for others")
    func key() throws {
        let push = #"      update: { call: "PATCH /notes/{id}", batch: { call: PATCH /notes } }"#
        let schema = try Self.schema(push: "      " + push)
        func key(_ operations: [Operation]) throws -> String? {
            try Self.sent(schema, operations).headers.first { $0.name == "Idempotency-Key" }?.value
        }
        let two = try key([.update, .update])
        #expect(try two == key([.update, .update]))
        #expect(try two != key([.update]))
        #expect(two?.hasPrefix("batch-") == true && two?.count == 38)
        // The same edits, made again later: under the same key they would count as a repeat.
        let first = try Self.sent(schema, [.update, .update])
        let later = try Self.sent(schema, [.update, .update], key: "l")
        #expect(first.body == later.body)
        #expect(first.headers != later.headers)
    }

    @Test("a route keeps out of the upstream's batches if it says so, or is a form")
    func alone() throws {
        let batch = """
              batch: { call: POST /batch, element: { method: "{$method}", path: "{$path}", body: $body } }
            """
        let push = """
                  create: { call: POST /notes, batch: false }
                  update: { call: "PATCH /notes/{id}", encoding: form }
                  delete: { call: "DELETE /notes/{id}" }
            """
        let schema = try Self.schema(upstream: batch, push: push)
        let entity = try #require(schema["notes"])
        let batched = Operation.allCases.filter {
            entity.batchPlan(for: $0, record: .object(["id": "a"]), fields: []) != nil
        }
        #expect(batched == [.delete])
        #expect(schema.hasBatches)
    }

    @Test("what a server finds in an element is what was put there")
    func reading() throws {
        let template = BatchTemplate.object([
            .init(name: "url", value: .text(try #require(ValueTemplate("/api{$path}?once")))),
            .init(name: "id", value: .text(try #require(ValueTemplate("{$id}")))),
            .init(name: "op", value: .constant("add")), .init(name: "<<", value: .slot(.fields)),
        ])
        let element = JSONText.object(["url": "/api/notes/1?once", "id": "7", "op": "add", "text": "new", "size": 2])
        let reading = try #require(template.reading(of: element))
        #expect(reading.values[.value("path")] == "/notes/1" && reading.values[.value("id")] == "7")
        #expect(reading.slots[.fields]?.text == #"{"text":"new","size":2}"#)
        #expect(template.reading(of: element.setting("op", to: "remove")) == nil)
        #expect(template.reading(of: element.setting("url", to: "/notes/1?once")) == nil)
        #expect(template.reading(of: element.without("op")) == nil)
    }

    @Test(
        "what a batch cannot be is refused with its place",
        arguments: [
            ("call: /batch", "expected a method and a path without braces"),
            (#"call: "POST /notes/{id}""#, "expected a method and a path without braces"),
            ("call: POST /b, size: 1", "expected a whole number from 2 to 1000"),
            ("call: POST /b, max_bytes: 5", "expected a size from 1KiB to 64MiB"),
            ("call: POST /b, type: text/plain", "expected the media type of a JSON body"),
            ("call: POST /b, body: { items: $change }", "$change cannot stand here; did you mean $changes?"),
            ("call: POST /b, body: { a: $changes, b: $changes }", "expected $changes, the list of elements, once"),
            ("call: POST /b, element: { id: \"{id}\" }", "$body (what its own route sends) or $fields"),
            ("call: POST /b, element: { a: $body, b: $fields }", "$body (what its own route sends) or $fields"),
            ("call: POST /b, element: { a: $record }", "$record cannot stand here"),
            ("call: POST /b, element: { a: \"{$pth}\", b: $body }", "{$pth} cannot stand here; did you mean $path?"),
            ("call: POST /b, element: { a: \"{txt}\", b: $body }", "notes has no field txt; did you mean text?"),
            ("call: POST /b, element: { a: \"{code}\", b: $body }", "code is secret, so it is sent only as one of"),
            ("call: POST /b, element: { <<: \"{id}\", b: $body }", "only $body or $fields can stand after <<"),
            ("call: POST /b, by: key", "expected order, or what a result repeats"),
            ("call: POST /b, by: { id: \"{$method}\" }", "expected a value that no two elements share"),
            ("call: POST /b, by: { id: \"{$id}\", key: \"{$key}\" }", "expected one place in the result"),
            ("call: POST /b, result: items", "unknown key result; did you mean results?"),
        ])
    func refused(_ batch: String, _ problem: String) throws {
        let push = "          update: { call: \"PATCH /notes/{id}\", batch: { \(batch) } }"
        let error = #expect(throws: SchemaError.self) { try Self.schema(push: push) }
        let text = error?.description ?? ""
        #expect(text.contains(problem), "\(text)")
        #expect(text.contains("entities.notes.push.update"), "\(text)")
    }

    @Test(
        "a batch whose lost answer would fail its new records is refused",
        arguments: [
            ("", ", batch: { call: POST /b }"), ("batch: { call: POST /b, element: { b: $body } }", ""),
            (#"batch: { call: POST /b, element: { k: "{$key}", b: $body }, create: { b: $body } }"#, ""),
        ])
    func lostAnswers(_ shared: String, _ own: String) throws {
        let push = "          create: { call: POST /notes\(own) }"
        let error = #expect(throws: SchemaError.self) { try Self.schema(upstream: "  \(shared)", push: push) }
        #expect(error?.problem.contains("write {$key} in each element") == true)
        #expect(error?.key.hasPrefix("entities.notes.push.create") == true)
        _ = try Self.schema(
            upstream: "  \(shared)", push: push.replacing("POST /notes", with: "POST /notes, look_up: key"))
    }

    @Test("a batch that no route can use is refused")
    func useless() throws {
        let batch = "  batch: { call: POST /b, element: { b: $body } }"
        let error = #expect(throws: SchemaError.self) {
            try Self.schema(upstream: batch, push: #"          update: { call: "PATCH /notes/{id}", batch: false }"#)
        }
        #expect(error?.key == "upstream.batch" && error?.problem.contains("no route of push") == true)
    }

    @Test("a form cannot have a batch of its own")
    func form() throws {
        let push = "          create: { call: POST /notes, encoding: form, look_up: key, batch: { call: POST /b } }"
        let error = #expect(throws: SchemaError.self) { try Self.schema(push: push) }
        #expect(error?.problem.contains("a form or a file cannot be part of it") == true)
    }

    /// An update whose body has a value of the record, and not the fields that change.
    private static let action =
        #"update: { call: "POST /notes/{id}/rename", fields: [text], body: { to: { name: "{text}" } }"#

    @Test("an action goes into a batch of the upstream as its own body, and not where elements have the fields alone")
    func sharedAction() throws {
        let push = """
                      create: { call: POST /notes, look_up: key }
                      \(Self.action) }
            """
        func batch(_ slot: String) -> String {
            "  batch: { call: POST /b, element: { path: \"{$path}\", sent: \(slot) } }"
        }
        let whole = try Self.sent(try Self.schema(upstream: batch("$body"), push: push), [.update])
        #expect(whole.body?.text == #"[{"path":"/notes/n0/rename","sent":{"to":{"name":"new"}}}]"#)
        let notes = try #require(try Self.schema(upstream: batch("$fields"), push: push)["notes"])
        let record = JSONText.object(["id": "n0", "text": "new"])
        #expect(notes.batchPlan(for: .update, record: record, fields: ["text"]) == nil)
        #expect(notes.batchPlan(for: .create, record: record, fields: ["text"]) != nil)
    }

    @Test("an action's own batch whose elements have the fields alone is refused, with what to write")
    func ownAction() throws {
        let push = """
                      \(Self.action), batch: { call: POST /b, element: { id: "{id}", <<: $fields } } }
            """
        let error = #expect(throws: SchemaError.self) { try Self.schema(push: push) }
        #expect(error?.key == "entities.notes.push.update.batch")
        #expect(error?.problem.contains("write $body in their place") == true)
    }

    @Test("the upstream's batch must say what an element is, and may name no field")
    func sharedElement() throws {
        for (batch, problem) in [
            ("call: POST /b", "the key element is missing"),
            ("call: POST /b, element: { id: \"{id}\", b: $body }", "{id} cannot stand here"),
            ("call: POST /b, delete: { b: $body }, update: { p: \"{$path}\" }", "$body (what its own route sends)"),
        ] {
            let error = #expect(throws: SchemaError.self) {
                try Self.schema(upstream: "  batch: { \(batch) }", push: Self.routes)
            }
            #expect(error?.description.contains(problem) == true, "\(error?.description ?? "")")
        }
    }
}
