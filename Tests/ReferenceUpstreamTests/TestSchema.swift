import EntitySchema
import TestSupport

/// Schemas for reference upstreams.
enum TestSchema {
    static func repairminder() throws -> EntitySchema { try ProjectFiles.schema("repairminder") }

    /// Repair Minder as its service really responds.
    static func live() throws -> EntitySchema { try ProjectFiles.schema("repairminder-live") }

    /// Another system: other names for everything, a key that is not `id`, conditions, renames.
    static func planner() throws -> EntitySchema { try EntitySchema(yaml: plannerYAML, file: "planner.yaml") }

    static let plannerYAML = """
        schema: planner
        upstream:
          base_url: https://planner.example.org
          account: { path: /me, id: who.user }
          probe: /ping
          error_message: problem.text
          pagination: { style: page, page: p, size: per, page_size: 3, total: result.meta.count, pages: result.meta.last }
          records: result.items
          idempotency_header: X-Once
        entities:
          courses:
            key: code
            fields:
              code: { type: string, required: true }
              name: { type: string, required: true }
              credits: { type: number }
              task_count: { type: integer }
              touched: { type: time, index: true }
              moved: { type: time }
            many:
              tasks: { of: tasks, by: course, on_delete: cascade }
            pull:
              path: /courses
              since: { param: after, field: touched }
              deleted: gone
              detail: { path: "/courses/{code}/tasks", into: tasks, when_changed: moved }
            push:
              create: { call: POST /courses }
              delete: { call: "DELETE /courses/{code}" }
              update:
                - { when: { credits: "0" }, call: "POST /courses/{code}/waive", fields: [credits], body: {} }
                - { call: "PUT /courses/{code}", fields: [name, credits] }
          tasks:
            key: uuid
            fields:
              uuid: { type: string, required: true }
              course: { type: reference, to: courses, index: true, required: true }
              text: { type: string }
              is_note: { type: boolean }
              state: { type: enum, values: { open: Open, done: Done } }
            push:
              create:
                - { when: { is_note: "true" }, call: "POST /courses/{course}/notes", body: { note: text } }
                - { call: "POST /courses/{course}/tasks", fields: [text, is_note, state] }
              update:
                - { when: { is_note: "true" }, call: "PATCH /tasks/{uuid}", body: { note: text } }
                - { call: "PATCH /tasks/{uuid}", fields: [text, state] }
              delete: { call: "DELETE /courses/{course}/tasks/{uuid}" }
        """
}
