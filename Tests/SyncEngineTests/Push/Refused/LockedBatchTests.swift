import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

/// Of a batch, only what is locked waits.
@Suite("A batch with a record that is locked")
struct LockedBatchTests {
    private static let locked = UpstreamError.locked(status: 409, "being exported")

    /// An engine with four orders, each of which is edited.
    private func edited(_ more: String = "") async throws -> TestEngine {
        let batch =
            #"  batch: { call: POST /batch, element: { method: "{$method}", path: "{$path}", key: "{$key}", body: $body }\#(more) }"#
        let test = try TestEngine(
            schema: TestEngine.shop.replacing(
                "  pagination: { style: page }", with: "  pagination: { style: page }\n\(batch)"))
        let orders = JSONText.array((0..<4).map { .object(["id": .string("o\($0)"), "notes": "n"]) })
        try test.upstream.set("/orders", orders.text)
        _ = try await test.store.apply(PulledPage(entity: "orders", records: orders.text), at: test.clock.timestamp)
        for number in 0..<4 { try await test.change("o\(number)", #"{"notes":"w\#(number)"}"#) }
        return test
    }

    /// Sends all that is ready after a while, as the engine's loop does.
    private func drain(
        _ test: TestEngine, after delay: Duration = .zero, batches: BatchRoutes = BatchRoutes()
    ) async throws {
        let now = test.clock.timestamp + delay
        let pusher = test.pusher(at: now, random: 0.5, batches: batches)
        let gate = PushAdmission(
            slots: { 4 }, allowance: { .all }, newest: { .max }, mayBegin: { _ in true }, barred: { nil },
            breaksOff: { _ in })
        try await pusher.drain(through: gate)
    }

    private func notes(_ test: TestEngine) -> [String] {
        test.upstream.records("/orders").compactMap { $0["notes"]?.string }.sorted()
    }

    private func lock(_ path: String, _ test: TestEngine) {
        test.upstream.refuse { $0.path == path ? Self.locked : nil }
    }

    @Test("sends that one again later, and has done the others")
    func oneResult() async throws {
        let test = try await edited()
        lock("/orders/o2", test)
        try await drain(test)
        #expect(notes(test) == ["n", "w0", "w1", "w3"])
        #expect(try test.store.pendingCount() == PendingCount(pending: 1, failed: 0))
        #expect(try test.error() == "refused" && test.error("message") == "being exported")
        test.upstream.refuse(nil)
        try await drain(test, after: .seconds(60))
        #expect(notes(test) == ["w0", "w1", "w2", "w3"])
        #expect(test.upstream.batches.count == 1 && test.upstream.pushes.count == 1)
    }

    @Test("sends all one by one if it is locked as a whole", arguments: ["", ", atomic: true"])
    func whole(_ more: String) async throws {
        let (test, batches) = (try await edited(more), BatchRoutes())
        lock("/orders/o2", test)
        test.upstream.failBatch(Self.locked)
        try await drain(test, batches: batches)
        #expect(notes(test) == ["n", "w0", "w1", "w3"])
        #expect(try test.store.pendingCount() == PendingCount(pending: 1, failed: 0))
        #expect(test.upstream.batches.count == 1 && test.upstream.pushes.count == 4)
        #expect(batches.restriction(at: test.clock.timestamp) == nil, "the route itself is open")
    }

    @Test("sends all one by one if all or none are applied")
    func atomic() async throws {
        let (test, batches) = (try await edited(", atomic: true"), BatchRoutes())
        lock("/orders/o2", test)
        test.upstream.undoBatches()
        try await drain(test, batches: batches)
        #expect(notes(test) == ["n", "w0", "w1", "w3"])
        #expect(try test.store.pendingCount() == PendingCount(pending: 1, failed: 0))
        #expect(test.upstream.batches.count == 1 && test.upstream.pushes.count == 4)
    }
}
