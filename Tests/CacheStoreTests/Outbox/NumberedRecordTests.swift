import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

/// Issues of GitLab: the address of an edit has a number that the upstream gives a new record.
@Suite("Editing a new record whose address needs a value of the upstream's")
struct NumberedRecordTests {
    private static let schema = """
        schema: issues
        upstream: { base_url: http://localhost }
        entities:
          issues:
            key: { field: id, made: server }
            fields:
              id: { type: integer }
              number: { type: integer }
              project_id: { type: integer, required: true }
              title: { type: string }
            pull: { path: /issues, record: { path: "/projects/{project_id}/issues/{number}" } }
            push:
              create: { call: "POST /projects/{project_id}/issues", fields: [title] }
              update: { call: "PUT /projects/{project_id}/issues/{number}", body: $fields, fields: [title] }
        """

    private func edit(_ key: String, _ title: String, _ cache: TestCache) async throws {
        try await cache.store.update("issues", key: key, body: .object(["title": .string(title)]), at: TestCache.now)
    }

    @Test("the edit joins the creation that waits")
    func joins() async throws {
        let cache = try TestCache(schema: Self.schema)
        let key = try await cache.store.create(
            "issues", body: JSONText(parsing: #"{"project_id":5,"title":"a"}"#), at: TestCache.now)
        try await edit(key, "b", cache)
        let changes = try cache.store.readyChanges(limit: 9, at: TestCache.now)
        #expect(changes.map(\.operation) == [.create])
        #expect(changes.first?.body["title"] == "b")
    }

    @Test("a field that no creation sends is refused with the others, without the key that the upstream makes")
    func accepted() async throws {
        let cache = try TestCache(schema: Self.schema)
        let error = await #expect(throws: CacheError.self) {
            try await cache.store.create(
                "issues", body: JSONText(parsing: #"{"project_id":5,"title":"a","number":3}"#), at: TestCache.now)
        }
        let problems = try #require(error?.problems)
        #expect(problems.map(\.field) == ["number"] && problems.first?.message.hasSuffix("title") == true)
        #expect(problems.first?.message.contains("accepts id") == false)
    }

    @Test("the edit waits for a creation that was sent, and then goes to the address with the number")
    func waits() async throws {
        let cache = try TestCache(schema: Self.schema)
        let key = try await cache.store.create(
            "issues", body: JSONText(parsing: #"{"project_id":5,"title":"a"}"#), at: TestCache.now)
        let creation = try await cache.begun()
        try await edit(key, "b", cache)
        #expect(try cache.store.readyChanges(limit: 9, at: TestCache.now).isEmpty)
        let made = try JSONText(parsing: #"{"id":9,"number":3,"project_id":5,"title":"a"}"#)
        try await cache.store.finish(creation.id, .acknowledged(record: made), at: TestCache.now)
        let edit = try #require(try cache.store.readyChanges(limit: 1, at: TestCache.now).first)
        let issues = try #require(try EntitySchema(yaml: Self.schema, file: "issues.yaml")["issues"])
        #expect(edit.request(of: issues)?.path == "/projects/5/issues/3")
    }

    @Test("a record of the upstream's without the number cannot be edited")
    func lacks() async throws {
        let cache = try TestCache(schema: Self.schema)
        _ = try await cache.pull("issues", #"[{"id":9,"project_id":5,"title":"a"}]"#)
        let error = await #expect(throws: CacheError.self) { try await edit("9", "b", cache) }
        #expect(error?.problems?.map(\.field) == ["number"])
    }
}
