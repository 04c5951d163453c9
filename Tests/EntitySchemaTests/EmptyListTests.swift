import EntitySchema
import JSONText
import Testing

@Suite("What a schema calls an empty list")
struct EmptyListTests {
    private static func schema(_ upstream: String = "", _ pull: String = "", push: String = "") throws -> EntitySchema {
        let yaml = """
            schema: small
            upstream: { base_url: http://localhost\(upstream) }
            entities:
              notes: { fields: { id: { type: string }, text: { type: string }, changed: { type: time } }, pull: { path: /notes\(pull) }\(push) }
            """
        return try EntitySchema(yaml: yaml, file: "small.yaml")
    }

    @Test("an entity says it for its list, or the upstream for all")
    func lists() throws {
        #expect(try Self.schema()["notes"]?.pull?.list.empty == nil)
        #expect(try Self.schema(", empty: data")["notes"]?.pull?.list.empty == Place(paths: ["data"]))
        let own = try Self.schema(", empty: data", ", empty: [answer, other]")
        #expect(own["notes"]?.pull?.list.empty == Place(paths: ["answer", "other"]))
    }

    @Test("a list of deletions, and a list that a lost creation is looked up in, have their own")
    func others() throws {
        let deletions = ", changed_at: changed, deleted: { path: /gone, at: at, empty: gone }"
        #expect(try Self.schema("", deletions)["notes"]?.tombstones?.plan.list.empty == Place(paths: ["gone"]))
        let lookUp = "look_up: { match: [text], path: /find, records: found.notes, empty: found }"
        let schema = try Self.schema("", "", push: ", push: { create: { call: POST /notes, \(lookUp) } }")
        guard case .match(_, _, let list) = schema["notes"]?.push.create.first?.lookUp else {
            Issue.record("no look-up")
            return
        }
        #expect(list.empty == Place(paths: ["found"]))
    }

    @Test("the innermost object around a place is the one that an answer has")
    func outer() throws {
        let place = Place(paths: ["data.list.notes", "notes"])
        #expect(place.outer(in: try JSONText(parsing: #"{"data":{"list":{}}}"#)) == "data.list")
        #expect(place.outer(in: try JSONText(parsing: #"{"data":{"list":null}}"#)) == "data")
        #expect(place.outer(in: try JSONText(parsing: #"{"data":[]}"#)) == nil)
        #expect(Place.itself.outer(in: try JSONText(parsing: "{}")) == nil)
    }
}
