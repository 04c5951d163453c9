import EntitySchema
import JSONText
import Synchronization
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("A daemon that may not push")
struct WithoutLeaseTests {
    private final class Permission: Sendable {
        private let value = Mutex(false)

        var isGiven: Bool { value.withLock { $0 } }

        func set(_ isGiven: Bool) { value.withLock { $0 = isGiven } }
    }

    private let permission = Permission()

    private func engine() throws -> TestEngine {
        let tools = "\n  tools:\n    fields:\n      id: { type: string }\n    pull: { path: /tools }\n"
        let test = try TestEngine(
            schema: TestEngine.shop + tools, mayPush: { [permission] in permission.isGiven })
        try test.upstream.set("/orders", #"[{"id":"a","notes":"old","updated_at":"2026-01-01T00:00:00.000Z"}]"#)
        return test
    }

    @Test("it reads everything and sends nothing, and its changes go out once it may push")
    func waits() async throws {
        let test = try engine()
        try await test.running {
            try await test.engine.sync(SyncRequest())
            try await test.change("a", #"{"notes":"mine"}"#)
            test.engine.noteLocalWrite()
            try await test.engine.sync(SyncRequest(full: true))
            #expect(test.upstream.pushes.isEmpty)
            #expect(try test.store.pendingCount().pending == 1)
            let change = try #require(try test.store.readyChanges(limit: 1, at: test.clock.timestamp).first)
            #expect(change.attemptCount == 0 && !change.wasAttempted)
            permission.set(true)
            test.engine.noteLocalWrite()
            try await test.until { try test.store.pendingCount().pending == 0 }
            #expect(test.upstream.pushes.count == 1)
        }
    }

    @Test("it finds out with a read, not with a change, that an outage is over")
    func outage() async throws {
        let test = try engine()
        try await test.running {
            try await test.engine.sync(SyncRequest())
            try await test.change("a", #"{"notes":"mine"}"#)
            test.upstream.failProbes(true)
            let lists = ["/orders", "/parts", "/tools"]
            for list in lists { test.upstream.failList(list, .unclear(status: 503, "down")) }
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest(full: true)) }
            #expect(test.engine.status().error != nil)
            let asked = test.upstream.accountRequests
            test.upstream.failProbes(false)
            for list in lists { test.upstream.failList(list, nil) }
            try await test.until { test.engine.status().error == nil }
            #expect(test.upstream.pushes.isEmpty)
            #expect(test.upstream.accountRequests > asked)
        }
    }
}
