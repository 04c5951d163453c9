import CacheStore
import JSONText
import Testing
import Upstream

@Suite("Records from the upstream")
struct RefreshTests {
    private let new = JSONText.object(["id": "n", "status": "open"])

    @Test("a record that is not cached is fetched, cached and answered, with its source")
    func readThrough() async throws {
        let upstream = OneRecordUpstream(["orders/n": new])
        let api = try await TestAPI.filled(upstream: upstream)
        let first = await api.call("GET", "/v1/orders/n")
        #expect(first.status == 200)
        #expect(first.json["status"]?.string == "open")
        #expect(first.header("Cache-Status") == "repairminder-sync; fwd=miss; fwd-status=200; stored")
        let second = await api.call("GET", "/v1/orders/n")
        #expect(second.header("Cache-Status") == nil)
        #expect(upstream.asked == ["orders/n"])
    }

    @Test("a record that the upstream does not have either gets 404")
    func absent() async throws {
        let api = try await TestAPI.filled(upstream: OneRecordUpstream())
        #expect(await api.call("GET", "/v1/orders/n").status == 404)
        #expect(await api.call("GET", "/v1/orders/n?refresh=true").status == 404)
    }

    @Test("refresh=true asks first; pending changes stay applied")
    func refresh() async throws {
        let upstream = OneRecordUpstream(["orders/a": .object(["id": "a", "status": "ready", "total": 7])])
        let api = try await TestAPI.filled(upstream: upstream)
        _ = await api.call("PATCH", "/v1/orders/a", body: #"{"status":"open"}"#)
        let answer = await api.call("GET", "/v1/orders/a?refresh=true")
        #expect(answer.json["total"]?.integer == 7)
        #expect(answer.json["status"]?.string == "open")
        #expect(answer.header("Cache-Status") == "repairminder-sync; fwd=request; fwd-status=200; stored")
    }

    @Test("when the upstream is unreachable the cache answers and says why")
    func fallback() async throws {
        let api = try await TestAPI.filled()
        let answer = await api.call("GET", "/v1/orders/a?refresh=true")
        #expect(answer.status == 200)
        #expect(answer.header("Cache-Status") == #"repairminder-sync; hit; detail="unreachable""#)
    }

    @Test("nothing is fetched while syncing is paused")
    func paused() async throws {
        let upstream = OneRecordUpstream(["orders/n": new])
        let api = try await TestAPI.filled(upstream: upstream)
        _ = await api.call("POST", "/v1/sync/pause")
        #expect(await api.call("GET", "/v1/orders/n").status == 404)
        #expect(await api.call("GET", "/v1/orders/a?refresh=true").status == 200)
        #expect(upstream.asked.isEmpty)
    }

    @Test("for a record that is not cached, an upstream failure gets 502 and a refusal 404")
    func failure() async throws {
        let upstream = OneRecordUpstream()
        let api = try await TestAPI.filled(upstream: upstream)
        upstream.fail(.unclear(status: 500, "broken"))
        #expect(await api.call("GET", "/v1/orders/n").status == 502)
        #expect(await api.call("GET", "/v1/orders/a?refresh=true").status == 200)
        upstream.fail(.refused(status: 400, "no such id can be"))
        #expect(await api.call("GET", "/v1/orders/n").status == 404)
    }

    @Test("a record that is gone upstream is removed, if the upstream serves single records")
    func gone() async throws {
        let upstream = OneRecordUpstream(["orders/b": .object(["id": "b", "status": "open"])])
        let yaml = TestAPI.shop.replacing("  base_url: http", with: "  settle: 0s\n  base_url: http")
        let api = try await TestAPI.filled(yaml: yaml, upstream: upstream)
        #expect(await api.call("GET", "/v1/orders/a?refresh=true").status == 404)
        #expect(try api.store.record("orders", key: "a") == nil)
        let silent = try await TestAPI.filled(upstream: OneRecordUpstream())
        let kept = await silent.call("GET", "/v1/orders/a?refresh=true")
        #expect(kept.status == 200)
        #expect(kept.header("Cache-Status")?.contains("the list of orders is empty") == true)
    }

    @Test("a record that one read lacks is answered from the cache, with the reason")
    func lacking() async throws {
        let upstream = OneRecordUpstream(["orders/b": .object(["id": "b", "status": "open"])])
        let api = try await TestAPI.filled(upstream: upstream)
        for _ in 1...2 {
            let kept = await api.call("GET", "/v1/orders/a?refresh=true")
            #expect(kept.status == 200)
            #expect(kept.header("Cache-Status")?.contains("it is deleted if a later read lacks it too") == true)
        }
    }

    @Test("a local record that was not sent yet is not fetched")
    func local() async throws {
        let upstream = OneRecordUpstream()
        let api = try await TestAPI.filled(upstream: upstream)
        let id = try #require(await api.call("POST", "/v1/orders", body: #"{"status":"open"}"#).json["id"]?.string)
        #expect(await api.call("GET", "/v1/orders/\(id)?refresh=true").status == 200)
        #expect(upstream.asked.isEmpty)
    }

    @Test("a different record than the one requested is not accepted")
    func other() async throws {
        let api = try await TestAPI.filled(upstream: OneRecordUpstream(["orders/N": new]))
        #expect(await api.call("GET", "/v1/orders/N").status == 502)
        #expect(try api.store.record("orders", key: "n") == nil)
    }

    @Test("a single record accepts only its own parameters")
    func parameters() async throws {
        let api = try await TestAPI.filled()
        #expect(await api.call("GET", "/v1/orders/a?refresh=perhaps").status == 400)
        #expect(await api.call("GET", "/v1/orders/a?colour=red").status == 400)
    }
}
