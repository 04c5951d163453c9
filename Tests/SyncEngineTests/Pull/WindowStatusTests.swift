import CacheStore
import EntitySchema
import TestSupport
import Testing
import Upstream

@testable import SyncEngine

@Suite("What the status says of records outside of a window")
struct WindowStatusTests {
    private static let schema = """
        schema: shop
        upstream: { base_url: "http://shop" }
        entities:
          orders:
            fields: { id: { type: string }, notes: { type: string, index: true } }
            pull: { path: /orders, record: { path: "/orders/{id}" }, where: { notes: mine } }
          messages:
            fields:
              id: { type: string }
              order_id: { type: reference, to: orders }
            pull: { path: /messages }
        """

    /// The error of orders after a sync in which a message refers to an order that cannot be read, and whether the sync failed.
    private func error(
        ofRecord record: UpstreamError, ofList list: UpstreamError? = nil
    ) async throws -> (text: String?, hasFailed: Bool) {
        let test = try TestEngine(schema: Self.schema)
        try test.upstream.set("/orders", "[]")
        try test.upstream.set("/messages", #"[{"id":"m","order_id":"z"}]"#)
        test.upstream.failRecords(record)
        test.upstream.failList("/orders", list)
        var hasFailed = true
        try await test.running { hasFailed = (try? await test.engine.sync(SyncRequest())) == nil }
        return (try test.store.cursor(of: "orders").error, hasFailed)
    }

    @Test("a record that others refer to and that is refused is named, and the sync is none that failed")
    func refused() async throws {
        let error = try await error(ofRecord: .barred(status: 403, "not yours"))
        #expect(error.text?.contains("not yours") == true && !error.hasFailed)
    }

    @Test("one that cannot be read for a moment makes the sync fail, so that it is read soon")
    func passing() async throws {
        let error = try await error(ofRecord: .unclear(status: 500, "broken"))
        #expect(error.text?.contains("broken") == true && error.hasFailed)
    }

    @Test("if the list fails, that is what the status says")
    func failedList() async throws {
        let error = try await error(ofRecord: .barred(status: 403, "not yours"), ofList: .malformed("no list at data"))
        #expect(error.text == "no list at data" && error.hasFailed)
    }
}
