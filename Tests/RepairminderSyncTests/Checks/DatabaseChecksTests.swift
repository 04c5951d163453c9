import EntitySchema
import Foundation
import Glibc
import TestSupport
import Testing

@testable import repairminder_sync

@Suite("What doctor checks in the database")
struct DatabaseChecksTests {
    @Test("a database that cannot be opened is not called damaged")
    func unopened() throws {
        let folder = try TemporaryFolder()
        let configuration = try folder.configuration(
            yaml: """
                schema: \(ProjectFiles.schemaFile("repairminder").path)
                state_dir: \(folder.path("state"))
                """)
        let path = folder.path("a.db")
        try Data().write(to: URL(filePath: path))
        try #require(mkfifo(path + "-wal", 0o600) == 0)
        let checks = DatabaseChecks(configuration: configuration, path: path, now: Timestamp(milliseconds: 0))
        let finding = try #require(checks.findings().first { $0.check == "database" })
        #expect(finding.level == .error && finding.message.contains("cannot be opened"), "\(finding.message)")
        #expect(!finding.message.contains("is damaged"))
    }
}
