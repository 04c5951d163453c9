import CacheStore
import JSONText
import TestSupport
import Testing

@Suite("The upstream's values of pending fields")
struct ServerValueTests {
    @Test("they are shown beside a record, for the fields that wait to be sent alone")
    func pending() async throws {
        let api = try await TestAPI.filled()
        #expect(await api.call("GET", "/v1/orders/a?server=true").json["_server"]?.text == "{}")
        _ = await api.call("PATCH", "/v1/orders/a", body: #"{"total":1,"status":"open"}"#)
        let record = await api.call("GET", "/v1/orders/a?server=true").json
        #expect(record["_server"]?["total"]?.text == "129.90")
        #expect(record["_server"]?["status"] == "ready")
        #expect(record["_server"]?.members.count == 2)
        #expect(record["total"]?.text == "1")
        _ = await api.call("PATCH", "/v1/orders/b", body: #"{"total":5}"#)
        #expect(await api.call("GET", "/v1/orders/b?server=true").json["_server"]?.text == #"{"total":null}"#)
        #expect(await api.call("GET", "/v1/orders/a").json["_server"] == nil)
    }

    @Test("a record that the upstream does not have yet has none")
    func created() async throws {
        let api = try await TestAPI.filled()
        let made = await api.call("POST", "/v1/orders", body: #"{"status":"open"}"#)
        let id = try #require(made.json["id"]?.string)
        #expect(await api.call("GET", "/v1/orders/\(id)?server=true").json["_server"]?.kind == .null)
    }

    @Test("secret fields are left out")
    func secret() async throws {
        let api = try TestAPI(field: "pin: { type: string, secret: true }")
        let records = #"[{"id":"a","status":"ready","pin":"7391"}]"#
        _ = try await api.store.apply(PulledPage(entity: "orders", records: records), at: TestAPI.now)
        _ = await api.call("PATCH", "/v1/orders/a", body: #"{"pin":"2468","status":"open"}"#)
        let answer = await api.call("GET", "/v1/orders/a?server=true")
        #expect(answer.json["_server"]?.text == #"{"status":"ready"}"#)
        #expect(!answer.text.contains("7391") && !answer.text.contains("2468"))
    }
}
