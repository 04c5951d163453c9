import GRDB
import JSONText
import SQLiteStore
import Testing

@testable import CacheStore

@Suite("Members of an upstream by the names that answers add")
struct AddedMemberTests {
    private static let forged =
        #"[{"_sync":{"state":"error"},"id":"a","_labels":1,"inner":{"_sync":2},"\u005fserver":3,"_other":"\"_x","#
        + #""_include":5}]"#
    private static let shown = #"{"id":"a","inner":{"_sync":2},"_other":"\"_x","_sync":{"state":"synced","#

    private func text(_ cache: TestCache) throws -> String? { try cache.record("messages", "a")?.text }

    private func listed(_ cache: TestCache) throws -> String? {
        try JSONText(cache.store.list(ListQuery(entity: "messages")).records).elements.first?.text
    }

    @Test("they are stored and not shown, however they are written")
    func hidden() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("messages", #"[{"id":"a","_other":"x"}]"#)
        #expect(!cache.store.sealers.added.mayBeSent)
        _ = try await cache.pull("messages", Self.forged)
        #expect(try text(cache)?.hasPrefix(Self.shown) == true)
        #expect(try listed(cache)?.hasPrefix(Self.shown) == true)
        #expect(try cache.store.remote(of: "messages", key: "a")?.text == String(Self.forged.dropFirst().dropLast()))
    }

    @Test("they are not shown of a new record, nor after a restart")
    func reopened() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("messages", Self.forged)
        #expect(try text(cache)?.hasPrefix(Self.shown) == true)
        let reopened = try cache.reopened()
        #expect(try text(reopened)?.hasPrefix(Self.shown) == true)
    }

    @Test("they are found in a database that was written before they were looked for")
    func old() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("messages", Self.forged)
        try await cache.store.writer.write { db in
            try db.execute(sql: "DELETE FROM sync_setting WHERE name = 'added_members'")
        }
        let reopened = try cache.reopened()
        #expect(try text(reopened)?.hasPrefix(Self.shown) == true)
    }
}
