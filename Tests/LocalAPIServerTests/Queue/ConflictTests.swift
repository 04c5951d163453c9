import CacheStore
import EntitySchema
import JSONText
import TestSupport
import Testing

@Suite("Conflicts over the API")
struct ConflictTests {
    /// Order `a` was made open here and collected there, `seconds` later by the server's clock.
    private func disputed(
        _ policy: String, seconds: Int = 60, clockOffset: Duration? = nil
    ) async throws -> TestAPI {
        let api = try await TestAPI.filled(conflict: policy, clockOffset: clockOffset)
        #expect(await api.call("PATCH", "/v1/orders/a", body: #"{"status":"open"}"#).status == 200)
        let time = TestAPI.now + .seconds(seconds)
        let record = #"[{"id":"a","status":"lost","total":129.90,"created_at":"\#(time)"}]"#
        _ = try await api.store.apply(PulledPage(entity: "orders", records: record), at: TestAPI.now)
        return api
    }

    @Test("a decision is listed with base, both values, winner and rule")
    func list() async throws {
        let api = try await disputed("last_write_wins")
        let answer = await api.call("GET", "/v1/conflicts")
        let conflict = try #require(answer.json["data"]?.elements.first)
        #expect(conflict["entity"] == "orders" && conflict["record_id"] == "a" && conflict["field"] == "status")
        #expect(conflict["base"] == "ready" && conflict["local"] == "open" && conflict["server"] == "lost")
        #expect(conflict["rule"] == "last_write_wins" && conflict["winner"] == "server")
        #expect(await api.call("GET", "/v1/conflicts?open=true").json["data"]?.elements.isEmpty == true)
    }

    @Test("the last write is decided by the server's clock")
    func clockOffset() async throws {
        let api = try await disputed("last_write_wins", clockOffset: .seconds(120))
        let answer = await api.call("GET", "/v1/conflicts")
        #expect(answer.json["data"]?.elements.first?["winner"] == "local")
        #expect(await api.call("GET", "/v1/status").json.at(path: "upstream.clock_offset_ms") == 120_000)
    }

    @Test("a decision can be undone once")
    func undo() async throws {
        let api = try await disputed("server_wins")
        let undone = await api.call("POST", "/v1/conflicts/1/undo")
        #expect(undone.status == 200 && undone.json["undone_at"]?.kind == .string)
        #expect(await api.call("GET", "/v1/orders/a").json["status"] == "open")
        for path in ["/v1/conflicts/1/undo", "/v1/conflicts/1/resolve"] {
            let again = await api.call("POST", path, body: path.hasSuffix("undo") ? "" : #"{"winner":"local"}"#)
            #expect(again.status == 409)
            #expect(again.json["detail"]?.string?.hasSuffix("to choose another value again, change the record") == true)
        }
    }

    @Test(
        "a conflict that waits for a person is counted and shown on the record, and resolving it continues the change")
    func resolve() async throws {
        let api = try await disputed("manual")
        #expect(await api.call("GET", "/v1/status").json["conflicts"] == 1)
        #expect(await api.call("GET", "/v1/orders/a").json.at(path: "_sync.state") == "conflict")
        #expect(await api.call("GET", "/v1/orders?sync=conflict").json["data"]?.elements.count == 1)
        #expect(await api.call("POST", "/v1/conflicts/1/undo").status == 409)
        #expect(await api.call("POST", "/v1/conflicts/1/resolve", body: #"{"winner":"me"}"#).status == 400)
        let decided = await api.call("POST", "/v1/conflicts/1/resolve", body: #"{"winner":"server"}"#)
        #expect(decided.json["winner"] == "server")
        #expect(await api.call("GET", "/v1/orders/a").json["status"] == "lost")
        #expect(await api.call("GET", "/v1/status").json["conflicts"] == 0)
        #expect(await api.call("POST", "/v1/conflicts/1/resolve", body: #"{"winner":"local"}"#).status == 409)
    }

    @Test("an unknown conflict gets 404")
    func missing() async throws {
        let api = try await TestAPI.filled()
        for path in ["/v1/conflicts/7", "/v1/conflicts/x"] { #expect(await api.call("GET", path).status == 404) }
        #expect(await api.call("POST", "/v1/conflicts/7/undo").status == 404)
    }
}
