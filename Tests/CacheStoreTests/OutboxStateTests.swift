import EntitySchema
import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("The states of a queued change")
struct OutboxStateTests {
    private struct Pair: Hashable {
        var from: OutboxState
        var to: OutboxState
    }

    private static let allowed: Set<Pair> = [
        Pair(from: .queued, to: .queued), Pair(from: .queued, to: .uploading),
        Pair(from: .waiting, to: .queued), Pair(from: .waiting, to: .uploading),
        Pair(from: .uploading, to: .queued), Pair(from: .uploading, to: .waiting),
        Pair(from: .uploading, to: .failed), Pair(from: .failed, to: .queued),
    ]

    /// A cache with one edit of a pulled record in the queue, in `state`.
    private func cache(_ state: OutboxState) async throws -> (cache: TestCache, change: OutboxChange) {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n"}]"#)
        try await cache.store.update(
            "orders", key: "a", body: JSONText(parsing: #"{"notes":"x"}"#), at: TestCache.now)
        let change = try #require(try cache.store.readyChanges(limit: 1, at: TestCache.now).first)
        try await cache.store.writer.write { db in
            try db.execute(sql: "UPDATE sync_outbox SET state = ?", arguments: [state.rawValue])
        }
        return (cache, change)
    }

    /// Attempts the transition; false when it was refused.
    private func attempt(
        _ transition: OutboxState.Transition, _ change: OutboxChange, _ cache: TestCache
    ) async throws -> Bool {
        let table = try cache.store.table("orders")
        return try await cache.store.writer.write { db in
            let queue = cache.store.context(db, at: TestCache.now).queue
            let failure = PushFailure(.server, message: "not now")
            do {
                switch transition {
                case .begin: return try queue.begin(change, in: table, at: TestCache.now)
                case .takeBack: try queue.takeBack(change.id)
                case .recover: return try !queue.recover(nil).isEmpty
                case .postpone: try queue.postpone(change.id, failure, until: TestCache.now, counted: true)
                case .fail: try queue.fail(change.id, failure, takingBack: false)
                case .requeue: try queue.requeue(change.id, failure)
                case .retry: return try !queue.retry(change.id).isEmpty
                case .edit:
                    try queue.edit(
                        change.id,
                        to: OutboxTable.NewChange(
                            table: table, key: "a", operation: .update, body: .object(["notes": "y"]),
                            base: .object([:]), edited: .object([:]), idempotencyKey: "another"))
                case .recreate:
                    try queue.recreate(change.id, body: .object(["id": "a"]), idempotencyKey: "another")
                case .revive:
                    try queue.revive(
                        change.id, body: .object(["notes": "y"]), base: .object([:]), idempotencyKey: "another")
                }
                return true
            } catch CacheError.conflict {
                return false
            }
        }
    }

    private func state(_ cache: TestCache) throws -> OutboxState {
        let text = try cache.store.read { db in try String.fetchOne(db, sql: "SELECT state FROM sync_outbox") }
        return try #require(text.flatMap(OutboxState.init))
    }

    @Test("each transition is allowed from the states in the table and refused from all others")
    func transitions() async throws {
        var seen: Set<Pair> = []
        for transition in OutboxState.Transition.allCases {
            for from in OutboxState.allCases {
                let (cache, change) = try await cache(from)
                // It moves the change alone, without its record.
                cache.isDamaged = true
                let isAllowed = transition.rule.from.contains(from)
                #expect(try await attempt(transition, change, cache) == isAllowed, "\(transition) from \(from)")
                #expect(try state(cache) == (isAllowed ? transition.rule.to : from), "\(transition) from \(from)")
                if isAllowed { seen.insert(Pair(from: from, to: transition.rule.to)) }
            }
        }
        #expect(seen == Self.allowed)
    }

    @Test("retrying every change leaves waiting ones alone")
    func retryAll() async throws {
        for from in OutboxState.allCases {
            let (cache, _) = try await cache(from)
            let count = try await cache.store.writer.write { db in
                try cache.store.context(db, at: TestCache.now).queue.retry(nil).count
            }
            #expect(count == (from == .failed ? 1 : 0))
            #expect(try state(cache) == (from == .failed ? .queued : from))
        }
    }

    @Test("a change that left the queue has no transitions")
    func gone() async throws {
        let (cache, change) = try await cache(.uploading)
        try await cache.store.finish(change.id, .acknowledged(record: nil), at: TestCache.now)
        await #expect(throws: CacheError.self) { _ = try await attempt(.fail, change, cache) }
        #expect(try await !attempt(.begin, change, cache))
    }
}
