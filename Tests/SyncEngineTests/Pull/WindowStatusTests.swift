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

    /// The error of orders after a sync in which a message refers to an order that may not be read.
    private func error(ofList failure: UpstreamError? = nil) async throws -> String? {
        let test = try TestEngine(schema: Self.schema)
        try test.upstream.set("/orders", #"[{"id":"a","notes":"mine"}]"#)
        try test.upstream.set("/messages", #"[{"id":"m","order_id":"z"}]"#)
        test.upstream.failRecords(.barred(status: 403, "not yours"))
        test.upstream.failList("/orders", failure)
        try await test.running { try? await test.engine.sync(SyncRequest()) }
        return try test.store.cursor(of: "orders").error
    }

    @Test("a record that others refer to and that is refused is named")
    func refused() async throws {
        #expect(try await error()?.contains("not yours") == true)
    }

    @Test("if the list fails, that is what the status says")
    func failedList() async throws {
        #expect(try await error(ofList: .malformed("no list at data")) == "no list at data")
    }
}
