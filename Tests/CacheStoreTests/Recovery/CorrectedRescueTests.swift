import EntitySchema
import GRDB
import JSONText
import TestSupport
import Testing

@testable import CacheStore

@Suite("Rescuing changes that were corrected after a refusal")
struct CorrectedRescueTests {
    @Test("an edit that was merged into a refused change is queued again if only an older backup has that change")
    func mergedSince() async throws {
        let fixture = try await RescueFixture()
        let (store, now) = (fixture.cache.store, RescueFixture.now)
        try await store.update("orders", key: "a", body: .object(["notes": "bad"]), at: now)
        let bad = try #require(try store.readyChanges(limit: 1, at: now).first)
        #expect(try await store.begin(bad, at: now))
        try await store.update("orders", key: "a", body: .object(["notes": "good"]), at: now)
        let before = try fixture.queue()
        let backup = try fixture.backUp()
        try await store.finish(bad.id, .failed(PushFailure(.refused, status: 422, message: "no")), at: now)
        #expect(try fixture.queue().map(\.id) == before.map(\.id).dropLast())
        try store.close()
        try fixture.overwrite(at: fixture.page(of: "sync_outbox"), with: Array(repeating: 0, count: 4096))
        let (cache, _) = try await fixture.rescued(from: [backup])
        #expect(try RescueFixture.queue(cache.store).map(\.id) == before.map(\.id))
        #expect(try RescueFixture.queue(cache.store).last?.tried == false)
        #expect(try cache.record("orders", "a")?["notes"] == "good")
    }

    @Test("of two versions of a change in the bare pages, the corrected one counts, though it was never tried")
    func correctedVersion() async throws {
        let fixture = try await RescueFixture()
        let (store, now) = (fixture.cache.store, RescueFixture.now)
        let refused = try #require(try store.readyChanges(limit: 1, at: now).first)
        #expect(try await store.begin(refused, at: now))
        try await store.finish(refused.id, .failed(PushFailure(.refused, status: 422, message: "no")), at: now)
        // What a page that is free by now may still have.
        try await store.pool.write { db in
            let columns = try db.columns(in: "sync_outbox").dropFirst().map(\.name).joined(separator: ", ")
            try db.execute(
                sql: """
                    CREATE TABLE former (id INTEGER PRIMARY KEY, \(columns));
                    INSERT INTO former SELECT * FROM sync_outbox
                    """)
        }
        try await store.update("orders", key: "a", body: .object(["status": "open"]), at: RescueFixture.later)
        try store.close()
        let reading = try #require(QueueSnapshot(scanning: fixture.path, withLog: true))
        #expect(reading.changes.first?.id == refused.id)
        #expect(reading.changes.first?.body == #"{"status":"open"}"#)
    }
}
