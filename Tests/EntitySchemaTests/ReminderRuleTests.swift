import Testing

@testable import EntitySchema

@Suite("Reminders in a schema")
struct ReminderRuleTests {
    private func schema(_ rule: String) throws(SchemaError) -> EntitySchema {
        try EntitySchema(
            yaml: """
                schema: home
                upstream: { base_url: "http://localhost" }
                reminders: { task_due: { \(rule) } }
                entities:
                  tasks:
                    fields:
                      id: { type: string }
                      title: { type: string }
                      code: { type: string, secret: true }
                      status: { type: enum, values: { open: Open, done: Done } }
                      due: { type: time }
                    pull: { path: /tasks }
                  notes:
                    local: true
                    fields:
                      id: { type: string }
                      task_id: { type: reference, to: tasks }
                      text: { type: string }
                      at: { type: time }
                """, file: "home.yaml")
    }

    @Test
    func `a rule has an entity, a time and a text`() throws {
        let rule = try #require(
            schema(
                """
                of: tasks, at: due, before: 24h, text: "{title} is due", unless: { status: done },
                into: { entity: notes, fields: { at: due_at, task_id: record_id } }
                """
            ).reminders.first)
        #expect(rule.before == .seconds(86_400))
        #expect(rule.conditions == [Condition(field: "status", values: ["done"], excluded: true)])
        #expect(rule.into?.fields == ["at": .dueAt, "task_id": .record, "text": .text])
    }

    @Test(arguments: [
        ("of: jobs, at: due, text: x", "there is no entity jobs"),
        ("of: tasks, at: title, text: x", "title must be of type time"),
        ("of: tasks, at: due, text: '{code}'", "code is secret"),
        ("of: tasks, at: due, text: x, unless: { status: dome }", "dome is not a value of status; did you mean done?"),
        ("of: tasks, at: due, text: x, into: tasks", "tasks is synced with the upstream"),
        ("of: tasks, at: due, text: x, into: { entity: notes, fields: { at: text } }", "at cannot hold text"),
        (
            "of: tasks, at: due, text: x, into: { entity: notes, fields: { at: when } }",
            "expected the part of a reminder"
        ),
        ("of: tasks, text: x", "the key at is missing"),
    ])
    func `an invalid rule is rejected with its place`(rule: String, problem: String) throws {
        do {
            _ = try schema(rule)
            Issue.record("taken")
        } catch {
            #expect(error.problem.contains(problem), "\(error.problem)")
            #expect(error.key.hasPrefix("reminders.task_due"))
        }
    }
}
