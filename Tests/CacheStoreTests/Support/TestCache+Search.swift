import EntitySchema
import GRDB
import JSONText
import SQLiteStore
import Testing

@testable import CacheStore

/// Looks into the full-text index.
extension TestCache {
    /// Has FTS5 compare its index with what readers see (https://sqlite.org/fts5.html#the_integrity_check_command).
    func requireInStep() async throws {
        try await store.catchUpSearch()
        let tables = store.schema.entities.compactMap { SearchTable($0) }
        // The store reads no view.
        try await DatabaseQueue(path: path).write { [store] db in
            CacheOpening.addFunctions(to: db, store.reminderDays)
            for table in tables {
                try #require(try SearchIndex(table: table, db: db).lag() == 0)
                for name in table.parts.map(\.name) {
                    try db.execute(sql: "INSERT INTO \(name) (\(name), rank) VALUES ('integrity-check', 1)")
                }
            }
        }
    }

    /// The sizes of the rows that FTS5 has written for the clients' index.
    func indexSize() async throws -> [Int] { try await indexParts().sorted { $0.key < $1.key }.flatMap(\.value) }

    func indexParts() async throws -> [String: [Int]] {
        try await store.pool.read { db in
            let parts = try SearchPart.Kind.allCases.map { part in
                try (
                    "\(part)", Int.fetchAll(db, sql: "SELECT length(block) FROM sync_clients_\(part)_data ORDER BY id")
                )
            }
            return Dictionary(uniqueKeysWithValues: parts)
        }
    }

    func index(_ db: Database) throws -> SearchIndex {
        SearchIndex(table: try #require(SearchTable(store.table("clients").entity)), db: db)
    }

    /// The number of segments of each part of the clients' index.
    func segments() async throws -> [Int] {
        try await store.pool.read { db in
            try SearchPart.Kind.allCases.map { part in
                try Int.fetchOne(db, sql: "SELECT count(DISTINCT segid) FROM sync_clients_\(part)_idx") ?? 0
            }
        }
    }
}
