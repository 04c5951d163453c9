import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("A list that the upstream limits by itself")
struct ThrottledReadsTests {
    private let start = ManualClock().timestamp

    private func seconds(_ seconds: Int) -> Timestamp { start + .seconds(seconds) }

    /// The upstream asked to wait 60 s with the parts, and everything waits until then.
    private func limited() -> ThrottledReads {
        var reads = ThrottledReads()
        #expect(reads.wait("parts", until: seconds(60), "too many") == nil)
        reads.hold(until: seconds(60))
        return reads
    }

    @Test("stops everything once, and after that only itself, until the time that the upstream names")
    func once() {
        var reads = limited()
        reads.pass("orders", isChange: false, at: seconds(61))
        #expect(reads.reason("parts", at: seconds(61)) == nil)
        #expect(reads.wait("parts", until: seconds(130), "too many") == 1)
        #expect(reads.reason("parts", at: seconds(129)) == "too many")
        #expect(reads.reason("orders", at: seconds(129)) == nil)
        #expect(reads.reason("parts", at: seconds(130)) == nil)
        #expect(reads.wait("parts", until: seconds(200), "too many") == 2)
    }

    @Test("a change of its entity shows it too, but no read of it, and nothing that was answered before")
    func others() {
        for (entity, isChange, time, shows) in [
            ("parts", true, 61, true), ("parts", false, 61, false), ("orders", true, 59, false),
        ] {
            var reads = limited()
            reads.pass(entity, isChange: isChange, at: seconds(time))
            #expect((reads.wait("parts", until: seconds(130), "too many") != nil) == shows)
        }
    }

    @Test("is no limit of its own while the upstream asks to wait with other requests as well")
    func all() {
        var reads = limited()
        reads.pass("orders", isChange: true, at: seconds(61))
        reads.hold(until: seconds(120))
        #expect(reads.wait("parts", until: seconds(130), "too many") == nil)
    }

    @Test("holds up no changes and no other lists, and is not read before its time")
    func inEngine() async throws {
        let test = try TestEngine()
        try test.upstream.set("/orders", #"[{"id":"a","notes":"n","updated_at":"2026-01-01T00:00:00.000Z"}]"#)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            test.upstream.failList("/parts", .throttled(.seconds(600), "too many reads"))
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
            #expect(await test.engine.status().retryAfter != nil)
            test.clock.advance(by: .seconds(601))
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
            #expect(await test.engine.status().retryAfter == nil)
            #expect(try test.store.cursor(of: "parts").error?.contains("only this list waits") == true)
            let asked = test.upstream.pages.count { $0.path == "/parts" }
            try await test.change("a", #"{"notes":"mine"}"#)
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
            #expect(test.upstream.records("/orders").first?["notes"] == "mine")
            #expect(test.upstream.pages.count { $0.path == "/parts" } == asked)
            let next = try #require(await test.engine.status().nextSyncAt)
            #expect(next.since(test.clock.timestamp) > .seconds(600), "another sync soon would not help")
            test.upstream.failList("/parts", nil)
            test.clock.advance(by: .seconds(601))
            try await test.engine.sync(SyncRequest())
            #expect(try test.store.cursor(of: "parts").error == nil)
        }
    }
}
