import CacheStore
import EntitySchema
import JSONText
import TestSupport
import Testing

@Suite("Hooks over the API")
struct HookTests {
    private static let schema = """
        schema: home
        upstream: { base_url: "http://localhost" }
        entities:
          chores: { local: true, fields: { id: { type: string }, title: { type: string } } }
        """

    private let api: TestAPI

    init() throws {
        let schema = try EntitySchema(yaml: Self.schema, file: "home.yaml")
        let rule = HookRule(name: "told", events: [.created], entity: "chores")
        api = try TestAPI(store: CacheStore.temporary(schema, hooks: [rule]))
    }

    /// The hook has parked the creation of a chore.
    private func park() async throws {
        try await api.store.startHooks()
        #expect(await api.call("POST", "/v1/chores", body: #"{"id":"a","title":"x"}"#).status == 201)
        let rule = try #require(api.store.hooks.first)
        let found = try api.store.nextOccurrence(for: rule, after: 0, at: TestAPI.now).occurrence
        try await api.store.finishHook("told", try #require(found), .parked("no paper"), at: TestAPI.now)
    }

    @Test
    func `a hook is listed, with what it has parked and why`() async throws {
        try await park()
        let listed = await api.call("GET", "/v1/_hooks").json["data"]?.elements.first
        #expect(listed?["name"] == "told" && listed?["state"] == "waiting" && listed?["parked"]?.integer == 1)
        let parked = await api.call("GET", "/v1/_hooks/told").json["parked_deliveries"]?.elements.first
        #expect(parked?["record_id"] == "a" && parked?["reason"] == "no paper")
    }

    @Test
    func `the status counts what is parked, and says nothing of hooks if nothing is`() async throws {
        #expect(await api.call("GET", "/v1/status").json["parked_deliveries"] == nil)
        try await park()
        #expect(await api.call("GET", "/v1/status").json["parked_deliveries"]?.integer == 1)
        #expect(await api.call("POST", "/v1/_hooks/told/discard").status == 200)
        #expect(await api.call("GET", "/v1/status").json["parked_deliveries"] == nil)
    }

    @Test
    func `a hook is paused and goes on, and its parked deliveries are discarded`() async throws {
        try await park()
        #expect(await api.call("POST", "/v1/_hooks/told/pause").json["state"] == "paused")
        #expect(await api.call("POST", "/v1/_hooks/told/resume").json["state"] == "waiting")
        #expect(await api.call("POST", "/v1/_hooks/told/discard", body: #"{"id":9}"#).status == 404)
        #expect(await api.call("POST", "/v1/_hooks/told/discard", body: #"{"id":1}"#).json["parked"]?.integer == 0)
    }

    @Test(arguments: [
        ("GET", "/v1/_hooks/none", "", 404), ("POST", "/v1/_hooks/none/pause", "", 404),
        ("POST", "/v1/_hooks/told/skip", "", 409), ("POST", "/v1/_hooks/told/retry", #"{"id":"x"}"#, 400),
    ])
    func `an invalid request is refused`(method: String, target: String, body: String, status: Int) async throws {
        try await park()
        #expect(await api.call(method, target, body: body).status == status)
    }
}
