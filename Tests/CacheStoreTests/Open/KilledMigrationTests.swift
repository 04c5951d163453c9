import Foundation
import GRDB
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

/// SQLite appends what the migration does to the log, and leaves the file alone meanwhile. So a kill leaves the old file
/// and the log up to some byte.
@Suite("A migration of an older version's database that is cut off")
struct KilledMigrationTests {
    private let expected: OldDatabase.Expectations
    /// The file before the migration.
    private let kept: Data
    /// The log at its end.
    private let log: WriteAheadLog
    /// What the migration makes of the file when nothing cuts it off.
    private let wanted: DatabaseContents

    init() throws {
        let old = try OldDatabase()
        expected = try old.expectations()
        kept = try Self.enlarged(old)
        (log, wanted) = try Self.migrate(old, kept)
    }

    /// Opens the database; returns the log as it is then, and what can be read.
    private static func migrate(_ old: OldDatabase, _ kept: Data) throws -> (WriteAheadLog, DatabaseContents) {
        let store = try old.open()
        let log = try WriteAheadLog(of: old.path)
        try #require(Data(contentsOf: URL(filePath: old.path)) == kept, "the log was copied into the file meanwhile")
        let contents = try DatabaseContents(of: store.pool)
        try store.close()
        return (log, contents)
    }

    /// Adds records, so that filling the columns of one table takes more than one transaction.
    private static func enlarged(_ old: OldDatabase) throws -> Data {
        let file = try DatabaseQueue(path: old.path)
        try file.write { db in
            try db.execute(
                sql: """
                    WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 5500)
                    INSERT INTO records_entries (_key, _remote, _synced_at)
                    SELECT 'more' || n, json_object('id', 'more' || n, 'at', '2026-11-01', 'text', 'entry ' || n), 0 FROM numbers;
                    UPDATE sync_tally SET count = count + 5500 WHERE name = 'rows:entries';
                    """)
        }
        try file.close()
        return try Data(contentsOf: URL(filePath: old.path))
    }

    private let moments = TestRun.isFull ? 200 : 6

    @Test
    func `killed at any moment, it goes on at the next start, and ends as if it had not been killed`() throws {
        try #require(log.commits.count > 40)
        var random = SeededRandom()
        for number in 0..<moments {
            let old = try OldDatabase()
            var kill = try #require(log.kill(after: 0, &random))
            try leave(kill, of: log, in: old)
            // Every third is killed once more on its way.
            if number % 3 == 0 {
                let (second, _) = try Self.migrate(old, kept)
                if let later = second.kill(after: kill.reached, &random) { kill = later }
                try leave(kill, of: second, in: old)
            }
            try check(old, "moment \(number), \(kill); \(TestRun.note())")
        }
    }

    @Test
    func `stopped by systemd at any moment, it goes on at the next start`() throws {
        let questions = try countQuestions()
        try #require(questions > 10)
        var random = SeededRandom()
        for number in 0..<(TestRun.isFull ? 30 : 2) {
            let old = try OldDatabase()
            try kept.write(to: URL(filePath: old.path))
            let left = Counter()
            let last = random.below(questions)
            #expect(throws: CancellationError.self) { _ = try old.open { left.next() <= last } }
            try check(old, "stop \(number), question \(last); \(TestRun.note())")
        }
    }

    /// How often an opening asks whether to continue.
    private func countQuestions() throws -> Int {
        let old = try OldDatabase()
        try kept.write(to: URL(filePath: old.path))
        let count = Counter()
        let store = try old.open {
            _ = count.next()
            return true
        }
        try store.close()
        return count.next() - 1
    }

    private func leave(_ kill: WriteAheadLog.Kill, of log: WriteAheadLog, in old: OldDatabase) throws {
        try kept.write(to: URL(filePath: old.path))
        try log.bytes.prefix(kill.length).write(to: URL(filePath: old.path + "-wal"))
    }

    /// Opens the database, as the next start does, and checks that nothing is lost, doubled or different.
    private func check(_ old: OldDatabase, _ place: String) throws {
        let store = try old.open()
        #expect(try store.inconsistencies() == [], "\(place)")
        let contents = try DatabaseContents(of: store.pool)
        #expect(contents.differences(from: wanted) == [], "\(place)")
        try store.close()
        let queue = try ExportedQueue(ofDatabaseAt: old.path).changes
        #expect(try queue == ExportedQueue(text: expected.queue).changes, "\(place)")
        #expect(Set(queue.map(\.idempotencyKey)).count == queue.count, "\(place)")
    }
}
