import CacheStore
import JSONText
import Testing

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

    @Test("the status shows how many records are kept, and how to confirm their deletion")
    func status() async throws {
        let api = try await TestAPI.filled()
        try await api.store.setCursor(of: "orders", to: PullCursor(heldDeletions: 1))
        let orders = try #require(await api.call("GET", "/v1/status").json.at(path: "entities.orders"))
        #expect(orders["state"]?.string == "error")
        let error = try #require(orders["error"]?.string)
        #expect(error.contains("1 of 2 orders"))
        #expect(error.contains("repairminder-sync sync --full --delete orders"))
    }
}
