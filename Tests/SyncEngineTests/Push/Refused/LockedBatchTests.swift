import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

/// Only the locked change of a batch waits.
@Suite("A batch with a locked record")
struct LockedBatchTests {
    private static let locked = UpstreamError.locked(status: 409, "being exported")

    /// An engine with four orders, each with an edit.
    private func edited(_ more: String = "") async throws -> TestEngine {
        let batch =
            #"  batch: { call: POST /batch, element: { method: "{$method}", path: "{$path}", key: "{$key}", body: $body }\#(more) }"#
        return try await TestEngine.editing(
            4,
            TestEngine.shop.replacing(
                "  pagination: { style: page }", with: "  pagination: { style: page }\n\(batch)"))
    }

    private func lock(_ path: String, _ test: TestEngine) {
        test.upstream.refuse { $0.path == path ? Self.locked : nil }
    }

    @Test("sends that change again later, and is done with the others")
    func oneResult() async throws {
        let test = try await edited()
        lock("/orders/o2", test)
        try await test.drain()
        #expect(test.notes == ["n", "w0", "w1", "w3"])
        #expect(try test.store.pendingCount() == PendingCount(pending: 1, failed: 0))
        #expect(try test.error() == "refused" && test.error("message") == "being exported")
        test.upstream.refuse(nil)
        try await test.drain(after: .seconds(60))
        #expect(test.notes == ["w0", "w1", "w2", "w3"])
        #expect(test.upstream.batches.count == 1 && test.upstream.pushes.count == 1)
    }

    @Test("sends its changes one by one if it is locked as a whole", arguments: ["", ", atomic: true"])
    func whole(_ more: String) async throws {
        let (test, batches) = (try await edited(more), BatchRoutes())
        lock("/orders/o2", test)
        test.upstream.failBatch(Self.locked)
        try await test.drain(batches: batches)
        #expect(test.notes == ["n", "w0", "w1", "w3"])
        #expect(try test.store.pendingCount() == PendingCount(pending: 1, failed: 0))
        #expect(test.upstream.batches.count == 1 && test.upstream.pushes.count == 4)
        #expect(batches.restriction(at: test.clock.timestamp) == nil, "the route itself is open")
    }

    @Test("sends its changes one by one if it is atomic")
    func atomic() async throws {
        let (test, batches) = (try await edited(", atomic: true"), BatchRoutes())
        lock("/orders/o2", test)
        test.upstream.undoBatches()
        try await test.drain(batches: batches)
        #expect(test.notes == ["n", "w0", "w1", "w3"])
        #expect(try test.store.pendingCount() == PendingCount(pending: 1, failed: 0))
        #expect(test.upstream.batches.count == 1 && test.upstream.pushes.count == 4)
    }
}
