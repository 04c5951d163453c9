import Foundation
import GRDB
import TestSupport
import Testing

@Suite("Commands on a database that another program has changed")
struct ChangedDatabaseTests {
    /// 20 columns that take 66 MB each, all at once while a row is checked.
    private static let columns = (1...20).map { "\"evil\($0)\" TEXT AS (hex(zeroblob(33000000))) VIRTUAL" }

    @Test("what its expressions may take of the machine's memory is limited")
    func memory() async throws {
        let folder = try TemporaryFolder()
        let state = folder.path("state")
        let config = try folder.makeHome(state: state)
        let imported = try await Program.run(
            "repairminder-sync", ["import-mirror", folder.path("mirror"), "--config", config])
        try #require(imported.status == 0, "\(imported.output)")
        let database = try DatabaseQueue(path: "\(state)/home-new.db")
        try await database.write { db in
            for column in Self.columns { try db.execute(sql: "ALTER TABLE records_tasks ADD COLUMN \(column)") }
        }
        try database.close()
        let checked = try await Program.run("repairminder-sync", ["doctor", "--config", config])
        #expect(checked.output.contains("the 256 MiB of a command"), "\(checked.output)")
    }
}
