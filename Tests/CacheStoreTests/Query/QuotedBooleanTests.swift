import EntitySchema
import JSONText
import SQLiteStore
import SchemaDrift
import TestSupport
import Testing

@testable import CacheStore

@Suite("Booleans in quotes")
struct QuotedBooleanTests {
    private static func schema(_ index: String) -> String {
        """
        schema: desk
        upstream: { base_url: http://localhost }
        entities:
          incidents:
            fields: { id: { type: string }, active: { type: boolean, wire: string\(index) } }
            pull: { path: /incidents, where: { active: true } }
            push: { update: { call: "PATCH /incidents/{id}" } }
        """
    }

    @Test("are filtered as booleans, also after a local edit", arguments: ["", ", index: true"])
    func filters(_ index: String) async throws {
        let yaml = Self.schema(index).replacing(", where: { active: true }", with: "")
        let cache = try TestCache(schema: yaml)
        _ = try await cache.pull(
            "incidents", #"[{"id":"a","active":"true"},{"id":"b","active":"false"},{"id":"c","active":true}]"#)
        func keys(_ value: String) throws -> Set<String> {
            let filter = FilterCondition(field: "active", comparison: .equal, values: [value])
            return Set(try cache.keys(ListQuery(entity: "incidents", filters: [filter])))
        }
        #expect(try keys("true") == ["a", "c"])
        #expect(try keys("false") == ["b"])
        try await cache.store.update(
            "incidents", key: "b", body: .object(["active": true]), at: TestCache.now)
        #expect(try keys("true") == ["a", "b", "c"])
        #expect(try cache.store.drift().filter { $0.field == "active" && $0.kind == .type }.count == 1)
    }

    @Test("a window compares them")
    func window() throws {
        let entity = try #require(try EntitySchema(yaml: Self.schema(""), file: "desk.yaml")["incidents"])
        let test = try #require(entity.pull?.window?.test)
        #expect(test.holds { _ in "true" })
        #expect(test.holds { _ in true })
        #expect(!test.holds { _ in "false" })
    }
}
