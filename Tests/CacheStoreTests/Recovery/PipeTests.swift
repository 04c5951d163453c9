import EntitySchema
import Foundation
import Glibc
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

/// Someone else who owns the folder has put a pipe where a database, or a part of one, belongs.
@Suite("A pipe in place of a database")
struct PipeTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("shop.db")
    }

    private func makePipe(_ suffix: String) throws { try #require(mkfifo(path + suffix, 0o600) == 0) }

    @Test("no way to open it waits for the other end", arguments: ["", "-journal", "-wal", "-shm"])
    func opening(_ suffix: String) throws {
        try makePipe(suffix)
        let refusal = CacheError.unwritable("\(path)\(suffix) is not a file; find out who put it there, then delete it")
        #expect(throws: refusal) { try ReadConnection(path: path) }
        #expect(throws: refusal) { try DatabaseFile.openReadOnly(path) }
        #expect(throws: refusal) { try DatabaseCopy.problems(of: path) }
        #expect(throws: refusal) { try DatabaseCopy.make(of: path, at: folder.path("copy.db")) }
        #expect(throws: refusal) { try DatabaseSummary(ofDatabaseAt: path) }
        #expect(throws: refusal) { try ClosedDatabase(path: path).forgetKey() }
        let (schema, sealer) = (try RescueFixture.schema(), try RescueFixture.sealer())
        #expect(throws: refusal) { try CacheStore(path: path, schema: schema, sealer: sealer, makeID: { "1" }) }
        #expect(CacheOrigin(ofDatabaseAt: path) == nil)
        #expect(DatabasePreview(path: path).connection == nil)
    }

    @Test("what looks into a damaged file does not wait either")
    func scanning() throws {
        try makePipe("")
        #expect(ScannedFile(path: path) == nil)
        #expect(OpeningCheck.mark(of: path) == nil)
    }

    @Test("a missing database and its files pass")
    func missing() throws {
        try DatabaseFile.requireRegular(path)
    }
}
