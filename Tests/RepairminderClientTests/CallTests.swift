import RepairminderClient
import Testing

/// The requests of calls, and what their answers become.
@Suite("Calls of the client")
struct CallTests {
    private static let empty = Script.Line.json("{}")

    @Test("names are parts of a path, whatever they are")
    func paths() async throws {
        let script = Script(Self.empty, Self.empty, Self.empty)
        let records = script.client.records("orders")
        for id in ["a/b?c", "..", "order_number:1486"] { _ = try await records.get(id) }
        #expect(
            await script.requests.map(\.target) == [
                "/v1/orders/a%2Fb%3Fc", "/v1/orders/%2E%2E", "/v1/orders/order_number%3A1486",
            ])
    }

    @Test("a write that waits says so, and reports what it waited for")
    func waits() async throws {
        let script = Script(
            .json(
                #"{"id":"n1","_sync":{"state":"error","push":{"state":"failed","changes":[2,3]}}}"#, status: 202,
                [HeaderField("Location", "/v1/orders/n%201"), HeaderField("ETag", "\"t\"")]))
        let result = try await script.client.records("orders").create(["total": 5], WriteOptions(wait: .seconds(10)))
        #expect(result.id == "n 1")
        #expect(result.record?.tag == "\"t\"")
        #expect(result.push?.state == "failed")
        #expect(result.push?.changes == [2, 3])
        let request = try #require(await script.requests.first)
        #expect(request.headers["Prefer"] == "wait=10")
        #expect(request.patience == .seconds(70))
        #expect(request.headers["Content-Type"] == "application/json")
    }

    @Test("conditions and merging are header fields")
    func conditions() async throws {
        let script = Script(Self.empty, .answer(204, [], []))
        let records = script.client.records("orders")
        try await records.update(
            "o1", ["address": ["city": .null]], WriteOptions(ifMatch: "\"t\"", mergesObjects: true))
        let deleted = try await records.delete("o1", WriteOptions(ifNoneMatch: "*"))
        #expect(deleted.record == nil)
        let requests = await script.requests
        #expect(requests[0].headers["If-Match"] == "\"t\"")
        #expect(requests[0].headers["Content-Type"] == "application/merge-patch+json")
        #expect(requests[0].body.map { String(decoding: $0, as: UTF8.self) } == #"{"address":{"city":null}}"#)
        #expect(requests[1].headers["If-None-Match"] == "*")
        #expect(requests[1].headers["Content-Type"] == "application/json")
    }

    @Test("a list is read page by page, and no page before it is needed")
    func pages() async throws {
        let script = Script(
            .json(#"{"data":[{"id":"1"},{"id":"2"}],"next":"c1","total":3}"#), .json(#"{"data":[],"next":"c2"}"#),
            .json(#"{"data":[{"id":"3"}],"next":null,"complete":false}"#))
        var ids: [String] = []
        for try await record in script.client.records("orders").list(RecordQuery().limited(to: 2)).items {
            ids.append(record["id"]?.plain ?? "")
            if ids.count == 2 { #expect(await script.requests.count == 1) }
        }
        #expect(ids == ["1", "2", "3"])
        #expect(
            await script.requests.map(\.target) == [
                "/v1/orders?limit=2", "/v1/orders?limit=2&cursor=c1", "/v1/orders?limit=2&cursor=c2",
            ])
    }

    @Test("a record keeps what the library does not know, and shows what the daemon adds")
    func records() async throws {
        let text =
            #"{"id":"o1","total":81.30,"later":{"x":[1]},"_sync":{"state":"napping","pending_fields":["total"]},"#
            + #""_labels":{"status":"Ready"},"_include":{"client":{"id":"c1"},"devices":[{"id":"d1"}],"none":null}}"#
        let record = try await Script(.json(text)).client.records("orders").get("o1")
        #expect(record.json.description == text)
        #expect(record.fields.names == ["id", "total", "later"])
        #expect(record.sync?.state == "napping")
        #expect(record.sync?.pendingFields == ["total"])
        #expect(record.label("status") == "Ready")
        #expect(record.related("client")?["id"] == "c1")
        #expect(record.related("none") == nil)
        #expect(record.allRelated("devices").count == 1)
    }

    @Test("a batch names records that it creates")
    func batch() async throws {
        let script = Script(
            .json(
                #"{"failed":1,"results":[{"status":201,"id":"o1","etag":"\"t\"","record":{"id":"o1"}},"#
                    + #"{"status":424,"problem":{"title":"No","status":424,"code":"failed_dependency"}}]}"#))
        var batch = Batch(isAtomic: false)
        let order = batch.create("orders", ["total": 5])
        batch.create("devices", ["order_id": order])
        let result = try await script.client.run(batch, key: IdempotencyKey("b1"))
        #expect(result.failed == 1)
        #expect(result.results.map(\.status) == [201, 424])
        #expect(result.results.first?.record?.tag == "\"t\"")
        #expect(result.results.last?.problem?.code == .failedDependency)
        let body = await script.requests.first?.body.map { String(decoding: $0, as: UTF8.self) }
        #expect(
            body == #"{"atomic":false,"operations":[{"operation":"create","entity":"orders","lid":"new0","#
                + #""body":{"total":5}},{"operation":"create","entity":"devices","lid":"new1","body":{"order_id":{"lid":"new0"}}}]}"#
        )
    }

    @Test("a token is sent with each call, and is read again from its file")
    func tokens() async throws {
        let script = Script(Self.empty)
        _ = try await RepairminderClient(transport: script, token: .text("secret")).daemon.index()
        #expect(await script.requests.first?.headers["Authorization"] == "Bearer secret")
        let missing = RepairminderClient(transport: script, token: .file("/nowhere/token"), retry: .none)
        await #expect(throws: ClientError.self) { try await missing.daemon.index() }
        #expect(await script.requests.count == 1)
    }

    @Test("a snooze is sent as a number of four digits at most")
    func snoozes() async throws {
        let answer = Script.Line.json(#"{"id":3,"state":"snoozed"}"#)
        let script = Script(answer, answer, answer, answer)
        for time in [Duration.seconds(90), .seconds(600), .seconds(7200), .seconds(40 * 86_400)] {
            try await script.client.reminders.snooze(3, for: time)
        }
        let bodies = await script.requests.compactMap(\.body).map { String(decoding: $0, as: UTF8.self) }
        #expect(bodies == [#"{"for":"90s"}"#, #"{"for":"600s"}"#, #"{"for":"7200s"}"#, #"{"for":"960h"}"#])
    }

    @Test("a call that the library does not know can be made all the same")
    func anyCall() async throws {
        let script = Script(.json(#"{"new":1.0}"#), Self.empty)
        let answer = try await script.client.call("GET", "/v1/_new", query: [QueryItem("a", "b c")])
        #expect(answer["new"]?.text == "1.0")
        try await script.client.call("POST", "/v1/_new", body: ["x": 1])
        let requests = await script.requests
        #expect(requests.map(\.target) == ["/v1/_new?a=b%20c", "/v1/_new"])
        #expect(requests[1].headers["Idempotency-Key"] != nil)
    }
}
