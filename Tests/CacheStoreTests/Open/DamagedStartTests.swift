import Foundation
import GRDB
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

/// Each of these had the daemon end at every start, with the queue in the file.
@Suite("Damage that once had the daemon never start")
struct DamagedStartTests {
    private func expectWholeQueue(_ fixture: RescueFixture, _ before: [(id: Int64, key: String, tried: Bool)])
        async throws
    {
        let (cache, report) = try await fixture.rescued()
        #expect(try RescueFixture.queue(cache.store).map(\.key) == before.map(\.key))
        #expect(report.lost.isEmpty)
    }

    @Test(
        "a header with which SQLite only reads the file counts as damage, and the queue is rescued",
        arguments: [(18, 3 as UInt8), (18, 255), (59, 64)])
    func header(offset: Int, byte: UInt8) async throws {
        let fixture = try await RescueFixture()
        let before = try fixture.queue()
        try fixture.cache.store.close()
        try fixture.overwrite(at: offset, with: [byte])
        try await expectWholeQueue(fixture, before)
    }

    @Test("a damaged name of a migration is none of a newer version, and the queue is rescued")
    func changedMigration() async throws {
        let fixture = try await RescueFixture()
        let before = try fixture.queue()
        try fixture.cache.store.close()
        let file = try Data(contentsOf: URL(filePath: fixture.path))
        let place = try #require(file.firstRange(of: Data("5: idempotency".utf8)))
        try fixture.overwrite(at: place.lowerBound, with: Array("7".utf8))
        #expect(!DatabasePreview(path: fixture.path).isOfNewerVersion)
        try await expectWholeQueue(fixture, before)
    }

    @Test("a migration without a name is damage for the commands too")
    func missingMigration() async throws {
        let fixture = try await RescueFixture()
        let before = try fixture.queue()
        try fixture.cache.store.close()
        // As a damaged page can have it: the table itself takes no such value.
        for sql in [
            "UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', '') WHERE name = 'grdb_migrations'",
            "UPDATE grdb_migrations SET identifier = NULL WHERE identifier LIKE '5:%'",
            "UPDATE sqlite_master SET sql = replace(sql, 'TEXT', 'TEXT NOT NULL') WHERE name = 'grdb_migrations'",
        ] { try fixture.change(sql) }
        let error = #expect(throws: CacheError.self) { try DatabaseSummary(ofDatabaseAt: fixture.path) }
        #expect(error?.damage != nil)
        try await expectWholeQueue(fixture, before)
    }

    @Test("a file whose making was cut off in its first page is made again")
    func firstPage() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("cache.db")
        try Data(count: 4096).write(to: URL(filePath: path))
        // The journal of a file that had no page before: only a connection that writes could go on.
        let header: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7] + Array(repeating: 0, count: 12)
        let journal = header + [0, 0, 2, 0, 0, 0, 16, 0] + Array(repeating: 0, count: 484)
        try Data(journal).write(to: URL(filePath: path + "-journal"))
        #expect(try DatabaseFile(path).finishReplacing().isEmpty)
        #expect(try TestCache(in: folder).store.isEmpty())
    }

    @Test("a file whose making was cut off before its first tables is no damaged one")
    func firstTable() throws {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: folder.path("cache.db"))
        try queue.write { try $0.execute(sql: "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)") }
        try queue.close()
        #expect(try TestCache(in: folder).store.isEmpty())
    }
}
