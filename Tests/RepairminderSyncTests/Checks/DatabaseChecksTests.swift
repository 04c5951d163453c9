import CacheStore
import EntitySchema
import Foundation
import Glibc
import JSONText
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

    private static let schema = """
        schema: shop
        upstream: { pagination: { style: single } }
        entities:
          orders:
            fields: { id: { type: string } }
            pull: { path: /orders }
            push: { create: { call: POST /orders } }
        """

    @Test("changes of an entity that the schema no longer has are reported at once")
    func lostEntity() async throws {
        let folder = try TemporaryFolder()
        let store = try CacheStore.temporary(EntitySchema(yaml: Self.schema, file: "shop.yaml"), in: folder)
        _ = try await store.create("orders", body: .object([:]), at: Timestamp(milliseconds: 0))
        func queue(_ schema: String) throws -> [String] {
            var checks = DatabaseChecks(
                configuration: try folder.configuration(yaml: "{}"), path: store.path, now: Timestamp(milliseconds: 0))
            checks.schema = try EntitySchema(yaml: schema, file: "shop.yaml")
            return checks.findings().filter { $0.check == "queue" && $0.level == .warning }.map(\.message)
        }
        #expect(try queue(Self.schema).isEmpty)
        let other = Self.schema.replacing("orders:", with: "parts:")
        #expect(try queue(other) == ["changes of orders are not sent: the schema no longer has this entity"])
    }
}
