import Dispatch
import Foundation
import GRDB
import SQLiteStore
import Synchronization
import TestSupport
import Testing

@testable import CacheStore

@Suite("Group commit")
struct GroupCommitTests {
    private struct Refused: Error {}

    /// The scheduled commits, and the number of commits and calls.
    private final class HeldCommits: Sendable {
        let due = Mutex<[@Sendable () -> Void]>([])
        let commits = Atomic(0)
        let calls = Atomic(0)
        let order = Mutex<[Int]>([])
        /// How often the work that is due was done, and whether it fails.
        let upkeeps = Atomic(0)
        let failsToKeepUp = Atomic(false)
        let clock = ManualClock()

        func keepUp(_ db: Database) throws {
            upkeeps.add(1, ordering: .relaxed)
            try db.execute(sql: "INSERT OR IGNORE INTO numbers VALUES (100, NULL)")
            if failsToKeepUp.load(ordering: .relaxed) { throw Refused() }
        }
    }

    /// Collects writes in one group, which the test commits.
    private struct Fixture {
        let held = HeldCommits()
        private let folder: TemporaryFolder
        private let pool: DatabasePool
        private let writer: GroupCommit

        /// With `isDue`, there is work after each commit: it inserts 100.
        init(isDue: Bool = false) throws {
            folder = try TemporaryFolder()
            pool = try DatabasePool(path: folder.path("group.db"))
            try pool.write { db in
                try db.execute(
                    sql: """
                        CREATE TABLE numbers (number INTEGER PRIMARY KEY, above REFERENCES numbers DEFERRABLE INITIALLY DEFERRED)
                        """)
            }
            let readers = ReaderPool(path: pool.path, damage: DamageWatch(), count: 1, first: nil)
            writer = GroupCommit(
                writer: pool, readers: readers,
                runtime: GroupCommit.Runtime(
                    schedule: { [held] commit in held.due.withLock { $0.append(commit) } },
                    uptime: { [held] in held.clock.now.offset }),
                damage: DamageWatch(), committed: { [held] in _ = held.commits.add(1, ordering: .relaxed) },
                upkeep: { [held] in
                    guard isDue else { return nil }
                    return { db in try held.keepUp(db) }
                })
        }

        /// The write has joined the group when this returns. Without a number `above`, the commit fails. `time`: how long it
        /// takes.
        func write(
            _ number: Int, above: Int? = nil, refusing: Bool = false, time: Duration = .zero, for caller: String = ""
        ) -> Task<Int, any Error> {
            Task.immediate { [writer, held] in
                try await writer.write(for: caller) { db in
                    held.order.withLock { $0.append(number) }
                    held.calls.add(1, ordering: .relaxed)
                    held.clock.advance(by: time)
                    if number > 0 {
                        try db.execute(sql: "INSERT INTO numbers VALUES (?, ?)", arguments: [number, above])
                    }
                    if refusing { throw Refused() }
                    return number
                }
            }
        }

        func commit() {
            for commit in held.due.withLock({ $0 }) { commit() }
        }

        func numbers() throws -> [Int] {
            try pool.read { try Int.fetchAll($0, sql: "SELECT number FROM numbers ORDER BY number") }
        }
    }

    @Test("a write that throws undoes its own changes and no others")
    func undoesItself() async throws {
        let fixture = try Fixture()
        let (first, second, third) = (fixture.write(1), fixture.write(2, refusing: true), fixture.write(3))
        fixture.commit()
        #expect(try await first.value == 1)
        await #expect(throws: Refused.self) { try await second.value }
        #expect(try await third.value == 3)
        #expect(try fixture.numbers() == [1, 3])
        #expect(fixture.held.commits.load(ordering: .relaxed) == 1)
    }

    @Test("a write that throws before changing anything costs the others nothing")
    func changesNothing() async throws {
        let fixture = try Fixture()
        let (first, second, third) = (fixture.write(1), fixture.write(0, refusing: true), fixture.write(3))
        fixture.commit()
        #expect(try await first.value == 1)
        await #expect(throws: Refused.self) { try await second.value }
        #expect(try await third.value == 3)
        #expect(try fixture.numbers() == [1, 3])
        #expect(fixture.held.calls.load(ordering: .relaxed) == 3)
    }

