import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore

@Suite("Views that show a part of a nested object")
struct NestedViewTests {
    private static let schema = """
        schema: crm
        upstream: { base_url: http://localhost }
        entities:
          contacts:
            conflict: manual
            fields:
              id: { type: string }
              email: { type: string, from: properties.email }
              city: { type: string, from: properties.address.city }
              zip: { type: string, from: properties.address.zip }
            pull: { path: /contacts }
            push: { update: { call: "PATCH /contacts/{id}", body: { properties: $fields } } }
        """

    private static let whole = #"{"id":"a","properties":{"email":"e","address":{"city":"c","zip":"z"},"other":1}}"#

    private let now = TestCache.now

    private func show(_ cache: TestCache, _ record: String, _ view: RecordView = .list) async throws {
        let page = PulledPage(entity: "contacts", records: "[\(record)]", view: view)
        _ = try await cache.store.apply(page, at: now + .seconds(600))
    }

    private func remote(_ cache: TestCache) throws -> String? {
        try cache.store.remote(of: "contacts", key: "a")?.text
    }

    /// What is known after an edit that was answered with this.
    private func answered(_ edit: String, _ answer: String) async throws -> TestCache {
        let cache = try TestCache(schema: Self.schema)
        try await show(cache, Self.whole)
        try await cache.store.update("contacts", key: "a", body: JSONText(parsing: edit), at: now)
        let change = try await cache.begun()
        let record = try JSONText(parsing: answer)
        try await cache.store.finish(change.id, .acknowledged(record: record), at: now)
        return cache
    }

    private func value(_ field: String, _ cache: TestCache) throws -> String? {
        let entity = try #require(cache.store.schema["contacts"])
        return try cache.record("contacts", "a").flatMap { entity.value(of: field, in: $0)?.plain }
    }

    @Test(
        "an answer with the changed members of an object leaves its others",
        arguments: [
            #"{"id":"a","properties":{"email":"m"}}"#, #"{"id":"a","properties":{"email":"m","address":{}}}"#,
            #"{"id":"a","properties":{}}"#, #"{"id":"a","properties":{"email":"m","other":1}}"#, #"{"id":"a"}"#,
        ])
    func answers(_ answer: String) async throws {
        let cache = try await answered(#"{"email":"m"}"#, answer)
        let values = try ["email", "city", "zip"].map { try value($0, cache) }
        #expect(values == ["m", "c", "z"])
        #expect(try cache.record("contacts", "a")?.at(path: "properties.other") == 1)
        #expect(try cache.store.pendingCount().pending == 0)
        // The list shows what has become of it.
        let list = Self.whole.replacing(#""e""#, with: #""m""#)
        try await show(cache, list)
        #expect(try remote(cache) == list)
    }

    @Test("an edit after a partial answer is based on what is still known, and meets no conflict")
    func editAfterwards() async throws {
        let cache = try await answered(#"{"email":"m"}"#, #"{"id":"a","properties":{"email":"m"}}"#)
        try await cache.store.update("contacts", key: "a", body: .object(["city": "mine"]), at: now)
        try await show(cache, Self.whole.replacing(#""e""#, with: #""m""#))
        #expect(try cache.store.conflicts(before: nil, open: false, limit: 9).conflicts.isEmpty)
        #expect(try value("city", cache) == "mine")
    }

    @Test(
        "a new record keeps what a pull has shown of an object before the answer to its creation, which has less of it")
    func pulledBeforeAnswer() async throws {
        let create = "push: { create: { call: POST /contacts, body: { properties: $fields } }, "
        let cache = try TestCache(schema: Self.schema.replacing("push: { ", with: create))
        let key = try await cache.make("contacts", #"{"email":"e"}"#)
        let creation = try await cache.begun()
        try await show(cache, Self.whole)
        let answer = try JSONText(parsing: #"{"id":"a","properties":{"email":"e"}}"#)
        try await cache.store.finish(creation.id, .acknowledged(record: answer), at: now)
        #expect(try cache.record("contacts", key)?["id"] == "a")
        #expect(try remote(cache) == Self.whole)
    }

    @Test("a list with a part of an object erases nothing that only the single record shows, and takes back its own")
    func lists() async throws {
        let cache = try TestCache(schema: Self.schema)
        try await show(cache, #"{"id":"a","properties":{"email":"e"}}"#)
        try await show(cache, Self.whole, .single)
        try await show(cache, #"{"id":"a","properties":{"email":"f"}}"#)
        #expect(try remote(cache) == Self.whole.replacing(#""e""#, with: #""f""#))
        try await show(cache, #"{"id":"a","properties":{"email":"f","address":{"zip":"z"}}}"#, .single)
        #expect(try remote(cache) == #"{"id":"a","properties":{"email":"f","address":{"zip":"z"}}}"#)
    }

    @Test("what an answer alone has shown of an object goes when the list shows another one", arguments: [true, false])
    func replaced(isAnswered: Bool) async throws {
        let id = "id: { type: string }"
        let cache = try TestCache(schema: Self.schema.replacing(id, with: "\(id)\n      properties: { type: object }"))
        try await show(cache, #"{"id":"a","properties":{"email":"e"}}"#)
        let edit = try JSONText(parsing: #"{"properties":{"email":"e","mine":1}}"#)
        try await cache.store.update("contacts", key: "a", body: edit, at: now)
        try await cache.send(answer: isAnswered ? #"{"id":"a","properties":{"email":"e","mine":1}}"# : nil)
        let theirs = #"{"id":"a","properties":{"email":"e","theirs":2}}"#
        try await show(cache, theirs)
        #expect(try remote(cache) == theirs)
    }

    @Test("an object that is null, or no longer one, has no members", arguments: ["null", #""none""#, "[]"])
    func noObject(_ value: String) async throws {
        let cache = try TestCache(schema: Self.schema)
        try await show(cache, #"{"id":"a"}"#)
        try await show(cache, Self.whole, .single)
        try await show(cache, #"{"id":"a","properties":\#(value)}"#)
        #expect(try remote(cache) == #"{"id":"a","properties":\#(value)}"#)
        try await show(cache, Self.whole, .single)
        #expect(try remote(cache) == Self.whole)
    }

    @Test("the flat form of a record leads back to it", arguments: [whole, #"{"id":"a","properties":{},"b":{"c":1}}"#])
    func flat(_ record: String) throws {
        let nested = NestedMembers(nests: [["properties"], ["properties", "address"]])
        #expect(try nested.nested(nested.flat(JSONText(parsing: record))).text == record)
    }
}
