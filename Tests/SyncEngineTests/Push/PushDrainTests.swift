import GRDB
import SQLiteStore
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("A drain of the queue")
struct PushDrainTests {
    @Test("says whether it has admitted a change: without one, no other loop need be woken", arguments: [true, false])
    func admits(_ mayBegin: Bool) async throws {
        let test = try await TestEngine.editing(1, TestEngine.shop)
        let admission = PushAdmission(
            slots: { 4 }, allowance: { .all }, newest: { .max }, mayBegin: { _ in mayBegin }, barred: { nil },
            breaksOff: { _ in })
        let hasAdmitted = try await test.pusher(at: test.clock.timestamp).drain(through: admission)
        #expect(hasAdmitted == mayBegin)
        #expect(test.upstream.pushes.count == (mayBegin ? 1 : 0))
    }

    @Test("sends what may be sent from the moment after it has begun", .timeLimit(.minutes(1)))
    func begins() async throws {
        let test = try await TestEngine.editing(1, TestEngine.shop)
        let looks = Counter()
        let admission = PushAdmission(
            slots: { looks.next() == 1 ? 0 : 4 }, allowance: { .all }, newest: { .max }, mayBegin: { _ in true },
            barred: { nil }, breaksOff: { _ in })
        try await test.pusher(at: test.clock.timestamp).drain(through: admission)
        #expect(test.upstream.pushes.count == 1)
    }

    @Test("an outcome that cannot be stored breaks off no attempt beside it", .timeLimit(.minutes(10)))
    func finishesOthers() async throws {
        let test = try await TestEngine.creating(2, TestEngine.shop)
        let (isFirst, other) = (Flag(), Gate())
        test.upstream.onPush { [store = test.store] in
            guard !isFirst.take() else {
                let trigger = "CREATE TRIGGER no BEFORE DELETE ON sync_outbox BEGIN SELECT RAISE(ABORT, 'no'); END"
                return await Self.execute(trigger, store)
            }
            await other.pass()
            await Self.execute("DROP TRIGGER no", store)
            // A cancellation comes, if at all, while others get their turns.
            for _ in 0..<10_000 where !Task.isCancelled { await Task.yield() }
        }
        test.upstream.refuse { _ in Task.isCancelled ? .cancelled : nil }
        let admission = PushAdmission(
            slots: { 4 }, allowance: { .all }, newest: { .max }, mayBegin: { _ in true }, barred: { nil },
            breaksOff: { _ in other.open() })
        await #expect(throws: (any Error).self) {
            try await test.pusher(at: test.clock.timestamp).drain(through: admission)
        }
        #expect(test.upstream.appliedCount == 2)
        #expect(try test.store.pendingCount().pending == 1)
    }

    private static func execute(_ sql: String, _ store: CacheStore) async {
        do {
            try await store.writer.write { db in try db.execute(sql: sql) }
        } catch {
            Issue.record(error)
        }
    }
}
