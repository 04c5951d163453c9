import CacheStore
import JSONText
import Testing

@Suite("Records over the API")
struct RecordTests {
    @Test("a record keeps its numbers byte for byte")
    func get() async throws {
        let answer = try await TestAPI.filled().call("GET", "/v1/orders/a")
        #expect(answer.status == 200)
        #expect(answer.header("Content-Type") == "application/json")
        #expect(answer.text.contains(#""total":129.90"#))
    }

    @Test("a list is filtered, ordered, limited and counted")
    func list() async throws {
        let api = try await TestAPI.filled()
        let one = await api.call("GET", "/v1/orders?limit=1&count=true")
        #expect(one.json["data"]?.elements.map { $0["id"]?.string } == ["a"])
        #expect(one.json["total"]?.integer == 2)
        let cursor = try #require(one.json["next"]?.string)
        let two = await api.call("GET", "/v1/orders?limit=1&cursor=\(cursor)")
        #expect(two.json["data"]?.elements.map { $0["id"]?.string } == ["b"])
        #expect(two.json["next"] == .null)
        let ready = await api.call("GET", "/v1/orders?status=ready,open&total.gte=100")
        #expect(ready.json["data"]?.elements.count == 1)
    }

    @Test("a list can be limited to fields, always with the key, numbers byte for byte")
    func fields() async throws {
        let list = try await TestAPI.filled().call("GET", "/v1/orders?fields=total&limit=1")
        #expect(list.text.hasPrefix(#"{"data":[{"id":"a","total":129.90,"_sync":"#))
    }

