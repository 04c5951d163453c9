import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Fields computed on reading")
struct ComputedMemberTests {
    private let now = TestCache.now

    private func cache(_ orders: String) async throws -> TestCache {
        let cache = try TestCache(schema: CreationDefaultTests.shop)
        _ = try await cache.pull("orders", orders)
        return cache
    }

    @Test("they are served with the record, once, and stored in no document")
    func served() async throws {
        let cache = try await cache(#"[{"id":"a","number":7,"status":"ready"}]"#)
        let record = try #require(try cache.record("orders", "a"))
        #expect(record.members.filter { $0.key == "ref" }.map(\.value) == ["#7"])
        #expect(record["is_active"] == true)
        var stored: [String] = []
        try cache.store.forEachStoredRecord(of: "orders") { stored.append($0) }
        #expect(stored.count == 1 && !stored[0].contains("ref") && !stored[0].contains("is_active"))
    }

    @Test("a member of that name in an inner object is another one; the record's own counts, unless it is null")
    func names() async throws {
        let cache = try await cache(
            #"[{"id":"a","number":7,"inner":{"ref":"x"}},{"id":"b","number":8,"ref":"server's"},"#
                + #"{"id":"c","number":9,"ref":null}]"#)
        #expect(try cache.values("orders", "a", "ref") == [##""#7""##])
        #expect(try cache.values("orders", "b", "ref") == [#""server's""#])
        #expect(try cache.values("orders", "c", "ref") == [##""#9""##])
        for key in ["a", "b", "c"] {
            #expect(try cache.record("orders", key)?.members.count { $0.key == "ref" } == 1)
        }
    }

    @Test("they can be chosen, filtered and sorted by")
    func queried() async throws {
        let cache = try await cache(#"[{"id":"a","number":7,"status":"done"},{"id":"b","number":8,"status":"new"}]"#)
        var query = ListQuery(entity: "orders")
        query.fields = ["ref", "is_active"]
        let shown = try JSONText(cache.store.list(query).records).elements
        #expect(Set(shown.compactMap { $0["ref"]?.string }) == ["#7", "#8"])
        #expect(shown.contains { $0["is_active"] == true })
        query.sort = [SortTerm(text: "-ref")]
        #expect(try cache.keys(query) == ["b", "a"])
        query.filters = [FilterCondition(field: "is_active", comparison: .equal, values: ["false"])]
        #expect(try cache.keys(query) == ["a"])
    }

    @Test("an edit of another field leaves them as they were, in a record of many fields too", arguments: [5, 80])
    func untouched(count: Int) async throws {
        let fields = (0..<count).map { "      f\($0): { type: string, index: true }" }.joined(separator: "\n")
        let cache = try TestCache(
            schema: """
                schema: wide
                upstream: { base_url: http://localhost }
                entities:
                  things:
                    fields:
                      id: { type: string }
                \(fields)
                      label: { type: string, derive: { text: "#{f0}" } }
                    pull: { path: /things }
                    push: { update: { call: "PATCH /things/{id}" } }
                """)
        _ = try await cache.pull("things", #"[{"id":"a","f0":"1","f\#(count - 1)":"x"}]"#)
        try await cache.change("things", "a", #"{"f\#(count - 1)":"y"}"#)
        var query = ListQuery(entity: "things")
        query.filters = [FilterCondition(field: "label", comparison: .equal, values: ["#1"])]
        #expect(try cache.keys(query) == ["a"])
        try await cache.change("things", "a", #"{"f0":"2"}"#)
        #expect(try cache.keys(query) == [])
    }

    @Test(
        "a text is served as it is, whatever its length and the characters in it",
        arguments: ["Müller & Söhne", "a \"b\" \\ c\n\u{1}", String(repeating: "\u{1}", count: 1000)],
        ["", #","label":null"#])
    func texts(text: String, sent: String) async throws {
        let cache = try TestCache(
            schema: """
                schema: shop
                upstream: { base_url: http://localhost }
                entities:
                  orders:
                    fields:
                      id: { type: string }
                      name: { type: string }
                      label: { type: string, derive: { text: "{name}" } }
                      is_named: { type: boolean, derive: { is: { name.ne: null } } }
                    pull: { path: /orders }
                """)
        _ = try await cache.pull("orders", #"[{"id":"a","name":\#(JSONText.string(text).text)\#(sent)}]"#)
        let record = try #require(try cache.record("orders", "a"))
        #expect(record["label"]?.string == text)
        #expect(record["is_named"] == true)
        #expect(record.members.count { $0.key == "label" } == 1)
    }

    @Test("a local edit of what they are made of changes them at once, and discarding it changes them back")
    func edited() async throws {
        let cache = try await cache(#"[{"id":"a","number":7,"status":"done"},{"id":"b","number":8,"ref":"B-8"}]"#)
        try await cache.change("orders", "a", #"{"status":"ready","number":9}"#)
        #expect(try cache.values("orders", "a", "ref", "is_active") == [##""#9""##, "true"])
        try await cache.change("orders", "b", #"{"number":10}"#)
        #expect(try cache.values("orders", "b", "ref") == [##""#10""##])
        for change in [1, 2] as [Int64] { try await cache.store.discard(change, cascade: false, at: now) }
        #expect(try cache.values("orders", "a", "ref", "is_active") == [##""#7""##, "false"])
        #expect(try cache.values("orders", "b", "ref") == [#""B-8""#])
    }

    @Test("a local edit of the object that has a field they are made of changes one that the server sends as well")
    func editedSource() async throws {
        let cache = try TestCache(
            schema: """
                schema: shop
                upstream: { base_url: http://localhost }
                entities:
                  orders:
                    fields:
                      id: { type: string }
                      address: { type: object }
                      city: { type: string, from: address.city }
                      notes: { type: string }
                      label: { type: string, derive: { text: "in {city}" } }
                    pull: { path: /orders }
                    push: { update: { call: "PATCH /orders/{id}" } }
                """)
        _ = try await cache.pull("orders", #"[{"id":"a","address":{"city":"York"},"label":"York shop"}]"#)
        try await cache.change("orders", "a", #"{"notes":"x"}"#)
        #expect(try cache.values("orders", "a", "label") == [#""York shop""#])
        try await cache.change("orders", "a", #"{"address":{"city":"Bath"}}"#)
        #expect(try cache.values("orders", "a", "label") == [#""in Bath""#])
    }

    @Test("a version that was read with them is accepted for a conditional write, and an older one is not")
    func versions() async throws {
        let cache = try await cache(#"[{"id":"a","number":7}]"#)
        let read = try #require(try cache.store.shown("orders", key: "a"))
        let expected = ExpectedVersion.oneOf([read.version.record])
        try await cache.store.update("orders", key: "a", body: .object(["notes": "x"]), expecting: expected, at: now)
        await #expect(throws: CacheError.self) {
            try await cache.store.update(
                "orders", key: "a", body: .object(["notes": "y"]), expecting: expected, at: now)
        }
    }

    @Test("another definition is computed for every record when the schema changes")
    func redefined() async throws {
        let cache = try await cache(#"[{"id":"a","number":7,"status":"ready"}]"#)
        let reopened = try cache.reopened(
            schema: CreationDefaultTests.shop.replacing("\"#{number}\"", with: "\"No. {number}\"")
                .replacing("is: { status: [new, ready] }", with: "is: { status: new }"))
        #expect(try reopened.values("orders", "a", "ref", "is_active") == [#""No. 7""#, "false"])
    }

    @Test("they follow into included records")
    func included() async throws {
        let cache = try await cache(#"[{"id":"a","number":7,"client_id":"c"}]"#)
        _ = try await cache.pull("clients", #"[{"id":"c","first":"Ada","last":"Byron"}]"#)
        let entity = try #require(cache.store.schema["orders"])
        let include = try Inclusion.tree(["client"], of: entity, in: cache.store.schema)
        let list = try cache.store.list(ListQuery(entity: "orders"), include: include)
        #expect(try JSONText(list.records).elements.first?["_include"]?["client"]?["initials"] == "AB")
    }
}
