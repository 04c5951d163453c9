import CacheStore
import JSONText
import TestSupport
import Testing

@Suite("Drift over the API")
struct DriftTests {
    @Test("drift is listed by frequency, together with records without a key")
    func drift() async throws {
        let api = try await TestAPI.filled()
        let records =
            #"[{"id":"c","status":"lost","total":"1"},{"id":"d","status":"lost","created_at":"2026-01-01"},{"total":2}]"#
        _ = try await api.store.apply(PulledPage(entity: "orders", records: records), at: TestAPI.now)
        let answer = await api.call("GET", "/v1/drift")
        #expect(answer.status == 200)
        #expect(
            answer.json.text == #"""
                {"data":[{"entity":"orders","field":"status","kind":"value","expected":"one of open, ready",\#
                "found":"lost","count":2,"example":"d","first_seen":"2026-11-21T10:42:00.000Z",\#
                "last_seen":"2026-11-21T10:42:00.000Z"},{"entity":"orders","field":"total","kind":"type",\#
                "expected":"money","found":"string","count":1,"example":"c","first_seen":"2026-11-21T10:42:00.000Z",\#
                "last_seen":"2026-11-21T10:42:00.000Z"}],\#
                "set_aside":[{"entity":"orders","record":{"total":2},"at":"2026-11-21T10:42:00.000Z"}]}
                """#)
        let status = await api.call("GET", "/v1/status").json
        #expect(status["drift"]?.integer == 2)
        #expect(status["set_aside"]?.integer == 1)
    }

    @Test("an unknown field has no expectation, and a matching schema has no drift")
    func unknown() async throws {
        let api = try await TestAPI.filled()
        #expect(await api.call("GET", "/v1/drift").json.text == #"{"data":[],"set_aside":[]}"#)
        _ = try await api.store.apply(
            PulledPage(entity: "orders", records: #"[{"id":"c","colour":"red"}]"#), at: TestAPI.now)
        let drift = await api.call("GET", "/v1/drift").json["data"]?.elements.first
        #expect(drift?["field"]?.string == "colour")
        #expect(drift?["expected"]?.text == "null")
        #expect(await api.call("GET", "/v1/drift?limit=1").status == 400)
        #expect(await api.call("POST", "/v1/drift", body: "{}").status == 405)
    }
}
