import Testing

@testable import EntitySchema

@Suite("Several lists below a record, and lists without single records")
struct DetailListTests {
    private func schema(detail: String, record: String = "") throws -> EntitySchema {
        try EntitySchema(
            yaml: """
                schema: own
                upstream: { base_url: "https://own.example" }
                entities:
                  projects:
                    fields: { id: { type: string } }
                    pull: { path: /projects\(record), detail: \(detail) }
                  members:
                    fields: { id: { type: string }, project_id: { type: reference, to: projects } }
                  labels:
                    fields: { id: { type: string }, project_id: { type: reference, to: projects } }
                """, file: "own.yaml")
    }

    private let members = "{ path: '/projects/{id}/members', into: members, when_changed: any }"
    private let labels = "{ path: '/projects/{id}/labels', into: labels, when_changed: any }"

    @Test("A record may have several lists below it")
    func several() throws {
        let pull = try #require(schema(detail: "[\(members), \(labels)]")["projects"]?.pull)
        #expect(pull.details.map(\.entity) == ["members", "labels"])
        #expect(pull.details.map(\.by) == ["project_id", "project_id"])
        #expect(pull.fetch?.trigger == .any)
    }

    @Test("All lists below a record are requested by the same change")
    func otherTrigger() {
        let other = "{ path: '/projects/{id}/labels', into: labels, when_changed: id }"
        #expect(throws: SchemaError.self) { try schema(detail: "[\(members), \(other)]") }
    }

    @Test("Two details of one entity, an empty list and a detail without a path are refused")
    func refused() {
        #expect(throws: SchemaError.self) { try schema(detail: "[\(members), \(members)]") }
        #expect(throws: SchemaError.self) { try schema(detail: "[]") }
        #expect(throws: SchemaError.self) { try schema(detail: "[\(members), { embedded: labels, into: labels }]") }
    }

    @Test("record: none says that there are no single records, and any other word is refused")
    func noRecord() throws {
        let all = "[\(members), \(labels)]"
        #expect(try schema(detail: all, record: ", record: none")["projects"]?.pull?.single.isServed == false)
        #expect(throws: SchemaError.self) { try schema(detail: all, record: ", record: never") }
    }
}
