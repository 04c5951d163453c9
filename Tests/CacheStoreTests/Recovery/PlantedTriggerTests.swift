import Foundation
import GRDB
import SQLiteStore
import Testing

@testable import CacheStore

/// Someone else who can write the database has added triggers. They could go on forever, in a command that root runs.
@Suite("A trigger that another program has added to a database")
struct PlantedTriggerTests {
    private let cache: TestCache

    init() throws {
        cache = try TestCache()
        try cache.store.close()
        let file = try DatabaseQueue(path: cache.path)
        try file.write { db in
            for event in ["INSERT", "UPDATE", "DELETE"] {
                try db.execute(
                    sql: """
                        CREATE TRIGGER planted_\(event) AFTER \(event) ON sync_setting BEGIN
                          INSERT INTO sync_drift_note VALUES ('ran');
                        END
                        """)
            }
            try db.execute(sql: "CREATE TABLE sync_drift_note (text)")
        }
        try file.close()
    }

    /// How often one ran, in this file.
    private func runs(in path: String) throws -> Int? {
        try DatabaseQueue(path: path).read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM sync_drift_note") }
    }

    @Test("it does not run when the database is copied")
    func copied() throws {
        let copy = cache.path + ".copy"
        try DatabaseCopy.make(of: cache.path, at: copy)
        #expect(try runs(in: copy) == 0)
        let epochs = try DatabaseQueue(path: copy).read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM sync_setting WHERE name = 'epoch'")
        }
        #expect(epochs == 0)
    }

    @Test("it does not run when a command changes the database")
    func changed() throws {
        try ClosedDatabase(path: cache.path).moveUpstream(
            to: CacheOrigin(schema: "shop", upstream: "https://new.example"))
        #expect(try runs(in: cache.path) == 0)
    }
}
