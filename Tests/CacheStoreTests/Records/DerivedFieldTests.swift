import EntitySchema
import GRDB
import JSONText
import SQLiteStore
import SchemaDrift
import TestSupport
import Testing

@testable import CacheStore

@Suite("Derived fields")
struct DerivedFieldTests {
    private let now = TestCache.now

    private func cache() throws -> TestCache { try TestCache(schema: DerivedFieldSchema.yaml) }

    @Test("if the server does not send the field, all children count, local ones included")
    func fromScratch() async throws {
        let cache = try cache()
        _ = try await cache.pull("talks", #"[{"id":"t"}]"#)
        #expect(try cache.values("talks", "t", "line_count", "cost", "last_text") == ["0", "0.00", "null"])
        _ = try await cache.pull(
            "lines",
            """
            [{"id":"a","talk_id":"t","cost":0.1,"text":"one","at":"2026-01-01T10:00:00Z"},
             {"id":"b","talk_id":"t","cost":"0.2","text":"two","at":"2026-01-01T13:00:00+02:00"},
             {"id":"c","talk_id":"t","cost":5,"kind":"gift","text":null}]
            """)
        #expect(
            try cache.values("talks", "t", "line_count", "cost", "last_text", "last_at")
                == ["3", "0.30", #""two""#, #""2026-01-01T13:00:00+02:00""#])
        _ = try await cache.make(
            "lines", #"{"talk_id":"t","text":"three","cost":1.005,"at":"2026-02-01T00:00:00Z"}"#)
        #expect(try cache.values("talks", "t", "line_count", "cost", "last_text") == ["4", "1.305", #""three""#])
    }

    @Test("the server's value is the base, and only pending local changes are added")
    func onTheServersBase() async throws {
        let cache = try cache()
        _ = try await cache.pull(
            "talks",
            #"[{"id":"t","line_count":40,"cost":"10.50","last_text":"far","last_at":"2026-03-01T00:00:00Z"}]"#)
        _ = try await cache.pull("lines", #"[{"id":"a","talk_id":"t","cost":2,"at":"2026-01-01T00:00:00Z"}]"#)
        #expect(try cache.values("talks", "t", "line_count", "cost", "last_text") == ["40", #""10.50""#, #""far""#])
        let key = try await cache.make("lines", #"{"talk_id":"t","text":"here","cost":1,"at":"2026-02-01T00:00:00Z"}"#)
        #expect(try cache.values("talks", "t", "line_count", "cost", "last_text") == ["41", "11.50", #""far""#])
        try await cache.change("lines", key, #"{"at":"2026-04-01T00:00:00Z"}"#)
        #expect(try cache.values("talks", "t", "last_text") == [#""here""#])
        try await cache.store.delete("lines", key: "a", at: now)
        #expect(try cache.values("talks", "t", "line_count", "cost") == ["40", "9.50"])
    }

    @Test("a sum of numbers that are no money has as many decimals as they have")
    func sumOfNumbers() async throws {
        let cache = try TestCache(schema: DerivedFieldSchema.yaml.replacing("type: money", with: "type: number"))
        _ = try await cache.pull("talks", #"[{"id":"t"}]"#)
        for (cost, sum) in [("1", "1"), ("2", "3"), ("0.25", "3.25")] {
            _ = try await cache.make("lines", #"{"talk_id":"t","text":"x","cost":\#(cost)}"#)
            #expect(try cache.values("talks", "t", "cost") == [sum])
        }
    }

    @Test("the server's count stays as it is if no integer has room for the local children")
    func greatestCount() async throws {
        let cache = try cache()
        _ = try await cache.pull("talks", #"[{"id":"t","line_count":9223372036854775807}]"#)
        _ = try await cache.make("lines", #"{"talk_id":"t","text":"here"}"#)
        #expect(try cache.values("talks", "t", "line_count") == ["9223372036854775807"])
    }

    @Test("without its time, the server's latest applies until a local change makes another record the latest")
    func latestWithoutTime() async throws {
        let time = "last_at: { type: time, derive: { latest: lines.at, by: at } }"
        let cache = try TestCache(schema: DerivedFieldSchema.yaml.replacing(time, with: ""))
        _ = try await cache.pull("talks", #"[{"id":"t","last_text":"far"}]"#)
        _ = try await cache.pull(
            "lines",
            """
            [{"id":"a","talk_id":"t","text":"old","at":"2026-01-01T00:00:00Z"},
             {"id":"b","talk_id":"t","text":"new","at":"2026-02-01T00:00:00Z"}]
            """)
        try await cache.change("lines", "a", #"{"text":"corrected"}"#)
        #expect(try cache.values("talks", "t", "last_text") == [#""far""#])
        try await cache.change("lines", "a", #"{"at":"2026-03-01T00:00:00Z"}"#)
        #expect(try cache.values("talks", "t", "last_text") == [#""corrected""#])
    }

    @Test("a child whose time is any text does not keep its page from being stored")
    func latestWithOddTime() async throws {
        let cache = try cache()
        _ = try await cache.pull("talks", #"[{"id":"t"}]"#)
        for (key, time) in [("a", #"9999-01-01\u001fx"#), ("b", #"\u007f\u001f"#), ("c", #"\u007f\u001f{}\u001f0"#)] {
            _ = try await cache.pull("lines", #"[{"id":"\#(key)","talk_id":"t","text":"\#(key)","at":"\#(time)"}]"#)
            #expect(try cache.values("talks", "t", "last_text") == [#""\#(key)""#])
        }
    }

    @Test(
        "an indexed list that is a text upstream does not keep its page from being stored",
        arguments: ["abc", "[", "me"])
    func listAsText(_ text: String) async throws {
        let list = "read_by: { type: list, "
        let cache = try TestCache(schema: DerivedFieldSchema.yaml.replacing(list, with: "\(list)index: true, "))
        try await cache.store.setAccount("me", at: now)
        _ = try await cache.pull("talks", #"[{"id":"t"}]"#)
        _ = try await cache.pull("lines", #"[{"id":"a","talk_id":"t","read_by":"\#(text)"}]"#)
        #expect(try cache.values("talks", "t", "unread_count") == [text == "me" ? "0" : "1"])
    }

    @Test("a moved child counts for its new parent and not for the old one; discarding reverts that")
    func moved() async throws {
        let cache = try cache()
        _ = try await cache.pull("talks", #"[{"id":"t","line_count":7},{"id":"u"}]"#)
        _ = try await cache.pull("lines", #"[{"id":"a","talk_id":"t"}]"#)
        try await cache.change("lines", "a", #"{"talk_id":"u"}"#)
        #expect(try cache.values("talks", "t", "line_count") + cache.values("talks", "u", "line_count") == ["6", "1"])
        let id = try #require(try cache.store.readyChanges(limit: 1, at: now).first?.id)
        try await cache.store.discard(id, cascade: false, at: now)
        #expect(try cache.values("talks", "t", "line_count") + cache.values("talks", "u", "line_count") == ["7", "0"])
        _ = try await cache.pull("lines", #"[{"id":"a","talk_id":"u"}]"#)
        #expect(try cache.values("talks", "t", "line_count") + cache.values("talks", "u", "line_count") == ["7", "1"])
        _ = try await cache.pull("lines", #"[{"id":"a","deleted_at":"2026-01-01"}]"#)
        #expect(try cache.values("talks", "u", "line_count") == ["0"])
    }

    @Test("children of a record created locally count for it under the server's key")
    func renamed() async throws {
        let cache = try cache()
        let talk = try await cache.make("talks", "{}")
        _ = try await cache.make("lines", #"{"talk_id":"\#(talk)","text":"hello"}"#)
        #expect(try cache.values("talks", talk, "line_count", "last_text") == ["1", #""hello""#])
        try await cache.send(.acknowledged(record: JSONText(parsing: #"{"id":"srv"}"#)))
        #expect(try cache.values("talks", "srv", "id", "line_count", "last_text") == [#""srv""#, "1", #""hello""#])
    }

    @Test("a derived value is no local change, no conflict and no drift, and an unchanged page writes nothing")
    func onlyDerived() async throws {
        let cache = try cache()
        let talks = #"[{"id":"t","line_count":4,"unread_count":3}]"#
        let lines = #"[{"id":"a","talk_id":"t","state":"read"}]"#
        _ = try await cache.pull("talks", talks)
        _ = try await cache.pull("lines", lines)
        #expect(try cache.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try cache.record("talks", "t")?.at(path: "_sync.state")?.string == "synced")
        let drift = try cache.store.drift().filter { $0.entity == "talks" }.map(\.field)
        #expect(drift.allSatisfy { $0.hasSuffix("_id") })
        let position = try cache.store.position()
        #expect(try await cache.pull("talks", talks).written == 0)
        #expect(try await cache.pull("lines", lines).written == 0)
        #expect(try cache.store.position() == position)
        try await cache.store.delete("talks", key: "t", at: now)
        _ = try await cache.pull("talks", #"[{"id":"t","line_count":5,"unread_count":4}]"#)
        #expect(try cache.record("talks", "t") == nil)
        #expect(try cache.store.conflicts(before: nil, open: false, limit: 10).conflicts.isEmpty)
    }

    @Test("watchers see a record whose derived value changed with its children")
    func watched() async throws {
        let cache = try cache()
        _ = try await cache.pull("talks", #"[{"id":"t"}]"#)
        let position = try cache.store.position()
        _ = try await cache.pull("lines", #"[{"id":"a","talk_id":"t"}]"#)
        let events = try cache.store.changes(since: position, limit: 10).events
        #expect(events.contains { $0.document["entity"]?.string == "talks" && $0.document["id"]?.string == "t" })
    }

    @Test("a change of a child marks its parent as stale only if an aggregate reads the changed field")
    func uncounted() async throws {
        let cache = try cache()
        // It looks at what is stale instead of refreshing it.
        cache.isDamaged = true
        _ = try await cache.pull("talks", #"[{"id":"t"}]"#)
        _ = try await cache.pull("lines", #"[{"id":"a","talk_id":"t","cost":1,"at":"2026-01-01T00:00:00Z"}]"#)
        func isStale(after field: String, _ value: JSONText) async throws -> Bool {
            let store = cache.store
            let table = try store.table("lines")
            return try await store.writer.write { db in
                let context = store.context(db, at: TestCache.now)
                let record = try context.row(table).remote(of: "a") ?? .null
                try context.writer(table).assumeRemote(record.setting(field, to: value), of: "a")
                var entities: [String] = []
                while let (entity, _) = context.records.stale.take(atMost: 10) { entities.append(entity) }
                return entities.contains("talks")
            }
        }
        #expect(try await isStale(after: "colour", "red") == false)
        #expect(try await isStale(after: "cost", 2))
        #expect(try await isStale(after: "read_by", .array(["me"])))
    }

    @Test("derived fields can be filtered, sorted and searched")
    func listed() async throws {
        let cache = try cache()
        _ = try await cache.pull("talks", #"[{"id":"t"},{"id":"u"}]"#)
        _ = try await cache.pull("lines", #"[{"id":"a","talk_id":"u"}]"#)
        #expect(try cache.keys(ListQuery(entity: "talks")) == ["u", "t"])
        _ = try await cache.pull("people", #"[{"id":"p","first_name":"Ada","last_name":"Byron"}]"#)
        #expect(try cache.values("people", "p", "full_name") == [#""Ada Byron""#])
        #expect(try await cache.hits("byron", in: ["people"], limit: 10).map(\.key) == ["p"])
    }

    @Test("the server's text applies until a field that it is built from changes locally")
    func text() async throws {
        let cache = try cache()
        _ = try await cache.pull("people", #"[{"id":"p","first_name":"Ada","full_name":"Lady Ada"},{"id":"q"}]"#)
        #expect(
            try cache.values("people", "p", "full_name") + cache.values("people", "q", "full_name")
                == [#""Lady Ada""#, "null"])
        try await cache.change("people", "p", #"{"last_name":"King"}"#)
        #expect(try cache.values("people", "p", "full_name") == [#""Ada King""#])
        let change = try #require(try cache.store.readyChanges(limit: 1, at: now).first)
        let entity = try #require(cache.store.schema["people"])
        #expect(change.request(of: entity)?.body?.text == #"{"last_name":"King"}"#)
    }

    @Test("a derived field cannot be written")
    func refused() async throws {
        let cache = try cache()
        _ = try await cache.pull("talks", #"[{"id":"t"}]"#)
        await #expect(throws: CacheError.self) { try await cache.change("talks", "t", #"{"line_count":3}"#) }
        await #expect(throws: CacheError.self) { _ = try await cache.make("lines", #"{"state":"sent"}"#) }
    }

    @Test("unread counts what the account has not read, even if the account becomes known later")
    func unread() async throws {
        let cache = try cache()
        _ = try await cache.pull("talks", #"[{"id":"t"}]"#)
        _ = try await cache.pull(
            "lines", #"[{"id":"a","talk_id":"t","read_by":["me"]},{"id":"b","talk_id":"t","read_by":[]}]"#)
        #expect(try cache.values("talks", "t", "unread_count") == ["2"])
        try await cache.store.setAccount("me", at: now)
        #expect(try cache.values("talks", "t", "unread_count") == ["1"])
        try await cache.change("lines", "b", #"{"read_by":["me"]}"#)
        #expect(try cache.values("talks", "t", "unread_count") == ["0"])
    }

    @Test("a schema that derives other fields, or none, takes effect at the next start")
    func anotherSchema() async throws {
        let cache = try cache()
        _ = try await cache.pull("talks", #"[{"id":"t"}]"#)
        _ = try await cache.pull("lines", #"[{"id":"a","talk_id":"t","kind":"free"}]"#)
        let stricter = DerivedFieldSchema.yaml.replacing(
            "{ count: lines } }", with: "{ count: lines, unless: { kind: free } } }")
        let reopened = try cache.reopened(schema: stricter)
        #expect(try reopened.values("talks", "t", "line_count") == ["0"])
        let plain = try reopened.reopened(
            schema: DerivedFieldSchema.yaml.replacing(", derive: { count: lines } }", with: " }"))
        #expect(try plain.record("talks", "t")?["line_count"] == nil)
    }
}
