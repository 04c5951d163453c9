import EntitySchema
import JSONText
import ReferenceUpstream
import Testing

/// The planner schema shares no name with Repair Minder, so whatever works here comes from the schema.
@Suite("Another system")
struct OtherSystemTests {
    private func planner() throws -> Harness {
        try Harness(
            TestSchema.planner(),
            [
                "courses": ["MA1", "PH2", "CH3", "BI4"].map { #"{"code":"\#($0)","name":"x","credits":2.50}"# },
                "tasks": [#"{"uuid":"u1","course":"MA1","text":"a","is_note":false}"#],
            ])
    }

    @Test("lists, records, errors and the account are where the schema says")
    func places() async throws {
        let harness = try planner()
        let list = try await harness.get("/courses?p=2")
        #expect(
            list.text
                == #"{"success":true,"result":{"items":[{"code":"BI4","name":"x","credits":2.50}],"#
                + #""meta":{"p":2,"per":3,"count":4,"last":2}}}"#)
        #expect(try await harness.get("/courses/PH2").at("result.items.code") == "PH2")
        #expect(try await harness.get("/courses/none").at("problem.text").plain.contains("none"))
        #expect(try await harness.get("/me").text == #"{"success":true,"who":{"user":"company-1"}}"#)
        #expect(try await harness.get("/ping").status == 200)
    }

    @Test("a list of changes uses the schema's parameter, field and deletion mark")
    func changes() async throws {
        let harness = try planner()
        let time = try harness.at("2023-02-02T02:02:02Z")
        #expect(try await harness.send("PUT", "/courses/PH2", #"{"name":"y"}"#).status == 200)
        #expect(try await harness.send("DELETE", "/courses/CH3").status == 200)
        let reply = try await harness.get("/courses?after=\(time)")
        #expect(try reply.at("result.items").elements.first?.text == #"{"code":"CH3","gone":"\#(time)"}"#)
        #expect(try reply.column("touched", of: "result.items") == ["–", time])
    }

    @Test("a new record changes the parent that it comes with, and not one that it refers to in another field")
    func severalParents() async throws {
        let yaml = TestSchema.plannerYAML
            .replacing("many:\n", with: "many:\n      copies: { of: tasks, by: copied_to }\n")
            .replacing(
                "text: { type: string }\n",
                with: "text: { type: string }\n      copied_to: { type: reference, to: courses }\n"
            ).replacing("[text, is_note, state]", with: "[text, is_note, state, copied_to]")
        let harness = try Harness(
            EntitySchema(yaml: yaml, file: "planner.yaml"), ["courses": [#"{"code":"MA1"}"#, #"{"code":"PH2"}"#]])
        let time = try harness.at("2023-02-02T02:02:02Z")
        let task = #"{"text":"do","copied_to":"PH2"}"#
        #expect(try await harness.send("POST", "/courses/MA1/tasks", task).status == 201)
        #expect(harness.upstream.record("courses", "MA1")?["moved"]?.plain == time)
        #expect(harness.upstream.record("courses", "PH2")?["moved"] == nil)
    }

    @Test("a route's path and conditions supply what its body leaves out")
    func conditions() async throws {
        let harness = try planner()
        let note = try await harness.send("POST", "/courses/MA1/notes", #"{"note":"hello"}"#).at("result.items")
        #expect(note["text"] == "hello")
        #expect(note["note"] == nil)
        #expect(note["is_note"] == true)
        #expect(note["course"] == "MA1")
        let task = try await harness.send("POST", "/courses/MA1/tasks", #"{"text":"do"}"#).at("result.items")
        #expect(task["is_note"] == nil)
        let waived = try await harness.send("POST", "/courses/MA1/waive", "{}").at("result.items")
        #expect(waived["credits"]?.text == "0")
    }

    @Test("a body that contradicts its route is refused")
    func contradiction() async throws {
        let reply = try await planner().send("POST", "/courses/MA1/notes", #"{"note":"x","is_note":false}"#)
        #expect(reply.status == 400)
    }

    @Test("of two routes with one path, the record and the body's names decide")
    func choice() async throws {
        let harness = try planner()
        let task = try await harness.send("PATCH", "/tasks/u1", #"{"text":"b","state":"done"}"#).at("result.items")
        #expect(task.text == #"{"uuid":"u1","course":"MA1","text":"b","is_note":false,"state":"done"}"#)
        try harness.upstream.update("tasks", "u1", with: .object(["is_note": true]))
        #expect(try await harness.send("PATCH", "/tasks/u1", #"{"note":"c"}"#).at("result.items.text") == "c")
    }

    @Test("a path with more than the key must match the record in all parts")
    func placeholders() async throws {
        let harness = try planner()
        #expect(try await harness.send("DELETE", "/courses/PH2/tasks/u1").status == 404)
        #expect(try await harness.send("DELETE", "/courses/MA1/tasks/u1").status == 200)
        #expect(harness.upstream.records(of: "tasks").isEmpty)
    }

    @Test("children update their parent's fields, and are deleted with it")
    func children() async throws {
        let harness = try planner()
        let time = try harness.at("2023-02-02T02:02:02Z")
        _ = try await harness.send("POST", "/courses/PH2/tasks", #"{"text":"do"}"#)
        let parent = try #require(harness.upstream.record("courses", "PH2"))
        #expect(parent["task_count"] == 1)
        #expect(parent["moved"]?.plain == time)
        #expect(parent["touched"]?.plain == time)
        _ = try await harness.send("DELETE", "/courses/MA1")
        #expect(harness.upstream.records(of: "tasks").map { $0["course"] } == ["PH2"])
    }

    @Test("the schema's idempotency header is used")
    func idempotency() async throws {
        let harness = try planner()
        for _ in 1...2 {
            _ = try await harness.send("POST", "/courses/PH2/tasks", #"{"text":"do"}"#, headers: [("x-once", "1")])
        }
        #expect(harness.upstream.records(of: "tasks").count == 2)
    }

    @Test("requests of the schema's client are understood", arguments: [true, false])
    func roundTrip(_ isNote: Bool) async throws {
        let harness = try planner()
        let entity = try #require(TestSchema.planner()["tasks"])
        let record = JSONText.object(["uuid": "n", "course": "MA1", "text": "t", "is_note": .boolean(isNote)])
        let push = try #require(entity.request(for: .create, record: record, body: record))
        let made = try await harness.send(push.method, push.path, push.body?.text ?? "").at("result.items")
        for field in ["course", "text", "is_note"] { #expect(made[field] == record[field]) }
        let change = JSONText.object(["text": "changed"])
        let patch = try #require(entity.request(for: .update, record: made.setting(change), body: change))
        #expect(
            try await harness.send(patch.method, patch.path, patch.body?.text ?? "").at("result.items.text")
                == "changed")
    }
}
