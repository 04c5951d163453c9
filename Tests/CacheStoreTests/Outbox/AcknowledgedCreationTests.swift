import EntitySchema
import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Records that came from creations here")
struct AcknowledgedCreationTests {
    private let now = TestCache.now

    /// A creation that was tried, and the record that a pull has brought since.
    private func lost(_ cache: TestCache) async throws -> OutboxChange {
        _ = try await cache.store.create("orders", body: JSONText(parsing: #"{"notes":"n"}"#), at: now)
        let change = try await cache.begun()
        _ = try await cache.pull("orders", #"[{"id":"b","notes":"n"}]"#)
        return change
    }

    private func send(_ operation: Operation, _ answer: String, _ cache: TestCache) async throws {
        let change = try #require(
            try cache.store.readyChanges(limit: 9, at: now).first { $0.operation == operation })
        #expect(try await cache.store.begin(change, at: now))
        try await cache.store.finish(change.id, .acknowledged(record: JSONText(parsing: answer)), at: now)
    }

    @Test("a record that a pull brought may be a lost creation's, although it was edited here since")
    func edited() async throws {
        let cache = try TestCache()
        let change = try await lost(cache)
        try await cache.change("orders", "b", #"{"total":5}"#)
        try await send(.update, #"{"id":"b","notes":"n","total":5}"#, cache)
        #expect(try !cache.store.wasKnown("b", before: change))
        let found = try JSONText(parsing: #"{"id":"b","notes":"n","total":5}"#)
        try await cache.store.finish(
            change.id,
            .found(record: found, version: nil, view: .list, otherwise: PushFailure(.unseen, message: ""), at: now),
            at: now)
        #expect(try cache.store.pendingCount().pending == 0)
    }

    @Test("an edit of a record that a pull brought does not conflict with what its creation had sent and no list shows")
    func unshown() async throws {
        let cache = try TestCache(
            schema: TestCache.shop.replacing("  orders:\n", with: "  orders:\n    conflict: manual\n"))
        _ = try await cache.store.create(
            "orders", body: JSONText(parsing: #"{"notes":"n","status":"open"}"#), at: now)
        let creation = try await cache.begun()
        _ = try await cache.pull("orders", #"[{"id":"b","notes":"n"}]"#)
        try await cache.change("orders", "b", #"{"status":"ready"}"#)
        let found = try JSONText(parsing: #"{"id":"b","notes":"n"}"#)
        try await cache.store.finish(
            creation.id,
            .found(record: found, version: nil, view: .list, otherwise: PushFailure(.unseen, message: ""), at: now),
            at: now)
        #expect(try cache.conflictCount() == 0)
        #expect(try cache.record("orders", "b")?["status"] == "ready")
    }

    @Test("a new record keeps what a pull has shown of it before the answer to its creation, which has less")
    func shownByPull() async throws {
        let cache = try TestCache()
        let key = try await cache.make("orders", #"{"notes":" n ","total":2.126}"#)
        let creation = try await cache.begun()
        _ = try await cache.pull("orders", #"[{"id":"b","notes":"n","total":2.13,"status":"open"}]"#)
        try await cache.store.finish(
            creation.id, .acknowledged(record: JSONText(parsing: #"{"id":"b","notes":"n"}"#)), at: now)
        let record = try #require(try cache.record("orders", key))
        #expect(record["id"] == "b" && record["notes"] == "n" && record["total"]?.text == "2.13")
        #expect(record["status"] == "open")
    }

    @Test("what the list alone has shown of a new record is gone when the list no longer has it")
    func goneFromList() async throws {
        let cache = try TestCache()
        let key = try await cache.make("orders", #"{"notes":"n"}"#)
        let creation = try await cache.begun()
        _ = try await cache.pull("orders", #"[{"id":"b","notes":"n","status":"open"}]"#)
        try await cache.store.finish(
            creation.id, .acknowledged(record: JSONText(parsing: #"{"id":"b","notes":"n"}"#)), at: now)
        #expect(try cache.record("orders", key)?["status"] == "open")
        _ = try await cache.pull("orders", #"[{"id":"b","notes":"n"}]"#)
        let record = try #require(try cache.record("orders", key))
        #expect(record["notes"] == "n" && record["status"] == nil)
    }

    @Test("what another creation became is not the lost one's, also after it was edited and renamed")
    func created() async throws {
        let cache = try TestCache()
        let change = try await lost(cache)
        _ = try await cache.store.create("orders", body: JSONText(parsing: #"{"notes":"n"}"#), at: now)
        try await send(.create, #"{"id":"c","notes":"n"}"#, cache)
        #expect(try cache.store.wasKnown("c", before: change))
        try await cache.change("orders", "c", #"{"total":5}"#)
        try await send(.update, #"{"id":"d","notes":"n","total":5}"#, cache)
        #expect(try cache.store.wasKnown("d", before: change))
        #expect(try !cache.store.wasKnown("b", before: change))
    }

    @Test("where the log no longer has the lost creation, a record that was edited here is not believed to be it")
    func pruned() async throws {
        let cache = try TestCache()
        let change = try await lost(cache)
        try await cache.change("orders", "b", #"{"total":5}"#)
        try await send(.update, #"{"id":"b","notes":"n","total":5}"#, cache)
        try await DatabaseQueue(path: cache.path).write { db in
            try db.execute(sql: "DELETE FROM sync_change_log WHERE change_id = ?", arguments: [change.id])
        }
        #expect(try cache.store.wasKnown("b", before: change))
    }
}
