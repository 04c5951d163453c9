import CacheStore
import JSONText
import Testing

@testable import LocalAPIServer
@testable import SyncEngine

@Suite("Confirming deletions over the API")
struct FullSyncTests {
    @Test("deletions are confirmed with a full sync only")
    func needsFull() async throws {
        let api = try await TestAPI.filled()
        let refused = await api.call("POST", "/v1/sync", body: #"{"delete":true}"#)
        #expect(refused.status == 400)
        #expect(refused.json.at(path: "detail")?.string?.contains("full: true") == true)
        let taken = await api.call("POST", "/v1/sync", body: #"{"full":true,"delete":true,"entities":["orders"]}"#)
        #expect(taken.status == 202)
        #expect(await api.call("POST", "/v1/sync", body: #"{"full":true,"delete":1}"#).status == 400)
    }

    @Test("each name that is no entity is a mistake, and so is what is no name")
    func names() async throws {
        let api = try await TestAPI.filled()
        let unknown = await api.call("POST", "/v1/sync", body: #"{"entities":["orders","order","x"]}"#)
        #expect(unknown.status == 404 && unknown.json["code"] == "unknown_entity")
        #expect(unknown.json["errors"]?.elements.count == 2)
        for list in [#"["orders",1]"#, "[]", #""orders""#, "{}", "null"] {
            let answer = await api.call("POST", "/v1/sync", body: #"{"entities":\#(list)}"#)
            #expect(answer.status == 400 && answer.json["code"] == "invalid_body", "\(list): \(answer.text)")
        }
    }

    @Test("during a pull the status has the rows that came and their total, if the upstream states it")
    func progress() async throws {
        var run = SyncRun()
        run.begin(SyncRequest())
        run.started("orders")
        #expect(run.entities["orders"]?.progress?.text == #"{"rows":0,"total":null}"#)
        run.progressed("orders", seen: 62_400, total: 120_000)
        #expect(run.entities["orders"]?.progress?.text == #"{"rows":62400,"total":120000}"#)
        run.finished("orders", error: nil, at: TestAPI.now)
        #expect(run.entities["orders"]?.progress == .none)
        let idle = await (try TestAPI.filled()).call("GET", "/v1/status").json
        #expect(idle.at(path: "entities.orders")?["progress"] == .none)
    }

    @Test("the status shows how many records are kept, and how to confirm their deletion")
    func status() async throws {
        let api = try await TestAPI.filled()
        try await api.store.setCursor(of: "orders", to: PullCursor(heldDeletions: 1))
        let orders = try #require(await api.call("GET", "/v1/status").json.at(path: "entities.orders"))
        #expect(orders["state"]?.string == "error")
        let error = try #require(orders["error"]?.string)
        #expect(error.contains("1 of 2 orders"))
        #expect(error.hasSuffix("repairminder-sync sync --full --delete orders --config till-2.yaml"))
    }
}
