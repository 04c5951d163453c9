import JSONText
import ReferenceUpstream
import TestSupport
import Testing

@testable import EntitySchema
@testable import Upstream

@Suite("Answers of an upstream that has keys in other places")
struct LiftedAnswerTests {
    private func schema(_ key: String, pull: String = "", record: String = "") throws -> EntitySchema {
        try EntitySchema(
            yaml: """
                schema: shop
                upstream: { base_url: "http://localhost" }
                entities:
                  notes:
                    key: { field: id, from: \(key) }
                    fields: { id: { type: string }, title: { type: string } }
                    pull: { path: /notes\(pull) }
                    push:
                      create: { call: POST /notes\(record) }
                      update: { call: "PATCH /notes/{id}" }
                """, file: "shop.yaml")
    }

    private func upstream(_ schema: EntitySchema, _ transport: any HTTPTransport) -> HTTPUpstream {
        HTTPUpstream(plan: schema.upstream, baseURL: "http://localhost", transport: transport)
    }

    private func push(
        _ operation: Operation, _ answer: String, _ key: String = "sys.id", record: String = ""
    ) async throws -> PushAnswer {
        let schema = try schema(key, record: record)
        let entity = try #require(schema["notes"])
        let known = JSONText.object(["id": "a", "title": "T"])
        let request = try #require(entity.request(for: operation, record: known, body: known))
        return try await upstream(schema, ScriptedTransport { _ in .json(200, answer) }).push(
            request, idempotencyKey: "k")
    }

    @Test("a single record gets its key; one without it at the place is none")
    func single() async throws {
        let schema = try schema("sys.id")
        let entity = try #require(schema["notes"])
        let known = JSONText.object(["id": "a"])
        let found = try await upstream(
            schema, ScriptedTransport { _ in .json(200, #"{"sys":{"id":"a"},"title":"T"}"#) }
        )
        .record(of: entity, known: known)
        #expect(found?.record.text == #"{"id":"a","sys":{"id":"a"},"title":"T"}"#)
        let other = upstream(schema, ScriptedTransport { _ in .json(200, #"{"id":"a","title":"T"}"#) })
        let error = await #expect(throws: UpstreamError.self) { try await other.record(of: entity, known: known) }
        #expect(error?.message.contains("no record with sys.id at the answer") == true)
    }

    @Test("the answer to a change is known as a record by the place of its key, and not by another id")
    func changes() async throws {
        let edited = try await push(.update, #"{"sys":{"id":"a"},"title":"T"}"#)
        #expect(edited.record?.record["id"] == "a")
        let error = await #expect(throws: UpstreamError.self) { try await push(.update, #"{"id":7,"state":"queued"}"#) }
        #expect(error?.wordless == .unclear(status: 200, ""))
    }

    @Test("a new record is known by its bare key, or the link to it, at the place that the route names")
    func bareKeys() async throws {
        let kintone = try await push(.create, #"{"id":"9","revision":"1"}"#, "$id.value", record: ", record: id")
        #expect(kintone.record?.record.text == #"{"id":"9"}"#)
        let link = try await push(
            .create, #"{"at":"http://localhost/notes/9"}"#, "{ link: url }", record: ", record: at")
        #expect(link.record?.record.text == #"{"id":"9"}"#)
    }

    @Test("the next page is asked for by the lifted key of the last record")
    func lastRecord() async throws {
        let pull = ", pagination: { style: cursor, cursor: after, size: limit, page_size: 2, next: { last: id } }"
        let schema = try schema("sys.id", pull: pull)
        let transport = ScriptedTransport { _ in .json(200, #"[{"sys":{"id":"a"}},{"sys":{"id":"b"}}]"#) }
        let plan = try #require(schema["notes"]?.pull)
        let page = try await upstream(schema, transport).page(plan.request(of: "notes"))
        #expect(page.next == "b" && page.count == 2)
        #expect(page.records.text == #"[{"id":"a","sys":{"id":"a"}},{"id":"b","sys":{"id":"b"}}]"#)
    }

    @Test("a record with a number that JSON does not have is still set aside, and the others have their keys")
    func nonFinite() async throws {
        let schema = try schema("sys.id")
        let transport = ScriptedTransport { _ in .json(200, #"[{"sys":{"id":"a"},"n":NaN},{"sys":{"id":"b"}}]"#) }
        let plan = try #require(schema["notes"]?.pull)
        let page = try await upstream(schema, transport).page(plan.request(of: "notes"))
        #expect(page.records.elements.first?.kind == .string)
        #expect(page.records.elements.last?["id"] == "b")
    }

    @Test(
        "the reference upstream has keys where the schema says, for pulls, reads and changes alike",
        arguments: ["sys.id", "{ link: _links.self.href }"])
    func reference(_ key: String) async throws {
        let schema = try schema(key)
        let entity = try #require(schema["notes"])
        let plan = try #require(entity.pull)
        let records = ["notes": [JSONText.object(["id": "a", "title": "T"])]]
        try await UpstreamFixture.calls.with(schema, records: records) { upstream, _ in
            let page = try await upstream.page(plan.request(of: "notes"))
            let row = try #require(page.records.elements.first)
            #expect(row["id"] == "a" && row.members.count == 3)
            #expect(try await upstream.record(of: entity, known: row)?.record["id"] == "a")
            let body = JSONText.object(["id": "local", "title": "N"])
            let creation = try #require(entity.request(for: .create, record: body, body: body))
            let made = try #require(try await upstream.push(creation, idempotencyKey: "k").record?.record)
            #expect(made["id"] != nil && made["id"] != "local" && made["title"] == "N")
            let edit = try #require(entity.request(for: .update, record: made, body: .object(["title": "M"])))
            #expect(try await upstream.push(edit, idempotencyKey: "l").record?.record["id"] == made["id"])
        }
    }
}
