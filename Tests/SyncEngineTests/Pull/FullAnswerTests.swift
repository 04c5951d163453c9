import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore
@testable import SyncEngine
@testable import Upstream

/// As Todoist answers: everything, with `full_sync`, to the first request and sometimes to a token.
@Suite("An answer with the whole list to a token")
struct FullAnswerTests {
    private static let yaml = """
        schema: shop
        upstream: { base_url: "http://shop" }
        entities:
          tasks:
            fields: { id: { type: string }, title: { type: string }, is_deleted: { type: boolean } }
            pull:
              path: /sync
              records: tasks
              record: { path: "/tasks/{id}" }
              query: { sync_token: "*" }
              since: { token: sync_token, param: sync_token, full: full_sync }
              deleted: is_deleted
        """

    /// The records are the tasks. While there is one named "full", every answer has all of them.
    private func server() -> ShapedServer {
        ShapedServer(["a": .object(["title": "A"]), "b": .object(["title": "B"])]) { call, tasks in
            func served(_ key: String, _ task: JSONText) -> JSONText { task.setting("id", to: .string(key)) }
            guard call.path == "/sync" else {
                return tasks[call.key].map { (200, served(call.key, $0)) } ?? (404, .object([:]))
            }
            let isFull = tasks["full"] != nil
            let listed = isFull ? tasks.filter { $0.key != "full" }.served(served) : .array([JSONText]())
            return (
                200, JSONText.object(["sync_token": "t", "full_sync": .boolean(isFull)]).setting("tasks", to: listed)
            )
        }
    }

    @Test("shows what is gone as a full list does, and is not taken for changes")
    func full() async throws {
        let server = server()
        server.records["full"] = .object([:])
        let plan = try EntitySchema(yaml: Self.yaml, file: "shop.yaml").upstream
        let upstream = HTTPUpstream(plan: plan, transport: server)
        let test = try TestEngine(remote: upstream, schema: Self.yaml)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            #expect(try test.record("b", "tasks")?["title"] == "B")
            server.remove("full")
            server.remove("b")
            try await test.engine.sync(SyncRequest())
            #expect(try test.record("b", "tasks") != nil, "no answer named it")
            server.records["full"] = .object([:])
            try await test.engine.sync(SyncRequest())
            #expect(try test.record("b", "tasks") == nil && test.record("a", "tasks") != nil)
            #expect(try test.store.cursor(of: "tasks").delta == "t")
        }
    }
}
