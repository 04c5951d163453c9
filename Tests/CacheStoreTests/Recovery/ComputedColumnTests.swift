import Foundation
import GRDB
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

/// An expression such as `hex(zeroblob(33000000))` takes 100 MB for each row that is read, and a table can have 2,000.
@Suite("Columns that a backup computes")
struct ComputedColumnTests {
    /// Fails when it is computed, instead of taking memory.
    private static let expression = "json('no JSON')"

    private func restore(_ backup: String, to path: String) async throws -> DatabaseRestore.Report {
        try await DatabaseRestore(
            path: path, schema: RescueFixture.schema(), sealer: RescueFixture.sealer(),
            makeID: { UUID().uuidString }
        ).run(from: backup, at: RescueFixture.later)
    }

    private func changed(_ backup: String, _ sql: String) async throws {
        let file = try DatabaseQueue(path: backup)
        try await file.write { db in try db.execute(sql: sql) }
        try file.close()
    }

    private func computedColumns(of path: String) throws -> [String] {
        try DatabaseFile.openReadOnly(path).read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT t.name || '.' || c.name FROM sqlite_schema t, pragma_table_xinfo(t.name) c
                    WHERE t.type = 'table' AND c.hidden > 1
                    """)
        }
    }

    @Test("those of records, also of an entity that the schema does not have, are dropped before they are computed")
    func records() async throws {
        let fixture = try await RescueFixture()
        let backup = try fixture.backUp()
        try await changed(
            backup,
            """
            ALTER TABLE records_orders ADD COLUMN "evil" TEXT AS (\(Self.expression)) VIRTUAL;
            CREATE TABLE "records_former" (_pk INTEGER PRIMARY KEY);
            INSERT INTO records_former VALUES (1);
            ALTER TABLE records_former ADD COLUMN "evil" TEXT AS (\(Self.expression)) VIRTUAL
            """)
        try fixture.cache.store.close()
        #expect(try await restore(backup, to: fixture.path).queued == 3)
        #expect(try computedColumns(of: fixture.path) == [])
        #expect(try DatabaseCopy.problems(of: fixture.path) == [])
        let cache = try TestCache(in: fixture.cache.folder)
        #expect(try cache.record("orders", "b") != nil)
    }

    @Test(
        "one in another table is found before the table is read",
        arguments: ["grdb_migrations", "sync_setting", "sync_outbox"])
    func others(table: String) async throws {
        let fixture = try await RescueFixture()
        let backup = try fixture.backUp()
        try DatabaseRestore.requireTables(in: backup, RescueFixture.schema())
        try await changed(backup, "ALTER TABLE \(table) ADD COLUMN evil TEXT AS ('a') VIRTUAL")
        let error = #expect(throws: CacheError.self) {
            try DatabaseRestore.requireTables(in: backup, RescueFixture.schema())
        }
        #expect("\(String(describing: error))".contains("a computed column in the table \(table)"))
        await #expect(throws: CacheError.self) { try await restore(backup, to: fixture.path) }
    }
}
