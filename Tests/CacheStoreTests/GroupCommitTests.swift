import Foundation
import GRDB
import SQLiteStore
import Synchronization
import TestSupport
import Testing

@testable import CacheStore

@Suite("Writes that share a transaction")
struct GroupCommitTests {
    private struct Refused: Error {}

    /// What the writer wants done, and what it has done.
    private final class Held: Sendable {
        let due = Mutex<[@Sendable () -> Void]>([])
        let commits = Atomic(0)
        let calls = Atomic(0)
    }

    /// Writes come together in one group, which is committed when the test says so.
    private struct Scene {
        let held = Held()
        private let folder: TemporaryFolder
        private let pool: DatabasePool
        private let writer: GroupCommit

        init(refusesToFinish: Bool = false) throws {
            folder = try TemporaryFolder()
            pool = try DatabasePool(path: folder.path("group.db"))
            try pool.write { try $0.execute(sql: "CREATE TABLE numbers (number INTEGER PRIMARY KEY)") }
            writer = GroupCommit(
                writer: pool, schedule: { [held] commit in held.due.withLock { $0.append(commit) } },
                damage: DamageWatch(), finish: { _ in if refusesToFinish { throw Refused() } },
                committed: { [held] in _ = held.commits.add(1, ordering: .relaxed) })
        }

        /// Joins the group before it returns.
        func write(_ number: Int, refusing: Bool = false) -> Task<Int, any Error> {
            Task.immediate { [writer, held] in
                try await writer.write { db in
                    held.calls.add(1, ordering: .relaxed)
                    if number > 0 { try db.execute(sql: "INSERT INTO numbers VALUES (?)", arguments: [number]) }
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

    @Test("one that throws undoes what it changed and nothing else")
    func undoesItself() async throws {
        let scene = try Scene()
        let (first, second, third) = (scene.write(1), scene.write(2, refusing: true), scene.write(3))
        scene.commit()
        #expect(try await first.value == 1)
        await #expect(throws: Refused.self) { try await second.value }
        #expect(try await third.value == 3)
        #expect(try scene.numbers() == [1, 3])
        #expect(scene.held.commits.load(ordering: .relaxed) == 1)
    }

    @Test("one that throws before it has changed anything costs the others nothing")
    func changesNothing() async throws {
        let scene = try Scene()
        let (first, second, third) = (scene.write(1), scene.write(0, refusing: true), scene.write(3))
        scene.commit()
        #expect(try await first.value == 1)
        await #expect(throws: Refused.self) { try await second.value }
        #expect(try await third.value == 3)
        #expect(try scene.numbers() == [1, 3])
        #expect(scene.held.calls.load(ordering: .relaxed) == 3)
    }

    @Test("where the last work of the transaction fails nobody has written, and everybody hears of it")
    func unfinished() async throws {
        let scene = try Scene(refusesToFinish: true)
        let (first, second) = (scene.write(1), scene.write(2))
        scene.commit()
        await #expect(throws: Refused.self) { try await first.value }
        await #expect(throws: Refused.self) { try await second.value }
        #expect(try scene.numbers().isEmpty)
        #expect(scene.held.commits.load(ordering: .relaxed) == 0)
    }
}