    @Test("a list takes each state that _sync shows, and refuses others with a suggestion")
    func syncFilter() async throws {
        let api = try await TestAPI.filled()
        for id in ["c", "d"] { _ = await api.call("POST", "/v1/orders", body: #"{"id":"\#(id)"}"#) }
        let change = try #require(try api.store.readyChanges(limit: 1, at: TestAPI.now).first)
        #expect(try await api.store.begin(change, at: TestAPI.now))
        for (state, expected) in [
            ("synced", ["a", "b"]), ("pending", ["c", "d"]), ("uploading", ["c"]), ("conflict", []), ("error", []),
        ] {
            let list = await api.call("GET", "/v1/orders?sort=id&sync=\(state)")
            #expect(list.json["data"]?.elements.compactMap { $0["id"]?.string } == expected, "\(state)")
        }
        let refused = await api.call("GET", "/v1/orders?sync=uplading")
        #expect(refused.status == 400)
        #expect(refused.text.contains("did you mean uploading?"), "\(refused.text)")
    }

    @Test("a list is filtered and sorted by synced_at, which no record created here has")
    func syncedAt() async throws {
        let api = try await TestAPI.filled()
        _ = await api.call("POST", "/v1/orders", body: #"{"id":"c"}"#)
        let answer = await api.call("GET", "/v1/orders?synced_at.gte=2026-11-21&sort=-synced_at,id")
        #expect(answer.json["data"]?.elements.compactMap { $0["id"]?.string } == ["a", "b"])
        #expect(answer.header("Server-Timing")?.contains("no index on synced_at") == true)
        let refused = await api.call("GET", "/v1/orders?synced_at.gte=soon")
        #expect(refused.status == 400 && refused.text.contains("expected a time"))
    }

    @Test(
        "an invalid query gets 400 and names the parameter",
        arguments: [
            "limit=0", "limit=1001", "limit=x", "stat=ready", "status.like=r", "sync=maybe", "cursor=abc", "sort=nope",
            "fields=nope",
            "count=7", "limit=1&limit=2", "status=%zz", "status=%+5", "status=%00",
        ])
    func badQuery(_ query: String) async throws {
        let answer = try await TestAPI.filled().call("GET", "/v1/orders?\(query)")
        #expect(answer.status == 400)
        #expect(answer.header("Content-Type") == "application/problem+json")
        #expect(answer.json["status"]?.integer == 400)
    }

    @Test("a sort that is not possible is answered with what to write instead")
    func badSort() async throws {
        let api = try await TestAPI.filled()
        for (sort, words) in [("nope", ". Use any of id, "), ("total.desc", "did you mean -total?")] {
            let detail = await api.call("GET", "/v1/orders?sort=\(sort)").json["detail"]?.string
            #expect(detail?.contains(words) == true, "\(detail ?? "")")
        }
    }

    @Test("a change is answered with the whole record, pending, and counted")
    func change() async throws {
        let api = try await TestAPI.filled()
        let answer = await api.call("PATCH", "/v1/orders/a", body: #"{"status":"open"}"#)
        #expect(answer.status == 200)
        #expect(answer.json["status"]?.string == "open")
        #expect(answer.json["total"]?.text == "129.90")
        #expect(answer.json.at(path: "_sync.state")?.string == "pending")
        let count = await api.call("GET", "/v1/pending/count").text
        #expect(count == #"{"pending":1,"failed":0}"#)
        #expect(await api.call("GET", "/v1/pending/count", headers: ["Accept": "text/plain"]).text == "1\n")
    }

    @Test("a record is created with a generated id, and Location names it")
    func create() async throws {
        let api = try await TestAPI.filled()
        let answer = await api.call("POST", "/v1/orders", body: #"{"status":"open","total":0.10}"#)
        #expect(answer.status == 201)
        let location = try #require(answer.header("Location"))
        #expect(await api.call("GET", location).json["total"]?.text == "0.10")
    }

    @Test("a related record is created with its foreign key and listed under its parent")
    func related() async throws {
        let api = try await TestAPI.filled()
        let answer = await api.call("POST", "/v1/orders/a/messages", body: #"{"text":"hello"}"#)
        #expect(answer.status == 201)
        #expect(answer.json["order_id"]?.string == "a")
        let list = await api.call("GET", "/v1/orders/a/messages")
        #expect(list.json["data"]?.elements.map { $0["text"]?.string } == ["hello"])
        let message = try #require(answer.json["id"]?.string)
        let order = await api.call("GET", "/v1/messages/\(message)/order")
        #expect(order.json["id"] == "a")
    }

    @Test(
        "an unknown path, entity, record, relation or change gets 404",
        arguments: [
            "/nothing", "/v1/", "/v2/orders", "/v1/order", "/v1/orders/zz", "/v1/orders/a/devices",
            "/v1/orders/zz/messages",
            "/v1/pending/9", "/v1/pending/x", "/v1/orders/a/messages/b",
        ])
    func notFound(_ path: String) async throws {
        #expect(try await TestAPI.filled().call("GET", path).status == 404)
    }

    @Test(
        "the id of a change, a conflict and a reminder is a number", arguments: ["pending", "conflicts", "reminders"])
    func numbers(_ list: String) async throws {
        let answer = try await TestAPI.filled().call("GET", "/v1/\(list)/%234")
        let detail = try #require(answer.json["detail"]?.string)
        #expect(answer.status == 404 && detail.hasSuffix("is a number, such as 4"))
    }

    @Test(
        "an address with an empty part names nothing, whatever the method",
        arguments: [
            ("GET", "/v1/"), ("GET", "/v1/orders/"), ("GET", "/v1/orders//history"), ("GET", "/v1/schema/"),
            ("PUT", "/v1/orders/"), ("PATCH", "/v1/orders/"), ("POST", "/v1/pending//retry"), ("GET", "//v1/orders"),
        ])
    func emptyPart(_ method: String, _ path: String) async throws {
        let answer = try await TestAPI.filled().call(method, path, body: method == "GET" ? "" : "{}")
        #expect(answer.status == 404 && answer.json["code"] == "no_such_address")
        let advice = path.hasSuffix("/") ? "leave out the slash at its end" : "one of two slashes in a row is too many"
        #expect(answer.json["detail"]?.string?.hasPrefix("there is nothing at \(path); \(advice), or") == true)
        #expect(answer.header("Retry-After") == nil)
    }

    @Test("malformed JSON gets 400, invalid fields get 422 with a message each")
    func badBodies() async throws {
        let api = try await TestAPI.filled()
        for body in ["{", "[]", "{} {}", "{\"a\":\u{1}}", String(repeating: "[", count: 10_000)] {
            #expect(await api.call("PATCH", "/v1/orders/a", body: body).status == 400)
        }
        let answer = await api.call("PATCH", "/v1/orders/a", body: #"{"status":"lost","totl":1}"#)
        #expect(answer.status == 422)
        #expect(answer.json["errors"]?.elements.map { $0["field"]?.string } == ["status", "totl"])
        #expect(answer.json["detail"]?.string?.contains("expected one of open, ready") == true)
    }

    @Test("a change can be read and discarded, and is then gone")
    func discard() async throws {
        let api = try await TestAPI.filled()
        _ = await api.call("PATCH", "/v1/orders/a", body: #"{"status":"open"}"#)
        let change = try #require(await api.call("GET", "/v1/pending").json["data"]?.elements.first)
        #expect(change.at(path: "request.path")?.string == "/orders/a")
        let id = try #require(change["id"]?.integer)
        #expect(await api.call("DELETE", "/v1/pending/\(id)").status == 204)
        #expect(await api.call("GET", "/v1/orders/a").json["status"]?.string == "ready")
        #expect(await api.call("GET", "/v1/pending").json["data"]?.elements.isEmpty == true)
        #expect(await api.call("DELETE", "/v1/pending/\(id)").status == 404)
    }

    @Test("the status has every documented key")
    func status() async throws {
        let status = try await TestAPI.filled().call("GET", "/v1/status").json
        let keys = Set(status.members.map(\.key))
        #expect(
            keys.isSuperset(of: [
                "state", "progress", "phase", "missing", "warnings", "last_sync_at", "next_sync_at", "pending",
                "failed", "conflicts",
                "entities",
                "upstream", "schema", "version", "uptime_s",
            ]))
        #expect(status.at(path: "entities.orders.rows")?.integer == 2)
        #expect(status["uptime_s"]?.integer == 5)
    }
}
