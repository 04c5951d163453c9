import CacheStore
import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@Suite("Why a record is not there")
struct MissingRecordTests {
    private func code(_ answer: TestAPI.Answer) -> String? { answer.json["code"]?.string }

    @Test("what the upstream does not have is not found; what cannot be asked for is not cached")
    func codes() async throws {
        let absent = try await TestAPI.filled(upstream: OneRecordUpstream()).call("GET", "/v1/orders/n")
        #expect(absent.status == 404 && code(absent) == "not_found")
        #expect(absent.header("Cache-Status") == "repairminder-sync; fwd=miss; fwd-status=404")
        #expect(absent.header("Retry-After") == nil)
        let unreachable = try await TestAPI.filled().call("GET", "/v1/orders/n")
        #expect(unreachable.status == 404 && code(unreachable) == "not_cached")
        #expect(unreachable.header("Cache-Status") == #"repairminder-sync; fwd=miss; detail="unreachable""#)
        #expect(try #require(Int(unreachable.header("Retry-After") ?? "")) > 0)
    }

    @Test(
        "a record whose answer cannot be used may exist, but the upstream fails",
        arguments: [UpstreamError.malformed("no JSON"), .unclear(status: 500, "broken"), nil])
    func unusable(_ error: UpstreamError?) async throws {
        // Without an error, the answer has the record of another key.
        let upstream = OneRecordUpstream(["orders/n": .object(["id": "m", "status": "open"])])
        upstream.fail(error)
        let answer = try await TestAPI.filled(upstream: upstream).call("GET", "/v1/orders/n")
        #expect(answer.status == 502 && code(answer) == "upstream_failed")
        #expect(answer.header("Cache-Status")?.hasPrefix("repairminder-sync; fwd=miss; detail=") == true)
    }

