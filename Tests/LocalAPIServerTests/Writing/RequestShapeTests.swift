import EntitySchema
import JSONText
import LocalAPI
import TestSupport
import Testing

@testable import CacheStore
@testable import LocalAPIServer

@Suite("What a call takes")
struct RequestShapeTests {
    @Test("no call accepts a parameter that it does not have, and nothing is done")
    func unknownParameters() async throws {
        let api = try await TestAPI.filled()
        for route in RouteTable(api.store.schema).routes where route.streamLimit == nil && route.template != .related {
            let path = route.path.replacing("{id}", with: "1").replacing("{entity}", with: "orders")
            let body = route.operation.body == nil ? "" : "{}"
            let answer = await api.call(route.method, "\(path)?wiat=pushed", body: body)
            #expect(answer.status == 400, "\(route.method) \(path)")
            #expect(answer.text.contains("wiat"), "\(route.method) \(path)")
        }
        #expect(try api.store.pendingCount().pending == 0)
    }

    @Test("a body has at most 30 combining marks in a row, escaped or not, because comparing more of them takes long")
    func marks() async throws {
        let api = try TestAPI(field: "notes: { type: string }")
        _ = try await api.store.apply(PulledPage(entity: "orders", records: #"[{"id":"a"}]"#), at: TestAPI.now)
        let marks = ["\u{315}\u{316}", #"\u0315\u0316"#, #"\ud834\udd65\u0316"#].map {
            String(repeating: $0, count: 15)
        }
        for some in marks {
            let kept = await api.call("PATCH", "/v1/orders/a", body: #"{"notes":"e\#(some)e\#(some)\ne\#(some)"}"#)
            #expect(kept.status == 200, "\(kept.text)")
            for one in ["\u{315}", #"\u0315"#, #"\uD834\uDD65"#] {
                let refused = await api.call("PATCH", "/v1/orders/a", body: #"{"notes":"e\#(some)\#(one)"}"#)
                #expect(refused.json["code"] == "invalid_body")
                #expect(refused.json["detail"]?.string?.contains("combining marks") == true)
            }
        }
        let other = await api.call("PATCH", "/v1/orders/a", body: #"{"notes":"日本\\u0315\ud83d\ude00é\u00e9"}"#)
        #expect(other.status == 200, "\(other.text)")
    }

    @Test("a mistyped parameter gets a suggestion")
    func suggestion() async throws {
        let api = try await TestAPI.filled()
        let answer = await api.call("PATCH", "/v1/orders/a?wai=pushed", body: #"{"status":"open"}"#)
        #expect(answer.status == 400)
        #expect(answer.json["detail"]?.string?.contains("did you mean wait?") == true)
        #expect(answer.json["errors"]?.elements.first?["field"] == "wai")
    }

    @Test("a name in another case gets the right one as its suggestion, however many letters differ")
    func otherCase() {
        #expect(Suggestion.nearest(to: "READY", among: ["open", "ready"]) == "ready")
    }

    @Test("a name that is a word of just one other gets that as its suggestion")
    func word() {
        #expect(Suggestion.nearest(to: "created", among: ["id", "created_at"]) == "created_at")
        #expect(Suggestion.nearest(to: "number", among: ["order_number", "total"]) == "order_number")
        #expect(Suggestion.nearest(to: "name", among: ["client_name", "location_name"]) == nil)
        #expect(Suggestion.nearest(to: "is", among: ["is_paid"]) == nil)
    }

    @Test("no name gets no suggestion, although names of one letter differ little from it")
    func noName() {
        #expect(Suggestion.nearest(to: "", among: ["1", "2", "3"]) == nil)
    }

    @Test("a name that is far too long gets no suggestion, which would take seconds")
    func longName() {
        let name = String(repeating: "x", count: 300)
        #expect(Suggestion.nearest(to: name, among: [name]) == nil)
        #expect(Suggestion.nearest(to: "statsu", among: ["total", "status", "a"]) == "status")
    }

    @Test(
        "a body is refused where a call takes none",
        arguments: [
            ("POST", "/v1/sync/pause", #"{"for":"1h"}"#), ("POST", "/v1/pending/retry", #"{"entity":"orders"}"#),
            ("POST", "/v1/sync/resume", "[]"), ("GET", "/v1/orders", #"{"status":"ready"}"#),
            ("GET", "/v1/orders/a", #"{"fields":["id"]}"#), ("GET", "/v1/messages/m/order", "[]"),
        ])
    func bodies(_ method: String, _ path: String, _ body: String) async throws {
        let api = try await TestAPI.filled()
        let answer = await api.call(method, path, body: body)
        #expect(answer.status == 400)
        #expect(answer.json["detail"]?.string?.contains("takes no body") == true)
    }

    @Test("an empty object is no body")
    func emptyObject() async throws {
        let api = try await TestAPI.filled()
        #expect(await api.call("POST", "/v1/pending/retry", body: "{}").status == 200)
    }

    @Test(
        "a preference for waiting means the same as wait=pushed",
        arguments: [
            ("wait=10", "wait=10"), ("respond-async, wait = \"5\"; x=1", "wait=5"), ("WAIT=600", "wait=60"),
            ("wait=3, wait=9", "wait=3"), ("x=\"a, \\\"b\", wait=4", "wait=4"), ("wait=2; x=\"a;wait=9\"", "wait=2"),
        ])
    func preferences(_ prefer: String, _ applied: String) async throws {
        let api = try TestAPI(clock: FastClock())
        _ = try await api.store.apply(PulledPage(entity: "orders", records: #"[{"id":"a"}]"#), at: TestAPI.now)
        let answer = await api.call(
            "PATCH", "/v1/orders/a", body: #"{"status":"open"}"#, headers: ["Prefer": prefer])
        #expect(answer.status == 202)
        #expect(answer.header("Preference-Applied") == applied)
    }

    @Test(
        "other preferences are ignored",
        arguments: ["wait", "wait=", "wait=0", "wait=-1", "wait=soon", "handling=strict", "x=\"a, wait=9, b\""])
    func ignored(_ prefer: String) async throws {
        let api = try await TestAPI.filled()
        let answer = await api.call(
            "PATCH", "/v1/orders/a", body: #"{"status":"open"}"#, headers: ["Prefer": prefer])
        #expect(answer.status == 200)
        #expect(answer.header("Preference-Applied") == nil)
    }
}