    @Test("if the commit fails, no write happens and every caller gets the error")
    func uncommitted() async throws {
        let fixture = try Fixture()
        let (first, second) = (fixture.write(1), fixture.write(2, above: 9))
        fixture.commit()
        await #expect(throws: CacheError.self) { try await first.value }
        await #expect(throws: CacheError.self) { try await second.value }
        #expect(try fixture.numbers().isEmpty)
        #expect(fixture.held.commits.load(ordering: .relaxed) == 0)
    }

    @Test("what is due is done after the commit, and one that fails undoes no write and is done again after the next")
    func upkeep() async throws {
        let fixture = try Fixture(isDue: true)
        fixture.held.failsToKeepUp.store(true, ordering: .relaxed)
        let first = fixture.write(1)
        fixture.commit()
        #expect(try await first.value == 1)
        #expect(try fixture.numbers() == [1])
        fixture.held.failsToKeepUp.store(false, ordering: .relaxed)
        fixture.held.due.withLock { $0 = [] }
        let second = fixture.write(2)
        fixture.commit()
        #expect(try await second.value == 2)
        #expect(try fixture.numbers() == [1, 2, 100])
        #expect(fixture.held.upkeeps.load(ordering: .relaxed) == 2)
    }

    @Test("if the first write of a transaction throws, no write runs a second time")
    func first() async throws {
        let fixture = try Fixture()
        let (first, second) = (fixture.write(1, refusing: true), fixture.write(2))
        fixture.commit()
        await #expect(throws: Refused.self) { try await first.value }
        #expect(try await second.value == 2)
        #expect(try fixture.numbers() == [2])
        #expect(fixture.held.calls.load(ordering: .relaxed) == 2)
    }

    // MARK: Long transactions

    @Test("a transaction that has taken long takes no further write; the others come into the next, in their order")
    func long() async throws {
        let fixture = try Fixture()
        let writes = [
            fixture.write(1, time: .milliseconds(400)), fixture.write(2, time: .milliseconds(400)),
            fixture.write(3, time: .seconds(9)), fixture.write(4), fixture.write(5),
        ]
        fixture.commit()
        for (index, write) in writes.enumerated() { #expect(try await write.value == index + 1) }
        #expect(try fixture.numbers() == [1, 2, 3, 4, 5])
        #expect(fixture.held.calls.load(ordering: .relaxed) == 5)
        // 1 and 2, 3, 4 and 5.
        #expect(fixture.held.commits.load(ordering: .relaxed) == 3)
    }

    @Test("callers take turns, so that a write does not wait for all those of another caller that take long")
    func turns() async throws {
        let fixture = try Fixture()
        let long = (1...4).map { fixture.write($0, time: .seconds(1), for: "games") }
        let quick = [fixture.write(5, for: "man"), fixture.write(6, for: "man")]
        fixture.commit()
        for write in long + quick { _ = try await write.value }
        #expect(fixture.held.order.withLock { $0 } == [1, 5, 2, 6, 3, 4])
        #expect(try fixture.numbers() == [1, 2, 3, 4, 5, 6])
    }

    @Test("if the commit of a long transaction fails, the writes that it has not come to have their turn")
    func longAndUncommitted() async throws {
        let fixture = try Fixture()
        let (first, second) = (fixture.write(1, above: 9, time: .seconds(9)), fixture.write(2))
        fixture.commit()
        await #expect(throws: CacheError.self) { try await first.value }
        #expect(try await second.value == 2)
        #expect(try fixture.numbers() == [2])
    }

    @Test("a write that throws in a long transaction undoes its own changes, and those behind it have their turn")
    func longAndUndone() async throws {
        let fixture = try Fixture()
        let first = fixture.write(1)
        let second = fixture.write(2, refusing: true, time: .seconds(9))
        let third = fixture.write(3)
        fixture.commit()
        #expect(try await first.value == 1)
        await #expect(throws: Refused.self) { try await second.value }
        #expect(try await third.value == 3)
        #expect(try fixture.numbers() == [1, 3])
        #expect(fixture.held.commits.load(ordering: .relaxed) == 2)
    }
}
