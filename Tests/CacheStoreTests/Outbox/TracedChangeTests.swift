import EntitySchema
import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("The trace of a queued change")
struct TracedChangeTests {
    private let now = TestCache.now
    private static let first = "00-11111111111111111111111111111111-1111111111111111-01"
    private static let second = "00-22222222222222222222222222222222-2222222222222222-01"

    private func cache() async throws -> TestCache {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n"}]"#)
        return cache
    }

    private func edit(_ cache: TestCache, _ notes: String, _ traceparent: String?) async throws {
        let trace = traceparent.flatMap { TraceContext(traceparent: $0, tracestate: "a=1") }
        try await cache.store.write(at: now, trace: trace) {
            try $0.update("orders", key: "a", .object(["notes": .string(notes)]))
        }
    }

    private func traces(_ store: CacheStore) throws -> [String?] {
        try store.readyChanges(limit: 9, at: now).map { $0.trace?.stored }
    }

    @Test("is its caller's, is shown with it, and goes with the request")
    func kept() async throws {
        let cache = try await cache()
        try await edit(cache, "x", Self.first)
        #expect(try traces(cache.store) == ["\(Self.first) a=1"])
        let shown = try cache.store.pendingChange(1)
        #expect(shown["traceparent"]?.string == Self.first)
        let sent = try #require(shown.at(path: "request.headers.traceparent")?.string)
        #expect(sent.contains("-11111111111111111111111111111111-") && sent != Self.first)
        #expect(shown.at(path: "request.headers.tracestate") == "a=1")
    }

    @Test("is that of the latest caller who named one, if several wrote the change")
    func joined() async throws {
        let cache = try await cache()
        for trace in [nil, Self.first, Self.second, nil] { try await edit(cache, "x\(trace ?? "")", trace) }
        #expect(try traces(cache.store) == ["\(Self.second) a=1"])
    }

    @Test("is missing without one, and then not shown")
    func none() async throws {
        let cache = try await cache()
        try await edit(cache, "x", nil)
        #expect(try traces(cache.store) == [nil])
        #expect(try cache.store.pendingChange(1)["traceparent"] == nil)
        #expect(try cache.store.pendingChange(1).at(path: "request.headers.traceparent") == nil)
    }

    @Test("is that of who corrected the change")
    func corrected() async throws {
        let cache = try await cache()
        try await edit(cache, "x", Self.first)
        let trace = TraceContext(traceparent: Self.second)
        try await cache.store.write(at: now, trace: trace) {
            try $0.correct(1, setting: .object(["notes": "y"]), removing: [])
        }
        #expect(try traces(cache.store) == [Self.second])
    }

    @Test("makes each attempt a span of its own")
    func attempts() async throws {
        let cache = try await cache()
        try await edit(cache, "x", Self.first)
        let change = try await cache.begun()
        try await cache.store.finish(
            change.id, .waiting(PushFailure(.timeout, message: "no answer"), at: now, counted: true), at: now)
        let again = try #require(try cache.store.readyChanges(limit: 1, at: now).first)
        #expect(again.trace?.stored == change.trace?.stored)
        #expect(again.trace?.attempt == 1 && change.trace?.attempt == 0)
    }

    @Test("goes along to another database, unless the file has another text in its place")
    func exported() async throws {
        let cache = try await cache()
        try await edit(cache, "x", Self.first)
        let queue = try ExportedQueue(text: ExportedQueue(ofDatabaseAt: cache.path).text())
        let other = try TestCache()
        _ = try await other.store.take(queue, at: now)
        #expect(try traces(other.store) == ["\(Self.first) a=1"])
        let text = try queue.text()
        let wrong = text.replacing("00-1111", with: "00-zzzz")
        #expect(wrong != text)
        let third = try TestCache()
        _ = try await third.store.take(try ExportedQueue(text: wrong), at: now)
        #expect(try traces(third.store) == [nil])
        let isStored = try third.store.read { db in
            try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM sync_outbox WHERE trace IS NOT NULL)")
        }
        #expect(isStored == false)
    }

    @Test("is read from the bare pages of a damaged file")
    func scanned() async throws {
        let cache = try await cache()
        try await edit(cache, "x", Self.first)
        let path = cache.path
        try cache.store.close()
        let scan = try #require(QueueSnapshot(scanning: path, withLog: true))
        #expect(scan.changes.map(\.trace) == ["\(Self.first) a=1"])
    }
}
