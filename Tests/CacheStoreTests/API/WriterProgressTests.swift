import GRDB
import SQLiteStore
import Synchronization
import TestSupport
import Testing

@testable import CacheStore

@Suite("The writer's progress", .timeLimit(.minutes(10)))
struct WriterProgressTests {
    private final class Flag: Sendable {
        let isSet = Atomic(false)
    }

    @Test("a transaction that takes long counts as progress while SQLite works on it")
    func longTransaction() async throws {
        let cache = try TestCache()
        let (begun, isOver) = (Flag(), Flag())
        let work =
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT count(*) FROM n"
        let write = Task { [writer = cache.store.writer] in
            try await writer.write { db in
                begun.isSet.store(true, ordering: .relaxed)
                while !isOver.isSet.load(ordering: .relaxed) { try db.execute(sql: work) }
            }
        }
        while !begun.isSet.load(ordering: .relaxed) { await Task.yield() }
        await cache.store.awaitWriterProgress(ContinuousClock())
        isOver.isSet.store(true, ordering: .relaxed)
        try await write.value
    }

    @Test("an idle writer makes progress at once, and one that stands still makes none")
    func idleAndStill() async throws {
        let cache = try TestCache()
        await cache.store.awaitWriterProgress(ContinuousClock())
        let (begun, isOver) = (Flag(), Flag())
        let write = Task { [writer = cache.store.writer] in
            try await writer.write { _ in
                begun.isSet.store(true, ordering: .relaxed)
                while !isOver.isSet.load(ordering: .relaxed) {}
            }
        }
        while !begun.isSet.load(ordering: .relaxed) { await Task.yield() }
        let moment = cache.store.writer.moment
        let waiting = Task { await cache.store.awaitWriterProgress(ContinuousClock()) }
        waiting.cancel()
        await waiting.value
        #expect(cache.store.writer.moment == moment)
        isOver.isSet.store(true, ordering: .relaxed)
        try await write.value
    }

    @Test("a write that comes after the database was closed throws")
    func closed() async throws {
        let cache = try TestCache()
        try cache.store.close()
        cache.isDamaged = true  // cannot be checked any more
        let writer = cache.store.writer
        await #expect(throws: CacheError.self) { try await writer.write { _ in } }
    }
}
