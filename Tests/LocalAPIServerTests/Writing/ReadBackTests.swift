import CacheStore
import JSONText
import TestSupport
import Testing

@Suite("Sending back what was read")
struct ReadBackTests {
    private static let schema = """
        schema: shop
        upstream: { base_url: "http://localhost" }
        entities:
          tasks:
            fields:
              id: { type: string }
              title: { type: string }
              state: { type: enum, values: { open: Open, done: Done } }
              place: { type: object }
              code: { type: string, secret: true, from: place.code }
              short: { type: string, derive: { text: "{title:1}" } }
              number: { type: integer }
            pull: { path: /tasks }
            push:
              create: { call: POST /tasks }
              update: { call: "PATCH /tasks/{id}", fields: [title, state, place, code] }
        """

    private let api: TestAPI

    init() async throws {
        api = try TestAPI(yaml: Self.schema)
        // A state and a member that the schema does not know.
        let records =
            #"[{"id":"a","title":"Read","state":"lost","number":7,"colour":"red","#
            + #""place":{"room":"1","shelf":{"row":2},"code":"4711"}}]"#
        _ = try await api.store.apply(PulledPage(entity: "tasks", records: records), at: TestAPI.now)
    }

    private func queued() async -> [JSONText] {
        await api.call("GET", "/v1/pending").json["data"]?.elements.compactMap { $0["body"] } ?? []
    }

    @Test("a record that was read, edited and sent back changes what was edited, and nothing else")
    func patched() async throws {
        let read = await api.call("GET", "/v1/tasks/a?labels=true").json
        #expect(read["colour"] == "red" && read["_labels"] != nil)
        let answer = await api.call("PATCH", "/v1/tasks/a", body: read.setting("title", to: "Write").text)
        #expect(answer.status == 200, "\(answer.text)")
        #expect(await queued() == [.object(["title": "Write"])])
    }

    @Test("a record that is sent back as it was is no change")
    func unchanged() async throws {
        let read = await api.call("GET", "/v1/tasks/a").text
        #expect(await api.call("PATCH", "/v1/tasks/a", body: read).status == 200)
        #expect(await api.call("PUT", "/v1/tasks/a", body: read).status == 200)
        #expect(await queued().isEmpty)
    }

    @Test("an upstream's own member by a name that answers add is not shown, and no hindrance")
    func forged() async throws {
        let records = #"[{"_sync":{"state":"error"},"id":"b","title":"Read","_labels":{"state":"Done"},"_other":3}]"#
        _ = try await api.store.apply(PulledPage(entity: "tasks", records: records), at: TestAPI.now)
        let read = await api.call("GET", "/v1/tasks/b?labels=true").json
        #expect(read.count(of: "_sync") == 1 && read.count(of: "_labels") == 1 && read["_other"] == 3)
        #expect(read["_sync"]?["state"] == "synced")
        let answer = await api.call("PATCH", "/v1/tasks/b", body: read.setting("title", to: "Write").text)
        #expect(answer.status == 200, "\(answer.text)")
        #expect(await queued() == [.object(["title": "Write"])])
    }

    @Test("what was read can be created again under another key")
    func copied() async throws {
        let read = JSONText.object(["id": "b", "title": "Read", "_sync": .object(["state": "synced"])])
        #expect(await api.call("POST", "/v1/tasks", body: read.text).status == 201)
        #expect(await queued() == [.object(["id": "b", "title": "Read"])])
    }

    @Test(
        "a mistake is still one: another value, another key, an unknown name, a field twice",
        arguments: [
            (#"{"number":8,"_sync":{}}"#, "read_only"), (#"{"id":"b"}"#, "read_only_field"),
            (#"{"colour":"blue"}"#, "unknown_field"), (#"{"shade":null}"#, "unknown_field"),
            (#"{"state":"lost","state":"open"}"#, "repeated_field"), (#"{"state":"gone"}"#, "unknown_value"),
            (#"{"short":"X"}"#, "read_only_field"), (#"{"_next":1}"#, "unknown_field"),
        ])
    func mistakes(_ body: String, _ code: String) async throws {
        let answer = await api.call("PATCH", "/v1/tasks/a", body: body)
        #expect(answer.status == 422, "\(body)")
        let codes = answer.json["errors"]?.elements.compactMap { $0["code"]?.string } ?? []
        #expect(codes.contains(code == "read_only" ? "unsendable_field" : code), "\(body): \(answer.text)")
        #expect(await queued().isEmpty)
    }

    private func merge(_ body: String) async -> TestAPI.Answer {
        await api.call("PATCH", "/v1/tasks/a", body: body, headers: ["Content-Type": "application/merge-patch+json"])
    }

    @Test("a merge patch changes members of an object; a plain one replaces it")
    func merged() async throws {
        let answer = await merge(#"{"place":{"shelf":{"row":3,"side":"l"},"room":null},"title":null}"#)
        #expect(answer.status == 200, "\(answer.text)")
        #expect(answer.json["place"]?.text == #"{"shelf":{"row":3,"side":"l"}}"#)
        #expect(answer.json["title"] == .null)
        let secret = await api.call("GET", "/v1/tasks/a?reveal=code").json["code"]
        #expect(secret == "4711", "the secret in the object stays")
        let plain = await api.call("PATCH", "/v1/tasks/a", body: #"{"place":{"room":"2"}}"#)
        #expect(plain.json["place"]?.text == #"{"room":"2"}"#)
    }

    @Test("the same bytes under one key are another request as a merge patch")
    func repeated() async throws {
        let body = #"{"place":{"room":"2"}}"#
        let headers = ["Idempotency-Key": "k", "Content-Type": "application/merge-patch+json"]
        #expect(await api.call("PATCH", "/v1/tasks/a", body: body, headers: headers).status == 200)
        #expect(await api.call("PATCH", "/v1/tasks/a", body: body, headers: headers).status == 200)
        let other = await api.call("PATCH", "/v1/tasks/a", body: body, headers: ["Idempotency-Key": "k"])
        #expect(other.status == 422 && other.json["code"] == "idempotency_key_reused")
    }

    @Test("another type of patch gets 415, with those that are accepted")
    func types() async throws {
        for (method, path, accepted) in [
            ("PATCH", "/v1/tasks/a", "application/merge-patch+json, application/json"),
            ("PATCH", "/v1/pending/1", "application/json"),
        ] {
            let type = path.contains("pending") ? "application/merge-patch+json" : "application/json-patch+json"
            let answer = await api.call(method, path, body: "{}", headers: ["Content-Type": type])
            #expect(answer.status == 415 && answer.json["code"] == "unsupported_media_type")
            #expect(answer.header("Accept-Patch") == accepted)
            #expect(await api.call("OPTIONS", path).header("Accept-Patch") == accepted)
        }
        let post = await api.call("POST", "/v1/tasks", body: "{}", headers: ["Content-Type": "text/plain"])
        #expect(post.status == 415 && post.header("Accept") == "application/json")
    }
}
