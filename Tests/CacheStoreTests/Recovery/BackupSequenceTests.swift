import Foundation
import GRDB
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Numbers and positions that a backup says were reached")
struct BackupSequenceTests {
    @Test(
        "one that leaves no number for the next row, or is none, has the backup refused",
        arguments: ["9223372036854775807", "'9'"])
    func exhausted(number: String) async throws {
        let message = try await refusal(
            "DELETE FROM sqlite_sequence; INSERT INTO sqlite_sequence VALUES ('sync_drift', \(number))")
        #expect(message.contains("sqlite_sequence"))
    }

    @Test(
        "a hook, a record or a beginning that is beyond the end of the change log has the backup refused",
        arguments: [
            (
                "UPDATE records_orders SET _acknowledged = (SELECT max(seq) + 1 FROM sync_change_log) WHERE _key = 'b'",
                "records_orders"
            ),
            ("INSERT INTO sync_hook (name, position) SELECT 'label', max(seq) + 1 FROM sync_change_log", "sync_hook"),
            ("INSERT INTO sync_setting SELECT 'log_floor', max(seq) + 1 FROM sync_change_log", "log_floor"),
            ("INSERT INTO sync_setting VALUES ('log_floor', '+9007199254740992')", "log_floor"),
        ])
    func beyond(sql: String, place: String) async throws {
        #expect(try await refusal("DELETE FROM sync_setting WHERE name = 'log_floor'; \(sql)").contains(place))
    }

    @Test("a hook and a record at the end of the change log have no backup refused")
    func atEnd() async throws {
        let message = try await refusal(
            """
            INSERT INTO sync_hook (name, position) SELECT 'label', max(seq) FROM sync_change_log;
            UPDATE records_orders SET _acknowledged = (SELECT max(seq) FROM sync_change_log) WHERE _key = 'b'
            """)
        #expect(message == "")
    }

    /// Why a backup is not restored in which this SQL has run; empty if it is.
    private func refusal(_ sql: String) async throws -> String {
        let fixture = try await RescueFixture()
        let backup = try fixture.backUp()
        let file = try DatabaseQueue(path: backup)
        try await file.write { db in try db.execute(sql: sql) }
        try file.close()
        try fixture.cache.store.close()
        let restore = DatabaseRestore(
            path: fixture.path, schema: try RescueFixture.schema(), sealer: try RescueFixture.sealer(),
            makeID: { UUID().uuidString })
        do {
            _ = try await restore.run(from: backup, at: RescueFixture.later)
        } catch CacheError.incompatible(let message) {
            return message
        }
        return ""
    }
}
