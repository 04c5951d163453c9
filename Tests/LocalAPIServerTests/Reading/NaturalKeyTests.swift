import CacheStore
import JSONText
import TestSupport
import Testing

/// Orders have a natural field `number`.
@Suite("Natural keys")
struct NaturalKeyTests {
    private func filled() async throws -> TestAPI {
        let api = try TestAPI(field: "number: { type: integer, natural: true }", deletes: true)
        let records = #"""
            [{"id":"a","number":7,"status":"open"},{"id":"b","number":8},{"id":"c","number":8},
            {"id":"number:9","number":10},{"id":"urn:x"}]
            """#
        _ = try await api.store.apply(PulledPage(entity: "orders", records: records), at: TestAPI.now)
        return api
    }

    @Test("field:value stands for the id in reads, writes, relations and the history")
    func everywhere() async throws {
        let api = try await filled()
        #expect(await api.call("GET", "/v1/orders/number:7").json["id"] == "a")
        #expect(await api.call("GET", "/v1/orders/number%3A7").json["id"] == "a")
        let changed = await api.call("PATCH", "/v1/orders/number:7", body: #"{"status":"ready"}"#)
        #expect(changed.json["id"] == "a" && changed.json["status"] == "ready")
        #expect(await api.call("GET", "/v1/orders/number:7/history").json["data"]?.elements.isEmpty == false)
        let message = await api.call("POST", "/v1/orders/number:7/messages", body: #"{"text":"hello"}"#)
        #expect(message.json["order_id"] == "a")
        #expect(await api.call("GET", "/v1/orders/number:7/messages").json["data"]?.elements.count == 1)
        #expect(await api.call("DELETE", "/v1/orders/number:7").status == 204)
        #expect(await api.call("GET", "/v1/orders/number:7").status == 404)
    }

    @Test("an id that is only the value is answered with the id that names the record", arguments: ["7", "%237"])
    func valueAlone(_ value: String) async throws {
        let api = try await filled()
        let read = await api.call("GET", "/v1/orders/\(value)?refresh=false")
        #expect(read.status == 404 && read.json["detail"]?.string?.hasSuffix("; there is orders/number:7") == true)
        let write = await api.call("PATCH", "/v1/orders/\(value)", body: #"{"status":"ready"}"#)
        #expect(write.status == 404 && write.text.contains("; there is orders/number:7; read it first"))
        for other in ["6", "%23"] {
            #expect(await !api.call("GET", "/v1/orders/\(other)?refresh=false").text.contains("there is orders"))
        }
    }

    @Test("a value that the whole list lacks is not listed, in a batch too")
    func unlisted() async throws {
        let api = try await filled()
        try await api.store.setCursor(of: "orders", to: PullCursor(lastSyncedAt: TestAPI.now))
        for method in ["GET", "DELETE"] {
            let answer = await api.call(method, "/v1/orders/number:6")
            #expect(answer.status == 404 && answer.json["code"] == "not_listed", "\(method)")
        }
        let delete = #"{"operations":[{"operation":"delete","entity":"orders","id":"number:6"}]}"#
        let batch = await api.call("POST", "/v1/_batch", body: delete)
        #expect(batch.json["errors"]?.elements.first?["code"] == "not_listed", "\(batch.text)")
    }

    @Test("the value of a record that was deleted here is not found; one that was changed here may exist")
    func changedHere() async throws {
        let api = try await filled()
        try await api.store.setCursor(of: "orders", to: PullCursor(lastSyncedAt: TestAPI.now))
        #expect(await api.call("PATCH", "/v1/orders/number:7", body: #"{"number":70}"#).status == 200)
        #expect(await api.call("GET", "/v1/orders/number:7").json["code"] == "not_cached")
        #expect(await api.call("DELETE", "/v1/orders/number:70").status == 204)
        let deleted = await api.call("GET", "/v1/orders/number:7").json
        #expect(deleted["code"] == "not_found" && deleted["detail"] == "orders/number:7 was deleted")
    }

    @Test("a record that was set aside may have the value")
    func setAside() async throws {
        let api = try await filled()
        _ = try await api.store.apply(PulledPage(entity: "orders", records: #"[{"number":6}]"#), at: TestAPI.now)
        try await api.store.setCursor(of: "orders", to: PullCursor(lastSyncedAt: TestAPI.now))
        #expect(await api.call("GET", "/v1/orders/number:6").json["code"] == "not_cached")
    }

    @Test("a record of which only the list was read may have the value")
    func unfetched() async throws {
        let api = try TestAPI(
            yaml: """
                schema: shop
                upstream: { base_url: "http://localhost" }
                entities:
                  devices:
                    fields: { id: { type: string }, number: { type: integer, natural: true } }
                    pull: { path: /devices, detail: { read: single, when_changed: any, into: { images: images } } }
                  images:
                    fields:
                      id: { type: string }
                      device_id: { type: reference, to: devices, index: true, required: true }
                """)
        _ = try await api.store.apply(PulledPage(entity: "devices", records: #"[{"id":"a"}]"#), at: TestAPI.now)
        try await api.store.setCursor(of: "devices", to: PullCursor(lastSyncedAt: TestAPI.now))
        #expect(await api.call("GET", "/v1/devices/number:6").json["code"] == "not_cached")
    }

    @Test("a value that several records have is refused, with their ids")
    func ambiguous() async throws {
        let answer = try await filled().call("GET", "/v1/orders/number:8")
        #expect(answer.status == 400 && answer.json["code"] == "ambiguous_id")
        #expect(
            answer.json["detail"]?.string?.contains("b, c") == true
                || answer.json["detail"]?.string?.contains("c, b") == true)
    }

    @Test(
        "a value that no record has, or that is none of the field's type, is not cached", arguments: ["6", "abc", ""])
    func missing(value: String) async throws {
        let api = try await filled()
        for method in ["GET", "DELETE"] {
            let answer = await api.call(method, "/v1/orders/number:\(value)")
            #expect(answer.status == 404 && answer.json["code"] == "not_cached", "\(method)")
        }
    }

    @Test("an id that has a colon works, also one that looks like a natural key")
    func colons() async throws {
        let api = try await filled()
        #expect(await api.call("GET", "/v1/orders/urn:x").json["id"] == "urn:x")
        #expect(await api.call("GET", "/v1/orders/number:9").json["id"] == "number:9")
        #expect(await api.call("GET", "/v1/orders/number:10").json["id"] == "number:9")
    }

    @Test("the operations of a batch take natural keys, and refuse one that nothing has")
    func batch() async throws {
        let api = try await filled()
        let body = #"""
            {"atomic":false,"operations":[
            {"operation":"update","entity":"orders","id":"number:7","body":{"status":"ready"}},
            {"operation":"update","entity":"orders","id":"number:8","body":{"status":"ready"}}]}
            """#
        let answer = await api.call("POST", "/v1/_batch", body: body)
        let results = answer.json["results"]?.elements ?? []
        #expect(results.map { $0["status"]?.integer } == [200, 400])
        #expect(results.first?["id"] == "a")
        #expect(results.last?["problem"]?["code"] == "ambiguous_id")
    }

    @Test("a repeat under an Idempotency-Key is answered after the natural key has gone", arguments: [true, false])
    func repeated(inBatch: Bool) async throws {
        let api = try await filled()
        let delete = #"{"operations":[{"operation":"delete","entity":"orders","id":"number:7"}]}"#
        func call() async -> TestAPI.Answer {
            let headers = ["Idempotency-Key": "once"]
            return inBatch
                ? await api.call("POST", "/v1/_batch", body: delete, headers: headers)
                : await api.call("DELETE", "/v1/orders/number:7", headers: headers)
        }
        let first = await call()
        let second = await call()
        #expect(first.status == (inBatch ? 200 : 204) && second.status == first.status)
        #expect(second.header("Idempotent-Replayed") == "true")
    }

    @Test("the schema says which fields are natural, and they have an index")
    func described() async throws {
        let answer = try await filled().call("GET", "/v1/schema/orders")
        let field = answer.json["fields"]?.elements.first { $0["name"] == "number" }
        #expect(field?["natural"] == true && field?["index"] == true)
    }
}