    @Test("a record that was deleted here is not found, whatever the call")
    func deleted() async throws {
        let api = try TestAPI(deletes: true)
        _ = try await api.store.apply(PulledPage(entity: "orders", records: #"[{"id":"a"}]"#), at: TestAPI.now)
        #expect(await api.call("DELETE", "/v1/orders/a").status == 204)
        for (method, path, body) in [
            ("GET", "/v1/orders/a", ""), ("PATCH", "/v1/orders/a", #"{"status":"open"}"#),
            ("DELETE", "/v1/orders/a", ""),
            ("GET", "/v1/orders/a/messages", ""), ("POST", "/v1/orders/a/messages", #"{"text":"x"}"#),
        ] {
            let answer = await api.call(method, path, body: body)
            #expect(answer.status == 404 && code(answer) == "not_found", "\(method) \(path)")
        }
    }

    @Test("a write to a record that is not cached says so, since the upstream may have it")
    func writes() async throws {
        let answer = try await TestAPI.filled().call("PATCH", "/v1/orders/n", body: #"{"status":"open"}"#)
        #expect(answer.status == 404 && code(answer) == "not_cached")
        #expect(answer.header("Retry-After") != nil)
        let detail = "orders/n is not in the cache; read it first, which asks the upstream for it"
        #expect(answer.json["detail"]?.string == detail)
        let history = try await TestAPI.filled().call("GET", "/v1/orders/n/history")
        #expect(history.json["detail"]?.string == detail)
    }

    @Test("a record kept only on this machine is not found; one that only a list could show is not listed")
    func known() async throws {
        let api = try TestAPI(
            yaml: """
                schema: shop
                upstream: { base_url: "http://localhost" }
                entities:
                  memos: { local: true, fields: { id: { type: string } } }
                  states:
                    fields: { id: { type: string } }
                    pull: { call: POST /states }
                """)
        #expect(code(await api.call("GET", "/v1/memos/x")) == "not_found")
        #expect(code(await api.call("GET", "/v1/states/x")) == "not_cached")
        let unread = await api.call("GET", "/v1/states/x/history").json["detail"]
        #expect(unread == "states/x is not in the cache", "to read it by itself would not help")
        let page = PulledPage(entity: "states", records: #"[{"id":"a"}]"#)
        _ = try await api.store.apply(page, at: TestAPI.now)
        try await api.store.setCursor(of: "states", to: PullCursor(lastSyncedAt: TestAPI.now))
        for target in ["/v1/states/x", "/v1/states/x?refresh=false", "/v1/states/x/history"] {
            let answer = await api.call("GET", target)
            #expect(answer.status == 404 && code(answer) == "not_listed", "\(target)")
            #expect(answer.json["detail"]?.string?.hasPrefix("there is no states/x in the upstream's list") == true)
        }
    }

    @Test("a list that leaves out records by `where` does not say that a record is absent")
    func limitedList() async throws {
        let api = try TestAPI(
            yaml: """
                schema: shop
                upstream: { base_url: "http://localhost" }
                entities:
                  states:
                    fields: { id: { type: string }, at: { type: time } }
                    pull: { call: POST /states, where: { at.gte: "{$now-90d}" } }
                """)
        try await api.store.setCursor(of: "states", to: PullCursor(lastSyncedAt: TestAPI.now))
        #expect(code(await api.call("GET", "/v1/states/x")) == "not_cached")
    }

    @Test("an id that repeats the entity is answered with the id alone")
    func idAlone() async throws {
        let read = try await TestAPI.filled(upstream: OneRecordUpstream()).call("GET", "/v1/orders/orders%2Fn")
        let detail = "neither the cache nor the upstream has orders/orders/n; the id alone would be n"
        #expect(read.json["detail"]?.string == detail)
        let batch = try await TestAPI.filled().call(
            "POST", "/v1/_batch",
            body: #"{"operations":[{"operation":"update","entity":"orders","id":"orders/n","body":{}}]}"#)
        #expect(batch.text.contains("orders/orders/n is not in the cache; the id alone would be n; read it first"))
    }

    @Test("with only-if-cached, or refresh=false, the upstream is never asked")
    func neverAsked() async throws {
        let new = JSONText.object(["id": "n", "status": "open"])
        let upstream = OneRecordUpstream(["orders/n": new])
        let api = try await TestAPI.filled(upstream: upstream)
        let forbidden = await api.call(
            "GET", "/v1/orders/n", headers: ["Cache-Control": "max-age=60, Only-If-Cached"])
        #expect(forbidden.status == 504 && code(forbidden) == "only_if_cached")
        #expect(forbidden.header("Cache-Status") == #"repairminder-sync; detail="the upstream was not asked""#)
        let unasked = await api.call("GET", "/v1/orders/n?refresh=false")
        #expect(unasked.status == 404 && code(unasked) == "not_cached")
        #expect(unasked.header("Retry-After") != nil)
        #expect(upstream.asked.isEmpty)
        let cached = await api.call("GET", "/v1/orders/a", headers: ["Cache-Control": "only-if-cached"])
        #expect(cached.status == 200)
        #expect(await api.call("GET", "/v1/orders/a?refresh=false").status == 200)
        #expect(await api.call("GET", "/v1/orders/n").status == 200)
        #expect(upstream.asked == ["orders/n"])
    }

    @Test(
        "only-if-cached counts for what belongs to a record too",
        arguments: ["orders/n/messages", "messages/n/order", "orders/n/history"])
    func partOfMissing(_ path: String) async throws {
        let api = try await TestAPI.filled()
        let answer = await api.call("GET", "/v1/\(path)", headers: ["Cache-Control": "only-if-cached"])
        #expect(answer.status == 504 && code(answer) == "only_if_cached", "\(answer.text)")
        #expect(code(await api.call("GET", "/v1/\(path)")) == "not_cached")
    }

    @Test("refresh=true and only-if-cached contradict each other")
    func contradiction() async throws {
        let answer = try await TestAPI.filled().call(
            "GET", "/v1/orders/a?refresh=true", headers: ["Cache-Control": "only-if-cached"])
        #expect(answer.status == 400 && code(answer) == "conflicting_parameters")
    }
}
