import Testing

@testable import EntitySchema

@Suite("Routes that are never taken, or do not say which record they change")
struct RouteTests {
    private static func error(
        push: String, pull: String = "path: /notes", pagination: String = "{ style: page }"
    ) -> SchemaError? {
        refusal(
            of: """
                schema: small
                upstream: { base_url: http://localhost, pagination: \(pagination), idempotency_header: Key }
                entities:
                  notes:
                    fields:
                      id: { type: string }
                      text: { type: string }
                      state: { type: enum, values: { open: Open, done: Done } }
                      pinned: { type: boolean }
                    pull: { \(pull) }
                    push:
                      \(push)
                """)
    }

    private static func expect(_ error: SchemaError?, _ key: String, _ words: String) {
        expectRefusal(error, "entities.notes.\(key)", words)
    }

    @Test(
        "a route that an earlier one always comes before is refused",
        arguments: [
            (#"update: [{ call: "PATCH /notes/{id}" }, { call: "PUT /notes/{id}" }]"#, "push.update.1"),
            (
                #"update: [{ call: "PATCH /notes/{id}", fields: [text, state] }, { call: "PUT /notes/{id}", fields: [text] }]"#,
                "push.update.1"
            ),
            ("create: [{ call: POST /notes }, { call: POST /open, when: { state: open } }]", "push.create.1"),
            (#"delete: [{ call: "DELETE /notes/{id}" }, { call: "POST /gone/{id}" }]"#, "push.delete.1"),
        ])
    func unreachable(_ push: String, _ key: String) {
        Self.expect(Self.error(push: push), key, "never taken")
    }

    @Test(
        "a route that takes what an earlier one leaves is accepted",
        arguments: [
            #"update: [{ call: "PATCH /notes/{id}", fields: [text] }, { call: "PUT /notes/{id}" }]"#,
            #"update: [{ call: "POST /done/{id}", when: { state: done } }, { call: "PATCH /notes/{id}" }]"#,
            "create: [{ call: POST /open, when: { state: open } }, { call: POST /notes }]",
        ])
    func reachable(_ push: String) {
        #expect(Self.error(push: push)?.description == nil)
    }

    @Test(
        "a condition on a value that the field never has is refused with the one that was meant",
        arguments: [
            ("state: opn", "state", "did you mean open?"), (#"pinned: "yes""#, "pinned", "expected one of true, false"),
        ])
    func conditions(_ condition: String, _ name: String, _ words: String) {
        Self.expect(
            Self.error(push: #"update: { call: "PATCH /notes/{id}", when: { \#(condition) } }"#),
            "push.update.when.\(name)", words)
    }

    @Test(
        "a change that does not say which of many records it means is refused",
        arguments: [
            ("update: { call: PATCH /notes }", "update"), ("delete: { call: DELETE /notes }", "delete"),
            ("update: { call: POST /notes, body: { set: $fields } }", "update"),
        ])
    func keyless(_ push: String, _ operation: String) {
        Self.expect(Self.error(push: push), "push.\(operation)", "does not say which record it changes")
        #expect(Self.error(push: push, pagination: "{ style: single }")?.description == nil)
    }

    @Test(
        "a key in the body, or the whole record, says which one",
        arguments: [
            #"update: { call: POST /notes, body: { id: "{id}", set: $fields } }"#, "update: { call: PUT /notes }",
            #"delete: { call: POST /gone, body: { ids: ["{id}"] } }"#,
        ])
    func keys(_ push: String) {
        #expect(Self.error(push: push)?.description == nil)
    }

    @Test("a single record that is read without its key is refused")
    func singleRecord() {
        let push = #"update: { call: "PATCH /notes/{id}" }"#
        for record in ["{ path: /notes/x }", "{ call: POST /one, at: data }"] {
            Self.expect(
                Self.error(push: push, pull: "path: /notes, record: \(record)"), "pull.record",
                "does not say which record is read")
        }
        let read = #"path: /notes, record: { call: POST /one, body: { id: "{id}" }, at: data }"#
        #expect(Self.error(push: push, pull: read)?.description == nil)
    }

    @Test("an update that sends no field is refused")
    func empty() {
        Self.expect(
            Self.error(push: #"update: { call: "POST /notes/{id}/close", when: { state: done }, body: {} }"#),
            "push.update", "it sends no field")
    }

    @Test("a look-up by nothing, or by a field that is not sent, is refused")
    func lookUps() {
        Self.expect(
            Self.error(push: "create: { call: POST /notes, look_up: { match: [] } }"), "push.create.look_up.match",
            "at least one field")
        Self.expect(
            Self.error(push: "create: { call: POST /notes, fields: [text], look_up: { match: [text, state] } }"),
            "push.create.look_up.match", "does not send state")
        let route = "call: POST /notes, fields: [text]"
        Self.expect(
            Self.error(push: "create: { \(route), look_up: { match: [text], among: { state: log.*.state } } }"),
            "push.create.look_up.among", "does not send state")
        Self.expect(
            Self.error(push: "create: { \(route), look_up: { match: [text], among: { text: log.*.text } } }"),
            "push.create.look_up.among", "in match already")
    }
}
