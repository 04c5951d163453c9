import CacheStore
import EntitySchema
import JSONText
import Testing

@Suite("Reminders over the API")
struct ReminderTests {
    private static let schema = """
        schema: home
        upstream: { base_url: "http://localhost" }
        reminders: { chore: { of: chores, at: at, text: "{title}" } }
        entities:
          chores:
            local: true
            fields: { id: { type: string }, title: { type: string }, at: { type: time } }
        """

    /// Chores `a`, due now, and `b`, due in an hour.
    private func api() async throws -> TestAPI {
        let api = try TestAPI(yaml: Self.schema)
        for (title, delay) in [("a", Duration.zero), ("b", .seconds(3600))] {
            let at = (TestAPI.now + delay).description
            let made = await api.call(
                "POST", "/v1/chores", body: #"{"id":"\#(title)","title":"\#(title)","at":"\#(at)"}"#)
            #expect(made.status == 201)
        }
        while try await api.store.keepReminders(deliveringAfter: nil, at: TestAPI.now) {}
        return api
    }

    private func texts(_ answer: JSONText) -> [String?] { answer["data"]?.elements.map { $0["text"]?.string } ?? [] }

    @Test
    func `reminders are listed by time, a page at a time`() async throws {
        let api = try await api()
        let first = await api.call("GET", "/v1/reminders?limit=1").json
        #expect(texts(first) == ["a"])
        #expect(first["data"]?.elements.first?["state"] == "due")
        let next = try #require(first["next"]?.string)
        let second = await api.call("GET", "/v1/reminders?limit=1&cursor=\(next)").json
        #expect(texts(second) == ["b"])
        #expect(second["next"]?.kind == .null)
        #expect(texts(await api.call("GET", "/v1/reminders?state=scheduled").json) == ["b"])
    }

    @Test
    func `a reminder is snoozed, then dismissed, and the change log has both`() async throws {
        let api = try await api()
        let snoozed = await api.call("POST", "/v1/reminders/1/snooze", body: #"{"for":"10m"}"#)
        #expect(snoozed.status == 200)
        #expect(snoozed.json["snoozed_until"]?.string == (TestAPI.now + .seconds(600)).description)
        #expect(await api.call("POST", "/v1/reminders/1/dismiss").json["state"] == "dismissed")
        #expect(texts(await api.call("GET", "/v1/reminders").json) == ["b"])
        let changes = await api.call("GET", "/v1/changes?since=0&kind=reminder").json["data"]?.elements ?? []
        #expect(changes.map { $0.at(path: "reminder.state") } == ["due", "snoozed", "dismissed"])
        #expect(changes.map { $0["id"] } == ["a", "a", "a"])
    }

    @Test(arguments: [
        ("GET", "/v1/reminders/9", nil, 404), ("GET", "/v1/reminders/x", nil, 404),
        ("POST", "/v1/reminders/2/snooze", #"{"for":"10m"}"#, 409),
        ("POST", "/v1/reminders/1/snooze", #"{"for":"soon"}"#, 400),
        ("POST", "/v1/reminders/1/snooze", #"{"for":"0s"}"#, 400),
        ("GET", "/v1/reminders?state=lost", nil, 400), ("GET", "/v1/reminders?cursor=x", nil, 400),
    ])
    func `an invalid request is refused`(method: String, target: String, body: String?, status: Int) async throws {
        let answer = try await api().call(method, target, body: body ?? "")
        #expect(answer.status == status)
    }

    @Test
    func `a local-only record is read, changed and deleted like any other`() async throws {
        let api = try await api()
        let changed = await api.call("PATCH", "/v1/chores/a", body: #"{"title":"c"}"#)
        #expect(changed.json["title"] == "c")
        #expect(changed.json.at(path: "_sync.state") == "synced")
        #expect(await api.call("GET", "/v1/pending").json["data"]?.elements == [])
        #expect(await api.call("DELETE", "/v1/chores/a").status == 204)
        #expect(await api.call("GET", "/v1/reminders/1").status == 404)
    }
}
