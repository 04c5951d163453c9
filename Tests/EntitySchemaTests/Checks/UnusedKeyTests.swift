import Testing

@testable import EntitySchema

@Suite("Keys that would have no effect")
struct UnusedKeyTests {
    private static func error(
        upstream: String = "", fields: String = "", entity: String = "", pull: String = "path: /notes",
        push: String = #"update: { call: "PATCH /notes/{id}" }"#
    ) -> SchemaError? {
        refusal(
            of: """
                schema: small
                upstream: { base_url: http://localhost\(upstream.isEmpty ? "" : ", ")\(upstream) }
                entities:
                  notes:
                    fields: { id: { type: string }, changed: { type: time }\(fields.isEmpty ? "" : ", ")\(fields) }
                    pull: { \(pull) }
                    push: { \(push) }
                \(entity.isEmpty ? "" : "    ")\(entity)
                """)
    }

    @Test("an empty place is refused with what to do instead")
    func emptyPlace() {
        let error = Self.error(upstream: #"records: items, record: "" "#)
        expectRefusal(
            error, "upstream.record", "leave this key out where the record or the list is the answer itself")
    }

    @Test("a version is named by its place, not by a field that has one")
    func innerVersion() {
        let version = "version: { field: rev, header: X-Rev }"
        expectRefusal(
            Self.error(upstream: version, fields: "rev: { type: string, from: meta.rev }"),
            "entities.notes.fields.rev.from", "write field: meta.rev there")
        #expect(Self.error(upstream: version, fields: "rev: { type: string }")?.description == nil)
    }

    @Test("a schema with keys that all have an effect is accepted")
    func accepted() {
        #expect(Self.error()?.description == nil)
    }

    @Test(
        "a key of the upstream that others make useless is refused",
        arguments: [
            ("version: { etag: true, field: changed }", "version.field", "remove this key, or etag"),
            ("version: { etag: false, header: X-Version }", "version.header", "remove this key, or etag"),
            ("limits: { parallel: 64 }", "limits.parallel", "from 1 to 32"),
            ("limits: [{ parallel: 2 }, { parallel: 3 }]", "limits.1.parallel", "set twice"),
            ("headers: { X-Key: a }, idempotency_header: x-key", "idempotency_header", "in upstream.headers too"),
            ("idempotency_header: Content-Type", "idempotency_header", "set by the daemon itself"),
            ("headers: { K: a }, idempotency_header: { header: k }", "idempotency_header.header", "headers too"),
            (
                "auth: { send: { basic: true }, refresh: { path: /r, send: t, token: t } }", "auth.refresh",
                "never refreshed"
            ),
            (
                #"auth: { session: { call: POST /s, body: { p: "{$secret.p}" }, token: t, refresh_token: r } }"#,
                "auth.session.refresh_token", "add auth.refresh"
            ),
            (
                #"auth: { session: { call: POST /s, body: { p: "{$secret.p}" }, token: t }, refresh: { path: /r, send: t, token: t } }"#,
                "auth.refresh", "gives no refresh token"
            ),
            (
                "auth: { client_credentials: { token_url: /t }, refresh: { path: /r, send: t, token: t } }",
                "auth.refresh", "gives no refresh token"
            ),
            (
                "signals: { events: { path: /e, since: { param: a, next: b }, entity: { at: $event } } }",
                "signals.events.entity.at", "only events of a stream"
            ),
            (
                "signals: { webhook: { path: /h, entity: { at: $event }, signature: { header: X } } }",
                "signals.webhook.entity.at", "only events of a stream"
            ),
            (
                "signals: { webhook: { path: /h, entity: notes, signature: { header: X, timestamp: { header: T } } } }",
                "signals.webhook.signature.timestamp", "write {$timestamp} in over"
            ),
        ])
    func upstream(_ text: String, _ key: String, _ words: String) {
        expectRefusal(Self.error(upstream: text), "upstream.\(key)", words)
    }

    @Test(
        "a key of a field that its type, or the entity, makes useless is refused",
        arguments: [
            ("type: string, values: { a: A }", "values"), ("type: string, to: notes", "to"),
            ("type: string, as: other", "as"), ("type: string, write_only: true, from: a.b", "from"),
        ])
    func fields(_ field: String, _ key: String) {
        expectRefusal(Self.error(fields: "f: { \(field) }"), "entities.notes.fields.f.\(key)", "\(key) ")
    }

    @Test(
        "a key about the upstream is refused in a local-only entity",
        arguments: ["from: a.b", "steps: true", "write_only: true"])
    func local(_ text: String) {
        let yaml = """
            schema: small
            upstream: {}
            entities: { drafts: { local: true, fields: { id: { type: string }, f: { type: string, \(text) } } } }
            """
        let error = #expect(throws: SchemaError.self) { try EntitySchema(yaml: yaml, file: "small.yaml") }
        let key = text.prefix { $0 != ":" }
        expectRefusal(error, "entities.drafts.fields.f.\(key)", "has no effect here: the upstream has no local-only")
    }

    @Test(
        "a second title is refused without a first one, and with an open brace; a field's name alone stands for its value"
    )
    func titleElse() {
        expectRefusal(Self.error(entity: "title_else: id"), "entities.notes.title_else", "write this text as title")
        let entity = #"title: "{id}""# + "\n    title_else: "
        expectRefusal(Self.error(entity: entity + #""{id""#), "entities.notes.title_else", "every { to be closed")
        #expect(Self.error(entity: entity + "id")?.description == nil)
    }

    @Test("what concerns writes may stand where none is allowed yet")
    func writes() {
        let fields = "f: { type: string, default: a, steps: true }, l: { type: list, merge: set }"
        #expect(Self.error(fields: fields, entity: "conflict: manual", push: "")?.description == nil)
    }

    @Test(
        "a key of a pull that others make useless is refused",
        arguments: [
            ("path: /n, changed_at: id, since: { param: a, field: changed }", "changed_at", "names another field"),
            (
                "path: /n, changed_at: changed, deleted: { path: /d, at: t, since: { param: a, field: t } }",
                "deleted.since.field", "write it there"
            ),
            ("call: POST /n, record: { at: data }", "record.at", "add record.path"),
        ])
    func pulls(_ text: String, _ key: String, _ words: String) {
        expectRefusal(Self.error(pull: text), "entities.notes.pull.\(key)", words)
    }

    @Test(
        "a key of a route that others make useless is refused",
        arguments: [
            (#"update: { call: "PATCH /n/{id}", look_up: key }"#, "update.look_up", "only a creation"),
            (#"delete: { call: "DELETE /n/{id}", fields: [changed] }"#, "delete.fields", "sends no fields"),
            (#"delete: { call: "DELETE /n/{id}", encoding: form }"#, "delete.encoding", "has no body"),
            (
                #"update: { call: "PATCH /n/{id}", fields: [changed, id], body: { c: changed } }"#, "update.fields.1",
                "body does not send id"
            ),
            (
                "create: { call: POST /n, look_up: { match: [id], embedded: a, records: b } }",
                "create.look_up.records", "embedded says"
            ),
        ])
    func routes(_ text: String, _ key: String, _ words: String) {
        expectRefusal(Self.error(push: text), "entities.notes.push.\(key)", words)
    }
}
