import EntitySchema
import Foundation
import JSONText
import SQLiteStore
import SchemaDrift
import Secrets
import TestSupport
import Testing

@testable import CacheStore

/// Follows secret fields from input to output, and checks what the files have of them in between.
@Suite("Secrets in the cache")
struct SealedSecretTests {
    private let now = TestCache.now

    private func cache(_ records: String = "[]", key: UInt8 = 1) async throws -> TestCache {
        let cache = try TestCache(schema: Self.workshop, key: key)
        _ = try await cache.pull("devices", records)
        return cache
    }

    private func update(_ cache: TestCache, _ body: String, _ key: String = "a") async throws {
        try await cache.store.update("devices", key: key, body: JSONText(parsing: body), at: now)
    }

    private func ready(_ cache: TestCache) throws -> [OutboxChange] {
        try cache.store.readyChanges(limit: 100, at: now)
    }

    private func revealed(_ cache: TestCache, _ fields: [String] = ["passcode"], _ key: String = "a") throws -> String?
    {
        try cache.store.reveal(fields, of: "devices", key: key).map { JSONText.object(members: $0).text }
    }

    /// The names of the cache's files that contain `text`.
    private func files(of cache: TestCache, holding text: String) throws -> [String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: cache.folder.path)
        #expect(names.contains("cache.db"))
        return try names.filter {
            try Data(contentsOf: cache.folder.url.appending(path: $0)).range(of: Data(text.utf8)) != nil
        }
    }

    // MARK: At rest

    @Test("no file contains a secret that was pulled, edited, in conflict, refused, answered or set aside")
    func files() async throws {
        let page = """
            [{"id":"a","model":"m","passcode":"PULLED-1","lock":{"code":"NESTED-1","kind":"pin"}},
             {"id":"b","passcode":"PULLED-2"},{"id":"c","passcode":"GONE-1"},{"passcode":"ASIDE-1","model":"x"},"ASIDE-2",
             ["ASIDE-3"],{"id":"d","p\\u0061sscode":"ESCAPED-1","passcode":"TWICE-1"}]
            """
        let cache = try await cache(page)
        try await update(cache, #"{"passcode":"LOCAL-1"}"#)
        try await update(cache, #"{"passcode":"LOCAL-2","code":"LOCAL-3"}"#, "b")
        _ = try await cache.store.create(
            "devices",
            body: JSONText(parsing: #"{"id":"n","model":"n","passcode":"LOCAL-4","lock":{"code":"LOCAL-5"}}"#),
            at: now)
        try await cache.store.delete("devices", key: "c", at: now)
        // Another user's edit of the same field, and a deletion.
        _ = try await cache.pull(
            "devices", #"[{"id":"a","passcode":"THERE-1","model":"m"},{"id":"c","passcode":"THERE-2"}]"#)
        let changes = try ready(cache)
        for change in changes {
            #expect(try await cache.store.begin(change, at: now))
            let failure = PushFailure(.refused, status: 422, message: "no")
            try await cache.store.finish(change.id, .failed(failure), at: now)
        }
        _ = try await cache.store.retry(nil, at: now)
        for change in try ready(cache) where change.operation != .delete {
            #expect(try await cache.store.begin(change, at: now))
            let answer = try change.record.setting("passcode", to: "ANSWERED-1").setting(
                JSONText(parsing: #"{"lock":{"code":"ANSWERED-2"}}"#))
            try await cache.store.finish(change.id, .acknowledged(record: answer), at: now)
        }
        #expect(try cache.store.conflicts(before: nil, open: false, limit: 10).conflicts.count >= 2)
        #expect(try revealed(cache, ["passcode", "code"], "n") == #"{"passcode":"ANSWERED-1","code":"ANSWERED-2"}"#)
        for secret in [
            "PULLED-", "NESTED-", "GONE-", "ASIDE-", "ESCAPED-", "TWICE-", "LOCAL-", "THERE-", "ANSWERED-",
        ] {
            #expect(try files(of: cache, holding: secret) == [], "\(secret)")
        }
        #expect(try !files(of: cache, holding: "sealed:1:").isEmpty)
    }

    @Test("no output contains a secret, sealed or not")
    func shown() async throws {
        let cache = try await cache(
            #"[{"id":"a","passcode":"PULLED","lock":{"code":"NESTED","kind":"pin"},"model":"m"}]"#)
        try await update(cache, #"{"passcode":"LOCAL","lock":{"code":"LOCAL","kind":"x"}}"#)
        _ = try await cache.pull("devices", #"[{"id":"a","passcode":"THERE","lock":{"code":"THERE","kind":"y"}}]"#)
        let store = cache.store
        let lists = try [ListQuery(entity: "devices"), ListQuery(entity: "devices", fields: ["lock"])].map {
            String(decoding: try store.list($0).records, as: UTF8.self)
        }
        let conflicts = try store.conflicts(before: nil, open: false, limit: 9).conflicts
        #expect(conflicts.contains { $0["field"] == "passcode" && $0["local"] == .null && $0["server"] == .null })
        #expect(conflicts.contains { $0["field"] == "lock" && $0["local"]?.text == #"{"kind":"x"}"# })
        let texts =
            try lists + conflicts.map(\.text) + store.pending(PendingQuery(limit: 9)).changes.map(\.text)
            + [#require(try cache.record("devices", "a")).text, "\(store.drift())"]
        for text in texts {
            for secret in ["PULLED", "NESTED", "LOCAL", "THERE", "sealed:"] {
                #expect(!text.contains(secret), "\(text)")
            }
        }
        #expect(lists[1].contains(#""kind":"x""#) || lists[1].contains(#""kind":"y""#))
    }

    @Test("a page without changes writes nothing")
    func unchanged() async throws {
        let page = #"[{"id":"a","passcode":"1234","lock":{"code":5}},{"id":"b","passcode":null}]"#
        let cache = try await cache(page)
        let position = try cache.store.position()
        #expect(try await cache.pull("devices", page).written == 0)
        #expect(try cache.store.position() == position)
        #expect(try await cache.pull("devices", page.replacing("1234", with: "1235")).written == 1)
    }

    @Test("a value that looks sealed is sealed like any other, and comes out unchanged")
    func looksSealed() async throws {
        let cache = try await cache(#"[{"id":"a","passcode":"sealed:1:AAAA"}]"#)
        #expect(try revealed(cache) == #"{"passcode":"sealed:1:AAAA"}"#)
        try await update(cache, #"{"passcode":"sealed:1:BBBB"}"#)
        #expect(try ready(cache).first?.body["passcode"] == "sealed:1:BBBB")
    }

    @Test("a secret is sealed, and not shown, in a list where the schema has an object, and the other way round")
    func otherShapes() async throws {
        let page = #"[{"id":"a","lock":[{"code":"LISTED","kind":"pin"}]},{"id":"b","lock":"{\"code\":\"AS-TEXT\"}"}]"#
        let devices = try await cache(page)
        #expect(try files(of: devices, holding: "LISTED") == [])
        let lists = try [ListQuery(entity: "devices"), ListQuery(entity: "devices", fields: ["lock"])].map {
            String(decoding: try devices.store.list($0).records, as: UTF8.self)
        }
        for text in try lists + [#require(try devices.record("devices", "a")).text] {
            for secret in ["LISTED", "AS-TEXT", "sealed:"] { #expect(!text.contains(secret), "\(text)") }
        }
        #expect(try await devices.pull("devices", page).written == 0)

        let texts = [
            #" {"code":"S"}"#, "\n{\"code\":\"S\"}", "\u{FEFF}{\"code\":\"S\"}", #""{\"code\":\"S\"}""#, "code=S",
        ]
        for text in texts {
            let record = JSONText.object(["id": "t", "lock": .string(text)])
            _ = try await devices.pull("devices", "[\(record.text)]")
            #expect(try devices.record("devices", "t")?["lock"] == nil, "\(text)")
        }
        _ = try await devices.pull("devices", #"[{"id":"c","lock":"lock_17"}]"#)
        #expect(try devices.record("devices", "c")?["lock"] == "lock_17")

        let orders = try TestCache(schema: Self.families)
        _ = try await orders.pull("orders", #"[{"id":"o","devices":{"id":"d","pin":"SINGLE","n":1.50}}]"#)
        #expect(try files(of: orders, holding: "SINGLE") == [])
        #expect(try orders.record("orders", "o")?["devices"]?.text == #"{"id":"d","n":1.50}"#)
    }

    // MARK: Output

    @Test("a request body has its secrets in the clear; the record for its path has none")
    func sent() async throws {
        let cache = try await cache(#"[{"id":"a","passcode":"1234","lock":{"code":"5"}}]"#)
        try await update(cache, #"{"passcode":"9876","lock":{"code":"6","x":1.50}}"#)
        let change = try #require(try ready(cache).first)
        #expect(change.body.text == #"{"passcode":"9876","lock":{"code":"6","x":1.50}}"#)
        #expect(change.record.text == #"{"id":"a","lock":{"x":1.50}}"#)
        #expect(Set(change.secrets).isSuperset(of: ["9876", "1234", "5", "6"]))
    }

    @Test("setting a secret to its current value is no change")
    func same() async throws {
        let cache = try await cache(#"[{"id":"a","passcode":"1234"}]"#)
        try await update(cache, #"{"passcode":"1234"}"#)
        #expect(try ready(cache).isEmpty)
        try await update(cache, #"{"passcode":null}"#)
        #expect(try ready(cache).first?.body.text == #"{"passcode":null}"#)
    }

    @Test("revealing follows an old key, returns null for a missing secret, and refuses other fields")
    func reveal() async throws {
        let cache = try await cache(#"[{"id":"a","lock":{"code":7}}]"#)
        #expect(try revealed(cache, ["code", "passcode"]) == #"{"code":7,"passcode":null}"#)
        #expect(try revealed(cache, ["code"], "missing") == nil)
        #expect(throws: CacheError.badQuery(field: "reveal", message: "devices have no secret field model")) {
            try revealed(cache, ["model"])
        }
        let key = try await cache.store.create(
            "devices", body: JSONText(parsing: #"{"model":"m","passcode":"12"}"#), at: now)
        let change = try #require(try ready(cache).first)
        #expect(try await cache.store.begin(change, at: now))
        let answer = try JSONText(parsing: #"{"id":"z","passcode":"12"}"#)
        try await update(cache, #"{"passcode":"13"}"#, key)
        try await cache.store.finish(change.id, .acknowledged(record: answer), at: now)
        #expect(try revealed(cache, ["passcode"], key) == #"{"passcode":"13"}"#)
        #expect(try ready(cache).first?.key == "z")
        #expect(try ready(cache).first?.body.text == #"{"passcode":"13"}"#)
    }

    @Test("an error does not quote a refused value")
    func validation() async throws {
        let cache = try await cache(#"[{"id":"a"}]"#)
        let error = await #expect(throws: CacheError.self) { try await update(cache, #"{"passcode":1234}"#) }
        #expect(error?.problems?.map(\.message) == ["expected text, got another type"])
    }

    // MARK: Merging

    @Test("another notation of the same value is no conflict, a changed value is")
    func merge() async throws {
        let cache = try await cache(#"[{"id":"a","passcode":"a/b","model":"m"}]"#)
        try await update(cache, #"{"passcode":"c/d"}"#)
        _ = try await cache.pull("devices", #"[{"id":"a","passcode":"a\/b","model":"n"}]"#)
        #expect(try cache.store.conflicts(before: nil, open: false, limit: 9).conflicts.isEmpty)
        // Our own value, in the server's notation.
        _ = try await cache.pull("devices", #"[{"id":"a","passcode":"c\/d","model":"n"}]"#)
        #expect(try cache.store.conflicts(before: nil, open: false, limit: 9).conflicts.isEmpty)
        _ = try await cache.pull("devices", #"[{"id":"a","passcode":"e","model":"n","updated_at":"2000-01-01"}]"#)
        let conflict = try #require(try cache.store.conflicts(before: nil, open: false, limit: 9).conflicts.first)
        #expect(conflict["field"] == "passcode")
        #expect(conflict["winner"] == "local")
        #expect(try ready(cache).first?.body.text == #"{"passcode":"c/d"}"#)
    }

    @Test("undoing a conflict over a secret queues the other value", arguments: [false, true])
    func undo(_ wholeRecord: Bool) async throws {
        let cache = try await cache(#"[{"id":"a","passcode":"1","model":"m"}]"#)
        try await update(cache, #"{"passcode":"2"}"#)
        _ = try await cache.pull(
            "devices",
            wholeRecord ? #"[{"id":"a","deleted":true}]"# : #"[{"id":"a","passcode":"3","updated_at":"2100-01-01"}]"#)
        #expect(try ready(cache).isEmpty)
        try await cache.store.undo(1, at: now)
        let change = try #require(try ready(cache).first)
        #expect(change.operation == (wholeRecord ? .create : .update))
        #expect(change.body["passcode"] == "2")
        #expect(try files(of: cache, holding: #""2""#) == [])
    }

    @Test("a deletion compares the server's version by its clear values, not by the sealed text")
    func deletion() async throws {
        let cache = try await cache(#"[{"id":"a","passcode":"a/b"}]"#)
        try await cache.store.delete("devices", key: "a", at: now)
        _ = try await cache.pull("devices", #"[{"id":"a","passcode":"a\/b"}]"#)
        #expect(try cache.store.conflicts(before: nil, open: false, limit: 9).conflicts.isEmpty)
    }

    // MARK: Drift

    @Test("drift reports the found type, never the value")
    func drift() async throws {
        let cache = try await cache(#"[{"id":"a","passcode":123456},{"id":"b","passcode":"1"}]"#)
        func found(_ cache: TestCache) throws -> [String] {
            try cache.store.drift().filter { $0.field == "passcode" }.map { "\($0.kind) \($0.found) \($0.count)" }
        }
        #expect(try found(cache) == ["type integer 1"])
        // Counted again by another schema.
        let other = Self.workshop.replacing("model: { type: string }", with: "model: { type: integer }")
        #expect(try found(cache.reopened(schema: other)) == ["type integer 1"])
    }

    // MARK: Children inside their parents' records

    @Test("secrets of children embedded in their parents are sealed in both and shown in neither")
    func embedded() async throws {
        let cache = try TestCache(schema: Self.families)
        let record = #"{"id":"o","devices":[{"id":"d","pin":"EMBEDDED","n":1.50},7],"total":2.50}"#
        var page = PulledPage(entity: "orders", records: "[\(record)]")
        page.children = [
            PulledChildren(
                entity: "devices", by: "order_id", records: #"[{"id":"d","pin":"EMBEDDED","order_id":"o"}]"#,
                parents: ["o"], complete: ["o"])
        ]
        _ = try await cache.store.apply(page, at: now)
        #expect(try files(of: cache, holding: "EMBEDDED") == [])
        let shown = try #require(try cache.record("orders", "o"))
        #expect(shown["devices"]?.text == #"[{"id":"d","n":1.50},7]"#)
        #expect(shown["total"]?.text == "2.50")
        #expect(try cache.record("devices", "d")?["pin"] == nil)
        #expect(try cache.store.reveal(["pin"], of: "devices", key: "d")?.first?.value == "EMBEDDED")
        let list = try cache.store.list(ListQuery(entity: "orders", fields: ["devices"])).records
        #expect(!String(decoding: list, as: UTF8.self).contains("sealed:"))
        #expect(try await cache.store.apply(page, at: now).changed == false)
        // The same without a key, and with a value that is not a list.
        _ = try await cache.pull(
            "orders", #"[{"devices":[{"pin":"EMBEDDED"},8],"n":1},{"id":"p","devices":{"n":1.50}}]"#)
        #expect(try cache.store.setAsideRecords(limit: 9).map(\.record) == [#"{"devices":[{},8],"n":1}"#])
        #expect(try cache.record("orders", "p")?["devices"]?.text == #"{"n":1.50}"#)
    }

    static let workshop = """
        schema: shop
        upstream:
          base_url: http://localhost
          pagination: { style: page }
        entities:
          devices:
            fields:
              id: { type: string }
              model: { type: string }
              passcode: { type: string, secret: true }
              code: { type: string, secret: true, from: lock.code }
              lock: { type: object }
              updated_at: { type: time, index: true }
            pull: { path: /devices, changed_at: updated_at, deleted: deleted }
            push:
              create: { call: POST /devices }
              update: { call: "PATCH /devices/{id}" }
              delete: { call: "DELETE /devices/{id}" }
        """

    static let families = """
        schema: shop
        upstream:
          base_url: http://localhost
          pagination: { style: page }
        entities:
          orders:
            fields:
              id: { type: string }
              devices: { type: list }
              total: { type: money }
            pull: { path: /orders, detail: { embedded: devices, into: devices } }
          devices:
            fields:
              id: { type: string }
              order_id: { type: reference, to: orders, index: true, required: true }
              pin: { type: string, secret: true }
        """
}
