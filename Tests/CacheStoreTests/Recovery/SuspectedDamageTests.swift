import Foundation
import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

/// Text that is no JSON may be damage, and may as well come from a statement that takes other text for JSON.
@Suite("An error that may be damage")
struct SuspectedDamageTests {
    @Test("a statement that reads other text as JSON fails, and the file is not called damaged")
    func statement() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","status":"open"}]"#)
        let error = #expect(throws: CacheError.self) {
            try cache.store.snapshot { db in try String.fetchAll(db, sql: "SELECT value FROM json_each('abc')") }
        }
        guard case .failed? = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        try await cache.store.checkTexts()
    }

    @Test("a stored text that is no JSON is damage, although SQLite finds none")
    func stored() async throws {
        let cache = try TestCache()
        cache.isDamaged = true
        _ = try await cache.store.create("orders", body: .object(["notes": "n"]), at: TestCache.now)
        try await cache.store.pool.write { db in
            try db.execute(sql: "UPDATE sync_outbox SET body = substr(body, 2)")
        }
        try await cache.store.check()
        let error = await #expect(throws: CacheError.self) { try await cache.store.checkTexts() }
        #expect(error?.damage?.contains("sync_outbox") == true)
    }

    @Test("a suspicion has the file checked once, and damage ends the wait at once")
    func watch() async throws {
        let watch = DamageWatch()
        let suspicion = DatabaseError(resultCode: .SQLITE_ERROR, message: "malformed JSON")
        _ = watch.classified(suspicion)
        var checks = 0
        do {
            try await watch.wait {
                checks += 1
                _ = watch.classified(suspicion)
                _ = watch.classified(DatabaseError(resultCode: .SQLITE_CORRUPT))
            }
            Issue.record("the damage was not seen")
        } catch {
            #expect("\(error)".contains("damaged"))
        }
        #expect(checks == 1)
    }
}
