import JSONText
import Testing

@testable import EntitySchema

@Suite("Secret fields")
struct SecretCheckTests {
    private func schema(_ fields: String, _ more: String = "pull: { path: /notes }") throws -> EntitySchema {
        try EntitySchema(
            yaml: """
                schema: notes
                upstream: { base_url: "http://localhost", pagination: { style: page } }
                entities:
                  notes:
                    fields: { id: { type: string }, \(fields) }
                    \(more)
                """, file: "notes.yaml")
    }

    @Test("a secret inside a visible object is recognised, also at its place upstream")
    func allowed() throws {
        let schema = try schema("pin: { type: string, secret: true, from: lock.pin }, lock: { type: object }")
        #expect(
            schema["notes"]?.secretPlaces == [
                SecretPlace(path: [.member("pin")], entity: "notes", field: "pin"),
                SecretPlace(path: [.member("lock"), .member("pin")], entity: "notes", field: "pin"),
            ])
    }

    @Test(
        "a field whose plain value is needed cannot be secret",
        arguments: [
            ("id: { type: string, secret: true }", "", "the key cannot be secret"),
            ("x: { type: string, secret: true }", "title: \"{x}\"", "title needs it"),
            ("x: { type: string, secret: true }", "order_within: x", "order_within needs it"),
            ("x: { type: string, secret: true }", "push: { delete: { call: \"DELETE /notes/{x}\" } }", "push needs it"),
            (
                "x: { type: string, secret: true }", "push: { create: [{ when: { x: a }, call: POST /notes }] }",
                "push needs it"
            ),
            (
                "x: { type: string, secret: true }",
                "push: { create: { call: POST /notes, fields: [x], look_up: { match: [x] } } }", "look_up needs it"
            ),
            ("x: { type: string, sealed: true }", "content: { path: \"/files/{x}\" }", "content.path needs it"),
            ("x: { type: reference, to: notes, secret: true }", "", "a reference cannot be secret"),
        ])
    func refused(_ field: String, _ more: String, _ problem: String) {
        #expect {
            let fields = field.hasPrefix("id:") ? "z: { type: string }" : field
            let yaml = """
                schema: notes
                upstream: { base_url: "http://localhost", pagination: { style: page } }
                entities:
                  notes:
                    fields: { \(field.hasPrefix("id:") ? field : "id: { type: string }"), \(fields) }
                    pull: { path: /notes }
                    \(more)
                """
            _ = try EntitySchema(yaml: yaml, file: "notes.yaml")
        } throws: { "\($0)".contains(problem) }
    }

    @Test(
        "the deletion mark, the change time and the version cannot be secret",
        arguments: ["pull: { path: /notes, deleted: x }", "pull: { path: /notes, changed_at: x }"])
    func pull(_ pull: String) {
        #expect {
            _ = try schema("x: { type: string, secret: true }", pull)
        } throws: { "\($0)".contains("x cannot be secret") }
    }

    @Test(
        "no other field may reveal a secret",
        arguments: [
            "b: { type: string, from: a }", "b: { type: string, from: a.x }", "b: { type: object, from: lock }",
            "b: { type: string, from: lock.a.x }", "lock2: { type: string, from: lock.a }",
        ])
    func overlapping(_ other: String) {
        #expect {
            _ = try schema("a: { type: string, secret: true, from: lock.a }, \(other)")
        } throws: { "\($0)".contains("would show what a keeps secret") }
    }

    @Test("a secret cannot be read from another field's member")
    func ownMember() {
        #expect {
            _ = try schema("a: { type: string, secret: true, from: b }, b: { type: string }")
        } throws: { "\($0)".contains("would show what a keeps secret") }
    }
}
