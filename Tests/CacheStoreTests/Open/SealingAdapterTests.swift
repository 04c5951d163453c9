import EntitySchema
import Foundation
import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

/// Caches that were filled with another schema, or sealed with another key.
@Suite("Sealing existing data")
struct SealingAdapterTests {
    private let now = TestCache.now
    private let secret = SealedSecretTests.workshop
    private var clear: String { secret.replacing("secret: true", with: "secret: false") }

    /// A cache with a record, an edit and a conflict of each kind.
    private func filled(_ schema: String) async throws -> TestCache {
        let cache = try TestCache(schema: schema)
        let page = #"[{"id":"a","passcode":"PULLED-1","lock":{"code":"PULLED-2"}},{"id":"b","passcode":"PULLED-3"}]"#
        _ = try await cache.pull("devices", page)
        for key in ["a", "b"] {
            let body = try JSONText(parsing: #"{"passcode":"LOCAL-1"}"#)
            try await cache.store.update("devices", key: key, body: body, at: now)
        }
        _ = try await cache.pull("devices", #"[{"id":"a","passcode":"THERE-1","lock":{"code":"PULLED-2"}}]"#)
        _ = try await cache.pull("devices", #"[{"id":"b","deleted":true}]"#)
        _ = try await cache.pull("devices", #"[{"passcode":"ASIDE-1"}]"#)
        return cache
    }

    private func found(_ cache: TestCache) throws -> [String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: cache.folder.path)
        let bytes = try names.map { try Data(contentsOf: cache.folder.url.appending(path: $0)) }
        return ["PULLED-", "LOCAL-", "THERE-", "ASIDE-"].filter { text in
            bytes.contains { $0.range(of: Data(text.utf8)) != nil }
        }
    }

    private func body(_ cache: TestCache) throws -> String? {
        try cache.store.readyChanges(limit: 1, at: now).first?.body.text
    }

    @Test("a field that becomes secret leaves no clear text behind, not even in free pages and the log")
    func becomesSecret() async throws {
        let cache = try await filled(clear)
        // Freed pages, before anything is sealed.
        let many = (0..<300).map { JSONText.object(["id": .string("m\($0)"), "passcode": .string("PULLED-\($0)")]) }
        _ = try await cache.pull("devices", JSONText.array(many).text)
        let gone = (0..<300).map { JSONText.object(["id": .string("m\($0)"), "deleted": true]) }
        _ = try await cache.pull("devices", JSONText.array(gone).text)
        #expect(try found(cache).count == 4)
        let reopened = try cache.reopened(schema: secret)
        #expect(try found(reopened) == [])
        let values = try #require(try reopened.store.reveal(["passcode", "code"], of: "devices", key: "a"))
        #expect(values.map(\.value) == ["LOCAL-1", "PULLED-2"])
        #expect(try body(reopened) == #"{"passcode":"LOCAL-1"}"#)
        #expect(try reopened.store.setting("secrets_scrub") == nil)
        #expect(try reopened.store.pendingChange(1)["body"]?.text == "{}")
        // The upstream's page as it was still changes nothing.
        let page = #"[{"id":"a","passcode":"THERE-1","lock":{"code":"PULLED-2"}}]"#
        #expect(try await reopened.pull("devices", page).written == 0)
    }

    @Test("a field that is no longer secret is in the clear again, and everything else is unchanged")
    func stopsBeingSecret() async throws {
        let cache = try await filled(secret)
        let before = try #require(try cache.record("devices", "a"))
        let reopened = try cache.reopened(schema: clear)
        let record = try #require(try reopened.record("devices", "a"))
        #expect(record["passcode"] == "LOCAL-1")
        #expect(record["lock"]?.text == #"{"code":"PULLED-2"}"#)
        #expect(record["_sync"] == before["_sync"])
        #expect(try body(reopened) == #"{"passcode":"LOCAL-1"}"#)
        let conflicts = try reopened.store.conflicts(before: nil, open: false, limit: 9).conflicts
        #expect(conflicts.contains { $0["server"] == "THERE-1" && $0["local"] == "LOCAL-1" })
        #expect(conflicts.contains { $0["local"]?["passcode"] == "LOCAL-1" && $0["field"] == .null })
        let again = try reopened.reopened(schema: secret)
        #expect(try found(again) == [])
        #expect(try body(again) == #"{"passcode":"LOCAL-1"}"#)
    }

    @Test("changing one field leaves the others sealed as they are")
    func oneOfTwo() async throws {
        let cache = try await filled(secret)
        let one = secret.replacing("secret: true, from", with: "from")
        let reopened = try cache.reopened(schema: one)
        #expect(try reopened.record("devices", "a")?["lock"]?.text == #"{"code":"PULLED-2"}"#)
        #expect(try reopened.record("devices", "a")?["passcode"] == nil)
        #expect(try reopened.store.reveal(["passcode"], of: "devices", key: "a")?.first?.value == "LOCAL-1")
    }

    private func removeProofs(_ cache: TestCache) async throws {
        try await cache.store.writer.write { db in
            try db.execute(sql: "DELETE FROM sync_setting WHERE name GLOB 'secrets_proof:*'")
        }
    }

    @Test("a file of an earlier version, without a proof of what it has sealed, is opened where fields are their own")
    func withoutProof() async throws {
        let cache = try await filled(secret)
        try await removeProofs(cache)
        let reopened = try cache.reopened(schema: clear)
        let record = try #require(try reopened.record("devices", "a"))
        #expect(record["passcode"] == "LOCAL-1")
        #expect(record["lock"]?.text == #"{"code":"PULLED-2"}"#)
        #expect(try body(reopened) == #"{"passcode":"LOCAL-1"}"#)
        #expect(try reopened.store.setting("secrets_proof:devices") != nil)
    }

    @Test(
        "a secret that was copied to another field is not opened there, whatever the file says, with its proof or without",
        arguments: [true, false])
    func moved(hasProof: Bool) async throws {
        let cache = try TestCache(schema: secret)
        _ = try await cache.pull("devices", #"[{"id":"a","passcode":"CANARY","model":"m"}]"#)
        try await cache.store.writer.write { db in
            try db.execute(
                sql: """
                    UPDATE records_devices SET _remote = json_set(_remote, '$.model', _remote ->> '$.passcode');
                    UPDATE sync_setting SET value = json_insert(value, '$[#]', json_array('model', 'devices', 'passcode'))
                    WHERE name = 'secrets:devices'
                    """)
        }
        if !hasProof { try await removeProofs(cache) }
        let reopened = try cache.reopened(schema: secret)
        #expect(try reopened.record("devices", "a")?.text.contains("CANARY") == false)
        #expect(try reopened.store.reveal(["passcode"], of: "devices", key: "a")?.first?.value == "CANARY")
        // The next start does not open it either.
        let again = try reopened.reopened(schema: secret)
        #expect(try again.record("devices", "a")?.text.contains("CANARY") == false)
    }

    @Test("another key is refused, and the right one is accepted again")
    func otherKey() async throws {
        let cache = try await filled(secret)
        let error = #expect(throws: CacheError.self) { try cache.reopened(schema: secret, key: 2) }
        #expect(error?.incompatibility?.contains("another key") == true)
        #expect(try body(TestCache(schema: secret, in: cache.folder, key: 1)) == #"{"passcode":"LOCAL-1"}"#)
    }

    @Test("a cache without secrets needs no key")
    func withoutSecrets() async throws {
        let cache = try await filled(clear)
        #expect(try cache.store.setting("secrets_key") == nil)
        #expect(try cache.reopened(schema: clear, key: 2).record("devices", "a") != nil)
    }

    @Test("without the lost key, records have no secrets until the next page brings them back")
    func lostKey() async throws {
        let cache = try await filled(secret)
        try await cache.store.writer.write { db in
            try db.execute(sql: "DELETE FROM sync_setting WHERE name = 'secrets_key'")
        }
        let reopened = try cache.reopened(schema: secret, key: 2)
        let store = reopened.store
        #expect(try store.reveal(["passcode", "code"], of: "devices", key: "a")?.isEmpty == true)
        let change = try #require(try store.readyChanges(limit: 1, at: now).first)
        #expect(change.unreadable == ["passcode"])
        #expect(change.body.text == "{}")
        await #expect(throws: CacheError.self) { try await store.undo(2, at: now) }
        try await store.discard(change.id, cascade: false, at: now)
        _ = try await reopened.pull("devices", #"[{"id":"a","passcode":"5"}]"#)
        #expect(try store.reveal(["passcode"], of: "devices", key: "a")?.first?.value == "5")
    }

    @Test("a queued secret that cannot be decrypted never becomes the value of a clear field")
    func lostAndClear() async throws {
        let cache = try await filled(secret)
        try await cache.store.writer.write { db in
            try db.execute(sql: "DELETE FROM sync_setting WHERE name = 'secrets_key'")
        }
        let error = #expect(throws: CacheError.self) { try cache.reopened(schema: clear, key: 2) }
        #expect(error?.incompatibility?.contains("sets passcode") == true)
    }

    @Test("a tampered value is not shown, even when the field is no longer secret")
    func damaged() async throws {
        let cache = try TestCache(schema: secret)
        _ = try await cache.pull("devices", #"[{"id":"a","passcode":"1","model":"m"}]"#)
        try await cache.store.writer.write { db in
            try db.execute(sql: "UPDATE records_devices SET _remote = replace(_remote, 'sealed:1:', 'sealed:1:A')")
        }
        #expect(try cache.store.reveal(["passcode"], of: "devices", key: "a")?.isEmpty == true)
        #expect(try cache.record("devices", "a")?["model"] == "m")
        #expect(try cache.reopened(schema: clear).record("devices", "a")?["passcode"] == nil)
    }
}
