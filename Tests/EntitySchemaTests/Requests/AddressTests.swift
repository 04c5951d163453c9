import JSONText
import Testing

@testable import EntitySchema

@Suite("The address of a change")
struct AddressTests {
    private let yaml = """
        schema: small
        upstream: { base_url: http://localhost }
        entities:
          lists:
            fields: { id: { type: string } }
            pull: { path: /lists }
          tasks:
            fields:
              id: { type: string }
              list_id: { type: reference, to: lists }
              project: { type: string }
              state: { type: string }
              note: { type: string }
            pull: { path: /tasks }
            push:
              update:
                - { call: "POST /lists/{list_id}/tasks/{id}", fields: [list_id] }
                - { call: "PUT /tasks/{id}/state/{state}", fields: [state, note] }
                - { call: "PATCH /projects/{project}/tasks/{id}" }
              delete: { call: "DELETE /projects/{project}/tasks/{id}" }
        """

    private let remote = JSONText.object(["id": "1", "list_id": "a", "project": "p", "state": "open"])

    private func path(_ operation: Operation, _ body: JSONText) throws -> String? {
        let tasks = try #require(try EntitySchema(yaml: yaml, file: "small.yaml")["tasks"])
        let record = remote.setting(body)
        return tasks.request(
            for: operation, record: record, body: body, address: tasks.located(record, as: remote))?.path
    }

    @Test("has the values that the server last showed")
    func known() throws {
        #expect(try path(.update, .object(["project": "q", "note": "n"])) == "/projects/p/tasks/1")
        #expect(try path(.delete, .object(["project": "q"])) == "/projects/p/tasks/1")
    }

    @Test("has a new value behind the key, and where the route sends nothing else, if the record is not read there")
    func sent() throws {
        #expect(try path(.update, .object(["state": "done"])) == "/tasks/1/state/done")
        #expect(try path(.update, .object(["list_id": "b"])) == "/lists/b/tasks/1")
    }

    @Test("has a value that the server has not shown yet")
    func unshown() throws {
        let tasks = try #require(try EntitySchema(yaml: yaml, file: "small.yaml")["tasks"])
        let record = remote.setting("project", to: "q")
        #expect(tasks.located(record, as: remote.without("project"))["project"] == "q")
        #expect(tasks.located(record, as: remote.setting("project", to: .null))["project"] == "q")
        #expect(tasks.addressFields.sorted() == ["list_id", "project", "state"])
    }
}
