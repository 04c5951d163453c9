import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

/// What happens to changes that are answered with a job that will apply them.
@Suite("A change that is accepted for later")
struct JobTests {
    @Test("leaves the queue, and readers see what was sent, even if the job shares a field with the record")
    func edit() async throws {
        let test = try await TestEngine.with()
        try await test.change("a", #"{"notes":"mine"}"#)
        try test.upstream.answerLater(#"{"id":"77","notes":"queued"}"#, times: 1)
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.pushes.count == 1)
        #expect(try test.record("a")?["notes"] == "mine")
        #expect(try test.store.rowCounts()["orders"] == 1)
    }

    @Test("shows the upstream's value after the time to settle if the job has changed nothing")
    func unfinished() async throws {
        let test = try await TestEngine.with()
        try await test.running {
            try await test.engine.sync(SyncRequest())
            try await test.change("a", #"{"notes":"mine"}"#)
            try test.upstream.answerLater(#"{"job":{"id":"77"},"id":"77"}"#, times: 1)
            try await test.engine.sync(SyncRequest())
            try await test.until { try test.store.pendingCount().pending == 0 }
            #expect(try test.record("a")?["notes"] == "mine")
            test.clock.advance(by: .seconds(61))
            try await test.engine.sync(SyncRequest())
            #expect(try test.record("a")?["notes"] == "n")
            try test.upstream.set("/orders", #"[{"id":"a","notes":"mine"}]"#)
            try await test.engine.sync(SyncRequest(full: true))
            #expect(try test.record("a")?["notes"] == "mine", "the job took longer")
        }
    }

    @Test("does not become a record with the job's key, even if the job shares a field with the record")
    func creation() async throws {
        let test = try await TestEngine.with(TestEngine.shopWithLookUp)
        let key = try await test.create()
        try test.upstream.answerLater(#"{"id":"77","notes":"queued"}"#, times: 1)
        try await test.send()
        #expect(try test.error() == "accepted")
        #expect(try test.record(key)?["notes"] == "new" && test.record("77") == nil)
        try test.upstream.set("/orders", #"[{"id":"a","notes":"n"},{"id":"b","notes":"new"}]"#)
        try await test.send(after: .seconds(5))
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.pushes.count == 1)
        #expect(try test.record(key)?["id"] == "b")
    }

    @Test("becomes the record in the answer if that has the sent values", arguments: [true, false])
    func record(hasLookUp: Bool) async throws {
        let test = try await TestEngine.with(hasLookUp ? TestEngine.shopWithLookUp : TestEngine.shop)
        let key = try await test.store.create("orders", body: .object(["notes": " new"]), at: test.clock.timestamp)
        try test.upstream.answerLater(#"{"id":"b","notes":"new"}"#, times: 1)
        try await test.send()
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try test.record(key)?["id"] == "b")
    }
}
