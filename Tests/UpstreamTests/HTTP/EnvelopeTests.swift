import EntitySchema
import JSONText
import ReferenceUpstream
import Testing
import Upstream

@Suite("Bodies around the fields of a change, sent and taken")
struct EnvelopeTests {
    @Test("an update may be an action that sends none of its fields", arguments: UpstreamFixture.allCases)
    func action(_ way: UpstreamFixture) async throws {
        let schema = try EntitySchema(
            yaml: """
                schema: small
                upstream: { base_url: http://localhost }
                entities:
                  notes:
                    fields: { id: { type: string }, status: { type: string }, size: { type: integer } }
                    pull: { path: /notes }
                    push:
                      update:
                        - { call: "POST /notes/{id}/close", when: { status: closed }, fields: [status], body: {} }
                        - { call: "POST /notes/{id}/sizes", fields: [size], body: { set: { size: "{size}" } } }
                """, file: "small.yaml")
        let note = JSONText.object(["id": "a", "status": "open", "size": 1])
        try await way.with(schema, records: ["notes": [note]]) { upstream, _ in
            let entity = try #require(schema["notes"])
            var record = note
            for change in [JSONText.object(["status": "closed"]), JSONText.object(["size": 2])] {
                let request = try #require(
                    entity.request(for: .update, record: record.setting(change), body: change))
                let key = "key \(change.text)"
                guard case .record(let answer) = try await upstream.push(request, idempotencyKey: key) else {
                    throw CancellationError()
                }
                record = answer.record
            }
            #expect(record["status"] == "closed" && record["size"] == 2)
        }
    }

    @Test("a creation and an update arrive", arguments: UpstreamFixture.allCases)
    func arrives(_ way: UpstreamFixture) async throws {
        let schema = try EntitySchema(
            yaml: """
                schema: small
                upstream: { base_url: http://localhost, record: data }
                entities:
                  notes:
                    fields: { id: { type: string }, text: { type: string }, size: { type: integer } }
                    pull: { path: /notes, records: data }
                    push:
                      create: { call: POST /notes, body: { note: $fields } }
                      update:
                        call: "PATCH /notes/{id}"
                        body: { data: { type: notes, id: "{id}", attributes: $fields } }
                        encoding: application/vnd.api+json
                """, file: "small.yaml")
        try await way.with(schema, records: ["notes": []]) { upstream, _ in
            let entity = try #require(schema["notes"])
            let first = JSONText.object(["id": "a", "text": "one", "size": 1])
            let creation = try #require(entity.request(for: .create, record: first, body: first))
            guard case .record(let made) = try await upstream.push(creation, idempotencyKey: "1") else {
                throw CancellationError()
            }
            let record = made.record
            #expect(record["text"] == "one" && record["size"] == 1)
            let update = try #require(entity.request(for: .update, record: record, body: .object(["text": "two"])))
            guard case .record(let changed) = try await upstream.push(update, idempotencyKey: "2") else {
                throw CancellationError()
            }
            #expect(changed.record["text"] == "two" && changed.record["size"] == 1)
        }
    }
}
