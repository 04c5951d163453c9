import EntitySchema
import JSONText
import Logging
import TestSupport
import Upstream

@testable import CacheStore
@testable import SyncEngine

/// A queue of changes of orders, sent as the engine's loop does.
extension TestEngine {
    /// The shop whose new orders are looked up by their notes.
    static let shopWithLookUp = shop.replacing(
        "call: POST /orders }", with: "call: POST /orders, look_up: { match: [notes] } }")

    /// An engine with these orders, here and upstream.
    static func with(orders: String = #"[{"id":"a","notes":"n"}]"#, _ yaml: String = shop) async throws -> TestEngine {
        let test = try TestEngine(schema: yaml)
        try test.upstream.set("/orders", orders)
        _ = try await test.store.apply(PulledPage(entity: "orders", records: orders), at: test.clock.timestamp)
        return test
    }

    /// An engine with so many orders, each of which is edited.
    static func editing(_ count: Int, _ yaml: String) async throws -> TestEngine {
        let orders = JSONText.array((0..<count).map { .object(["id": .string("o\($0)"), "notes": "n"]) })
        let test = try await with(orders: orders.text, yaml)
        for number in 0..<count { try await test.change("o\(number)", #"{"notes":"w\#(number)"}"#) }
        return test
    }

    /// An engine with so many new orders.
    static func creating(_ count: Int, _ yaml: String) async throws -> TestEngine {
        let test = try TestEngine(schema: yaml)
        for number in 0..<count {
            let body = JSONText.object(["notes": .string("w\(number)")])
            _ = try await test.store.create("orders", body: body, at: test.clock.timestamp)
        }
        return test
    }

    /// Sends all that is ready after a while, `slots` at a time.
    func drain(
        after delay: Duration = .zero, batches: BatchRoutes = BatchRoutes(), slots: Int = 4,
        log: Logger = .silent
    ) async throws {
        let pusher = pusher(at: clock.timestamp + delay, random: 0.5, batches: batches, log: log)
        let gate = PushAdmission(
            slots: { slots }, allowance: { .all }, newest: { .max }, mayBegin: { _ in true }, barred: { nil },
            breaksOff: { _ in })
        try await pusher.drain(through: gate)
    }

    /// Those of the orders upstream, sorted.
    var notes: [String] { upstream.records("/orders").compactMap { $0["notes"]?.string }.sorted() }
}
