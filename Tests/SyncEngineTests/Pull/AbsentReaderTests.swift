import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("Asking again for a record that one read lacked")
struct AbsentReaderTests {
    private static let others = """
        {"id":"b","notes":"n","updated_at":"2026-05-01T00:00:00Z"},{"id":"c","notes":"n","updated_at":"2026-06-01T00:00:00Z"}
        """
    private static let all = #"[{"id":"a","notes":"n","updated_at":"2026-01-01T00:00:00Z"},\#(others)]"#

    /// Runs `body` after the upstream has lost `a`, and one read has shown that.
    private func lacking(_ body: (TestEngine, Entity) async throws -> Void) async throws {
        let test = try TestEngine()
        let orders = try #require(test.store.schema["orders"])
        try test.upstream.set("/orders", Self.all)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            try test.upstream.set("/orders", "[\(Self.others)]")
            await expectDoubt(test, orders)
            try await body(test, orders)
        }
    }

    private func expectDoubt(_ test: TestEngine, _ orders: Entity) async {
        guard case .unavailable(let reason) = await test.engine.refresh(orders, key: "a") else {
            Issue.record("one read is believed")
            return
        }
        #expect(reason.hasSuffix("it is deleted if a later read lacks it too"))
    }

    @Test("it stays, and goes when a pull lacks it as well after the time to settle")
    func gone() async throws {
        try await lacking { test, _ in
            #expect(try test.record("a") != nil)
            try await test.engine.sync(SyncRequest())
            #expect(try test.record("a") != nil, "the time to settle is not over")
            test.clock.advance(by: .seconds(61))
            try await test.engine.sync(SyncRequest())
            #expect(try test.record("a") == nil)
            #expect(try test.record("b") != nil)
        }
    }

    @Test("a record that is there again stays, and one later absence does not count as the second")
    func back() async throws {
        try await lacking { test, orders in
            try test.upstream.set("/orders", Self.all)
            test.clock.advance(by: .seconds(61))
            try await test.engine.sync(SyncRequest())
            try test.upstream.set("/orders", "[\(Self.others)]")
            await expectDoubt(test, orders)
            #expect(try test.record("a") != nil)
        }
    }

    @Test("while the upstream hides everything, it stays")
    func hidden() async throws {
        try await lacking { (test, _) async throws in
            test.upstream.hideRecords(true)
            test.clock.advance(by: .seconds(61))
            _ = try? await test.engine.sync(SyncRequest())
            #expect(try test.record("a") != nil)
        }
    }
}
