import JSONText
import LocalAPI
import TestSupport
import Testing

@testable import CacheStore
@testable import LocalAPIServer

@Suite("All mistakes of a write at once")
struct AllMistakesTests {
    /// `in pointer` of each.
    private func places(_ answer: TestAPI.Answer) -> [String] {
        (answer.json["errors"]?.elements ?? []).map { error in
            ["in", "pointer"].map { error[$0]?.string ?? "-" }.joined(separator: " ")
        }
    }

    @Test(
        "parameters and fields of a record are named together, and nothing is done",
        arguments: [
            ("PATCH", "/v1/orders/a"), ("POST", "/v1/orders"), ("PUT", "/v1/orders/a"), ("PUT", "/v1/orders/new"),
        ])
    func records(_ method: String, _ path: String) async throws {
        let api = try await TestAPI.filled()
        let body = #"{"status":"lost","colour":"red"}"#
        let answer = await api.call(method, "\(path)?wiat=pushed&timeout=0&wait=soon", body: body)
        #expect(answer.status == 400 && answer.json["code"] == "invalid_parameter")
        #expect(places(answer) == ["query wiat", "query timeout", "query wait", "body /status", "body /colour"])
        #expect(try api.store.pendingCount().pending == 0)
    }

    @Test("a single unknown parameter decides the code, whatever the body has")
    func code() async throws {
        let api = try await TestAPI.filled()
        let answer = await api.call("PATCH", "/v1/orders/a?foo=1", body: #"{"status":"lost"}"#)
        #expect(answer.status == 400 && answer.json["code"] == "unknown_parameter")
        #expect(places(answer) == ["query foo", "body /status"])
        let good = await api.call("PATCH", "/v1/orders/a?foo=1", body: #"{"status":"open"}"#)
        #expect(places(good) == ["query foo"])
        #expect(try api.store.pendingCount().pending == 0)
    }

    @Test("header fields are named too")
    func headers() async throws {
        let api = try await TestAPI.filled()
        let headers = ["If-Match": "nonsense", "Idempotency-Key": "a,b"]
        let answer = await api.call(
            "PATCH", "/v1/orders/a?foo=1", body: #"{"status":"lost"}"#, headers: headers)
        #expect(places(answer) == ["query foo", "header Idempotency-Key", "header If-Match", "body /status"])
        let deleting = try TestAPI(deletes: true)
        let deletion = await deleting.call("DELETE", "/v1/orders/a?wait=x&foo=1", headers: headers)
        #expect(places(deletion) == ["query foo", "header Idempotency-Key", "query wait", "header If-Match"])
    }

    @Test(
        "a body that cannot be read is one of the mistakes",
        arguments: [("", "incomplete_body"), ("{", "malformed_json"), ("[]", "invalid_body")])
    func unreadable(_ body: String, _ code: String) async throws {
        let api = try await TestAPI.filled()
        let answer = await api.call("PATCH", "/v1/orders/a?foo=1", body: body)
        #expect(places(answer) == ["query foo", "body "])
        #expect(answer.json["errors"]?.elements.last?["code"]?.string == code)
    }

    @Test("a record that is missing shows only once the input is right")
    func missing() async throws {
        let api = try await TestAPI.filled()
        let answer = await api.call("PATCH", "/v1/orders/none?foo=1", body: #"{"status":"lost"}"#)
        #expect(answer.status == 400 && places(answer) == ["query foo"])
    }

    @Test("parameters and operations of a batch are named together, atomic or not", arguments: [true, false])
    func batch(_ isAtomic: Bool) async throws {
        let api = try await TestAPI.filled()
        let operations =
            #"[{"operation":"update","entity":"orders","id":"a","body":{"status":"open"}},"#
            + #"{"operation":"create","entity":"orders","body":{"colour":"red"}}]"#
        let answer = await api.call(
            "POST", "/v1/_batch?foo=1", body: #"{"atomic":\#(isAtomic),"operations":\#(operations)}"#)
        #expect(answer.status == 400)
        #expect(places(answer) == ["query foo", "body /operations/1/body/colour"])
        #expect(try api.store.pendingCount().pending == 0)
        let unreadable = await api.call("POST", "/v1/_batch?foo=1", body: #"{"atomic":1,"more":2}"#)
        #expect(places(unreadable) == ["query foo", "body /more", "body /atomic", "body /operations"])
    }

    @Test(
        "the other writes name parameters and members together",
        arguments: [
            ("POST", "/v1/conflicts/1/resolve?foo=1", #"{"winner":"me","why":1}"#, ["/why", "/winner"]),
            ("POST", "/v1/reminders/1/snooze?foo=1", #"{"for":"soon","fro":1}"#, ["/fro", "/for"]),
            (
                "POST", "/v1/sync?foo=1", #"{"full":1,"delete":2,"entities":["x"],"all":3}"#,
                ["/all", "/full", "/entities", "/delete"]
            ),
            ("POST", "/v1/_session?foo=1", #"{"token":1,"user":2}"#, ["/user", "/token"]),
            ("POST", "/v1/_sign-in?foo=1", #"{"way":1}"#, [""]),
            ("POST", "/v1/pending/1/retry?foo=1", #"{"now":true}"#, [""]),
            ("POST", "/v1/pending/retry?foo=1", #"{"now":true}"#, [""]),
            ("POST", "/v1/sync/pause?foo=1", #"{"for":"1h"}"#, [""]),
            ("POST", "/v1/conflicts/1/undo?foo=1", "[]", [""]),
        ])
    func others(_ method: String, _ target: String, _ body: String, _ pointers: [String]) async throws {
        let api = try await TestAPI.filled()
        let answer = await api.call(method, target, body: body)
        #expect(answer.status == 400, "\(answer.text)")
        #expect(places(answer) == ["query foo"] + pointers.map { "body \($0)" })
    }

    @Test("the edit of a queued change names parameters and fields together, and changes nothing")
    func correction() async throws {
        let api = try await TestAPI.filled()
        _ = await api.call("PATCH", "/v1/orders/a", body: #"{"status":"open"}"#)
        let answer = await api.call("PATCH", "/v1/pending/1?remvoe=status", body: #"{"status":"lost","total":"x"}"#)
        #expect(answer.status == 400)
        #expect(places(answer) == ["query remvoe", "body /status", "body /total"])
        let discarding = await api.call("DELETE", "/v1/pending/1?cascade=perhaps&foo=1", body: #"{"all":true}"#)
        #expect(places(discarding) == ["query foo", "body ", "query cascade"])
        #expect(await api.call("GET", "/v1/pending/1").json["body"]?["status"] == "open")
    }

    @Test(
        "reads name all mistakes of their query, too",
        arguments: [
            ("orders/a/history?foo=1&limit=0&cursor=x", "foo limit cursor"),
            ("conflicts?limit=0&open=1&foo=2&cursor=-1", "foo cursor limit open"),
            ("reminders?limit=0&state=lost&cursor=x&foo=1", "foo limit state cursor"),
            ("changes?limit=0&wait=99&kind=x&entity=y&since=-1&foo=1", "foo limit wait entity kind since"),
            ("events?kind=x&since=z&foo=1", "foo kind since"),
            ("search?limit=0&q=a&entity=y&foo=1", "foo q limit entity"), ("dashboard?period=never&foo=1", "foo period"),
            ("pending?limit=0&record=a&record=b&state.like=1", "record limit state.like"),
            (
                "pending?limit=0&state=lost&entity=x&retry_count.gte=y&sort=z&foo=1",
                "limit foo state entity retry_count sort"
            ), ("pending?state=lost&entity=x&sort=z", "state entity sort"),
            ("orders/a/content?refresh=perhaps&foo=1", "foo refresh"),
            ("orders/a/thumbnail?size=3&refresh=perhaps&foo=1", "foo size refresh"),
        ])
    func reads(_ target: String, _ expected: String) async throws {
        let answer = try await TestAPI(deletes: true).call("GET", "/v1/\(target)")
        #expect(answer.status == 400, "\(answer.text)")
        #expect(places(answer) == expected.split(separator: " ").map { "query \($0)" })
    }

    @Test("a list names the mistakes of its query and a body that it does not take together")
    func listWithBody() async throws {
        let answer = try await TestAPI.filled().call("GET", "/v1/orders?limit=0&count=1", body: "[]")
        #expect(places(answer) == ["body ", "query limit", "query count"])
        #expect(answer.json["code"] == "invalid_parameter")
    }

    @Test(
        "of very many mistakes in a body the first hundred are named",
        arguments: [
            ("PATCH", "/v1/orders/a"), ("PUT", "/v1/orders/a"), ("POST", "/v1/orders"), ("PATCH", "/v1/pending/1"),
            ("POST", "/v1/conflicts/1/resolve"),
        ])
    func many(_ method: String, _ path: String) async throws {
        let api = try await TestAPI.filled()
        _ = await api.call("PATCH", "/v1/orders/a", body: #"{"status":"open"}"#)
        let body = JSONText.object(members: (0..<20_000).map { (key: "m\($0)", value: JSONText.integer($0)) })
        let answer = await api.call(method, path, body: body.text)
        #expect(answer.status == 422 || answer.status == 400)
        #expect((100...101).contains(answer.json["errors"]?.elements.count ?? 0))
    }

    @Test(
        "of very many mistakes in a query the first hundred are named",
        arguments: [
            "/healthz", "/page/page.css", "/v1/orders", "/v1/orders/a", "/v1/pending", "/v1/events", "/v1/search",
            "/v1/orders?fields=", "/v1/orders/a?fields=", "/v1/orders?sort=", "/v1/pending?sort=",
        ])
    func manyParameters(_ path: String) async throws {
        let api = try await TestAPI.filled()
        let isList = path.hasSuffix("=")
        let names = (0..<1500).map { "m\($0)" }.joined(separator: isList ? "," : "&")
        let answer = await api.call("GET", path + (isList ? "" : "?") + names)
        #expect(answer.status == 400)
        #expect((100...101).contains(answer.json["errors"]?.elements.count ?? 0))
    }

    @Test("a stray member of a small body gets a suggestion")
    func stray() async throws {
        let api = try await TestAPI.filled()
        let answer = await api.call("POST", "/v1/conflicts/1/resolve", body: #"{"winner":"local","winer":"local"}"#)
        #expect(answer.json["code"] == "invalid_body")
        #expect(answer.json["detail"]?.string?.contains("did you mean winner?") == true)
    }

    @Test("no call does anything when a parameter is unknown, even if the rest of the request is right")
    func nothingDone() async throws {
        let api = try TestAPI(deletes: true)
        _ = try await api.store.apply(
            PulledPage(entity: "orders", records: #"[{"id":"a","status":"ready"}]"#), at: TestAPI.now)
        let bodies = [
            "Fields": #"{"status":"open"}"#, "Choice": #"{"winner":"local"}"#, "Snooze": #"{"for":"1h"}"#,
            "HookChoice": #"{"id":1}"#,
            "SessionRequest": #"{"token":"\#(TestAPI.token)"}"#, "SignInRequest": #"{"way":"password"}"#,
            "Batch": #"{"operations":[{"operation":"delete","entity":"orders","id":"a"}]}"#,
            "messages.new": #"{"order_id":"a","text":"x"}"#, "messages.new.without_order_id": #"{"text":"x"}"#,
        ]
        let before = await api.call("GET", "/v1/changes?since=0").text
        for route in RouteTable(api.store.schema).routes where !route.isRead && route.streamLimit == nil {
            let path = route.path.replacing("{id}", with: route.path.contains("orders") ? "a" : "1")
            let body = route.operation.body.map { bodies[$0] ?? "{}" } ?? ""
            let answer = await api.call(route.method, "\(path)?wiat=pushed", body: body)
            let call = "\(route.method) \(path): \(answer.text)"
            #expect(answer.status == 400 && answer.json["code"] == "unknown_parameter", "\(call)")
            #expect(answer.json["errors"]?.elements.count == 1, "\(call)")
            #expect(answer.header("Set-Cookie") == nil)
        }
        #expect(await api.call("GET", "/v1/changes?since=0").text == before)
        #expect(await api.call("GET", "/v1/status").json["state"] == "idle")
    }
}
