import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Records keyed by a reference")
struct ReferenceKeyTests {
    private static let schema = """
        schema: planner
        upstream: { base_url: http://localhost }
        entities:
          courses:
            fields: { id: { type: string }, name: { type: string }, task_ids: { type: list } }
            pull: { path: /courses, deleted: deleted_at }
            push:
              create: { call: POST /courses }
              delete: { call: "DELETE /courses/{id}" }
            many: { grade: { of: grades, by: course_id, on_delete: cascade } }
          grades:
            key: course_id
            fields:
              course_id: { type: reference, to: courses }
              percent: { type: number, index: true }
              letter: { type: string }
              detail: { type: object }
            pull: { path: /grades }
            push:
              create: { call: POST /grades }
              update: { call: "PATCH /grades/{course_id}" }
        """

    private let now = TestCache.now

    @Test("a record keyed by a reference needs its key, is found by it, and is renamed with the record it refers to")
    func renamed() async throws {
        let cache = try TestCache(schema: Self.schema)
        await #expect(throws: CacheError.self) { _ = try await cache.make("grades", #"{"percent":1}"#) }
        let course = try await cache.make("courses", #"{"name":"Algebra"}"#)
        #expect(try await cache.make("grades", #"{"course_id":"\#(course)","percent":0}"#) == course)
        try await cache.send(.acknowledged(record: JSONText(parsing: #"{"id":"C-1"}"#)))
        #expect(try cache.values("grades", "C-1", "course_id", "percent") == [#""C-1""#, "0"])
        #expect(try cache.record("grades", course)?["course_id"]?.string == "C-1")
        let change = try #require(try cache.store.readyChanges(limit: 1, at: now).first)
        #expect(change.key == "C-1" && change.body["course_id"]?.string == "C-1")
        try await cache.send(.acknowledged(record: JSONText(parsing: #"{"course_id":"C-1","percent":0}"#)))
        try await cache.store.delete("courses", key: "C-1", at: now)
        #expect(try cache.record("grades", "C-1") == nil)
    }

    @Test("a watcher learns that a record keyed by a reference was renamed too")
    func watched() async throws {
        let cache = try TestCache(schema: Self.schema)
        let course = try await cache.make("courses", #"{"name":"Algebra"}"#)
        _ = try await cache.make("grades", #"{"course_id":"\#(course)","percent":0}"#)
        try await cache.send(.acknowledged(record: JSONText(parsing: #"{"id":"C-1"}"#)))
        let renamed = try cache.store.changes(since: 0, limit: 100).events.map(\.document).filter {
            $0["kind"] == "renamed"
        }
        #expect(renamed.map { $0["entity"]?.string } == ["courses", "grades"])
        #expect(renamed.allSatisfy { $0["id"] == "C-1" && $0["old_id"]?.string == course })
    }

    @Test("null and zero are different values, and keys are case-sensitive")
    func spelling() async throws {
        let cache = try TestCache(schema: Self.schema)
        let (upper, lower) = ("3F2504E0-4F89-41D3-9A0C-0305E82C3301", "3f2504e0-4f89-41d3-9a0c-0305e82c3301")
        _ = try await cache.pull(
            "grades", #"[{"course_id":"\#(upper)","percent":null},{"course_id":"\#(lower)","percent":0}]"#)
        #expect(try cache.values("grades", upper, "course_id", "percent") == [#""\#(upper)""#, "null"])
        #expect(try cache.values("grades", lower, "course_id", "percent") == [#""\#(lower)""#, "0"])
        try await cache.change("grades", upper, #"{"percent":0,"detail":{"parts":[1,{"a":null}]}}"#)
        #expect(
            try cache.store.readyChanges(limit: 1, at: now).first?.body.text
                == #"{"percent":0,"detail":{"parts":[1,{"a":null}]}}"#)
        #expect(try cache.values("grades", upper, "percent") == ["0"])
    }
}
