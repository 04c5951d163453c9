import Foundation
import GRDB
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("The last numbers that a backup says were given")
struct BackupSequenceTests {
    @Test(
        "one that leaves no number for the next row, or is none, has the backup refused",
        arguments: ["9223372036854775807", "'9'"])
    func exhausted(number: String) async throws {
        let fixture = try await RescueFixture()
        let backup = try fixture.backUp()
        let file = try DatabaseQueue(path: backup)
        try await file.write { db in
            try db.execute(sql: "DELETE FROM sqlite_sequence")
            try db.execute(sql: "INSERT INTO sqlite_sequence VALUES ('sync_drift', \(number))")
        }
        try file.close()
        try fixture.cache.store.close()
        let restore = DatabaseRestore(
            path: fixture.path, schema: try RescueFixture.schema(), sealer: try RescueFixture.sealer(),
            makeID: { UUID().uuidString })
        let error = await #expect(throws: CacheError.self) {
            try await restore.run(from: backup, at: RescueFixture.later)
        }
        #expect(error?.incompatibility?.contains("sqlite_sequence") == true)
    }
}
