import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

/// Two keys that look the same in other bytes: as texts of Swift they are equal, to SQLite and to servers they are not. So
/// nothing here compares keys as texts of Swift either.
@Suite("Keys that look the same")
struct ExactKeyTests {
    private let now = TestCache.now
    private static let composed = "caf\u{E9}"
    private static let apart = "cafe\u{301}"
    private static let both = [composed, apart]

    private static func list(_ records: [(key: String, rest: String)]) -> String {
        "[" + records.map { #"{"id":"\#($0.key)"\#($0.rest)}"# }.joined(separator: ",") + "]"
    }

    /// Two talks: the first with one line, the other with two.
    private func talks() async throws -> TestCache {
        let cache = try TestCache(schema: DerivedFieldSchema.yaml)
        _ = try await cache.pull("talks", Self.list(Self.both.map { ($0, "") }))
        let lines = [("a", Self.composed), ("b", Self.apart), ("c", Self.apart)]
        _ = try await cache.pull("lines", Self.list(lines.map { ($0, #","cost":1,"talk_id":"\#($1)""#) }))
        return cache
    }

    private func included(_ entity: String, _ relation: String, _ cache: TestCache) throws -> [JSONText?] {
        let known = try #require(cache.store.schema[entity])
        let include = try Inclusion.tree([relation], of: known, in: cache.store.schema)
        let list = try cache.store.list(ListQuery(entity: entity), include: include)
        return try JSONText(list.records).elements.map { $0["_include"]?[relation] }
    }

    private func keys(_ list: JSONText?) -> [JSONText] { list?.elements.compactMap { $0["id"] } ?? [] }

    @Test("each record has the figures of its own children, also after edits of both")
    func figures() async throws {
        let cache = try await talks()
        #expect(try cache.values("talks", Self.composed, "line_count", "cost") == ["1", "1.00"])
        #expect(try cache.values("talks", Self.apart, "line_count", "cost") == ["2", "2.00"])
        _ = try await cache.make("lines", #"{"talk_id":"\#(Self.apart)","cost":5}"#)
        try await cache.change("lines", "a", #"{"cost":3}"#)
        #expect(try cache.values("talks", Self.composed, "line_count", "cost") == ["1", "3.00"])
        #expect(try cache.values("talks", Self.apart, "line_count", "cost") == ["3", "7.00"])
    }

    @Test("each record includes the one that it refers to, and its own children")
    func included() async throws {
        let cache = try await talks()
        let referred = try included("lines", "talk", cache).map { $0?["id"] }
        #expect(referred == [.string(Self.composed), .string(Self.apart), .string(Self.apart)])
        let children = try included("talks", "lines", cache).map(keys)
        #expect(children.sorted { $0.count < $1.count } == [["a"], ["b", "c"]])
    }

    @Test("a list of both values finds the records of both")
    func filtered() async throws {
        let cache = try await talks()
        let filter = FilterCondition(field: "talk_id", comparison: .equal, values: Self.both)
        #expect(try cache.keys(ListQuery(entity: "lines", filters: [filter])) == ["a", "b", "c"])
    }

    @Test("edits of both are shown and sent, each with its own")
    func edited() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", Self.list(Self.both.map { ($0, #","notes":"old""#) }))
        try await cache.change("orders", Self.composed, #"{"notes":"one"}"#)
        try await cache.change("orders", Self.apart, #"{"notes":"two"}"#)
        _ = try await cache.pull("orders", Self.list(Self.both.map { ($0, #","notes":"old","total":5"#) }))
        #expect(try cache.values("orders", Self.composed, "notes", "total") == [#""one""#, "5"])
        #expect(try cache.values("orders", Self.apart, "notes", "total") == [#""two""#, "5"])
        let changes = try cache.store.readyChanges(limit: 9, at: now)
        #expect(changes.map(\.key.exact) == Self.both.map(\.exact))
    }

    @Test("a child that its parent's list lacks is deleted, though another one looks the same", arguments: [0, 1])
    func missing(_ gone: Int) async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"}]"#)
        _ = try await cache.pull("messages", Self.list(Self.both.map { ($0, #","order_id":"a""#) }))
        let left = Self.both[1 - gone]
        let children = PulledChildren(
            entity: "messages", by: "order_id",
            records: try JSONText(parsing: Self.list([(left, #","order_id":"a""#)])),
            parents: ["a"], complete: ["a"])
        let page = PulledPage(entity: "orders", records: "[]", children: [children])
        #expect(try await cache.store.apply(page, at: now).children["messages"]?.deleted == 1)
        #expect(try cache.keys(ListQuery(entity: "messages")).map(\.exact) == [left.exact])
    }

    @Test("missing children are named by their own parents")
    func missingOfBoth() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", Self.list(Self.both.map { ($0, "") }))
        let messages = [("m", Self.composed), ("n", Self.apart)].map { ($0, #","order_id":"\#($1)""#) }
        _ = try await cache.pull("messages", Self.list(messages))
        let children = PulledChildren(
            entity: "messages", by: "order_id", records: "[]", parents: Self.both, complete: Self.both, deletes: .none)
        let page = PulledPage(entity: "orders", records: "[]", children: [children])
        let missing = try await cache.store.apply(page, at: now).children["messages"]?.missing
        #expect(missing == [ExactText(Self.composed): ["m"], ExactText(Self.apart): ["n"]])
    }

    @Test("after a deletion, a list brings the other record, and not the deleted one")
    func deleted() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", Self.list([(Self.composed, "")]))
        try await cache.store.delete("orders", key: Self.composed, at: now)
        try await cache.send(answer: nil)
        let page = PulledPage(
            entity: "orders", records: try JSONText(parsing: Self.list(Self.both.map { ($0, "") })),
            position: try cache.store.position())
        _ = try await cache.store.apply(page, at: now + .seconds(1))
        #expect(try cache.keys(ListQuery(entity: "orders")).map(\.exact) == [Self.apart.exact])
    }

    @Test("a creation whose key the server normalizes is renamed, so that a list does not bring it twice")
    func normalized() async throws {
        let cache = try TestCache()
        _ = try await cache.make("orders", #"{"id":"\#(Self.apart)","notes":"x"}"#)
        _ = try await cache.make("messages", #"{"order_id":"\#(Self.apart)","text":"y"}"#)
        let answer = #"{"id":"\#(Self.composed)","notes":"x"}"#
        try await cache.send(answer: answer)
        _ = try await cache.pull("orders", "[\(answer)]")
        #expect(try cache.keys(ListQuery(entity: "orders")).map(\.exact) == [Self.composed.exact])
        #expect(try cache.record("orders", Self.apart)?["id"] == .string(Self.composed))
        let child = try #require(try cache.store.readyChanges(limit: 9, at: now).first)
        #expect(child.body["order_id"] == .string(Self.composed))
    }

    @Test("what is stale is noted for each")
    func stale() {
        var stale = StaleRecords()
        for key in Self.both { stale.insert(key, of: "orders", .owner) }
        #expect(stale.take(atMost: 1)?.records.keys.first == Self.apart.exact)
        #expect(stale.take(atMost: 9)?.records.keys.first == Self.composed.exact)
    }
}
