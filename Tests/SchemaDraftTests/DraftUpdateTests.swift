import EntitySchema
import Testing

@testable import SchemaDraft

@Suite("Drafting updates")
struct DraftUpdateTests {
    private typealias Document = SmallDocument

    private static let members = "id: { type: integer }, title: { type: string }, note: { type: string }"

    /// Things with these members, and a call that updates one with this body.
    private func draft(
        _ method: String, _ body: String, said: String = "", more: String = ""
    ) throws -> SchemaDraft {
        try SchemaDraft.of(
            Document(
                schemas: [
                    "Thing: { type: object, properties: { \(Self.members)\(more) } }", "Body: { type: object, \(body) }",
                ],
                paths: [
                    "/things: { \(Document.list("Thing")) }",
                    "/things/{id}: { \(Document.single("Thing")), \(Document.call(method, "Body", "Thing", said)) }",
                ]
            ).text)
    }

    // MARK: Keys of what is shown whole

    @Test("Where a record shows others whole and the body takes their ids, the ids are sent")
    func shownWhole() throws {
        let other = "type: object, properties: { id: { type: string }, name: { type: string } }"
        let draft = try draft(
            "put",
            "properties: { title: { type: string }, placeId: { type: string }, tagIds: { type: array, items: { type: string } } }",
            more: ", place: { \(other) }, tags: { type: array, items: { \(other) } }")
        let things = try #require(draft.schema["things"])
        #expect(things.push.update.first?.sendable == ["title", "place_id", "tag_ids"], "\(draft.yaml)")
        #expect(draft.yaml.contains("placeId: place_id, tagIds: tag_ids"))
        #expect(things[field: "tag_ids"]?.kind == .list)
    }

    @Test("A reference to what a record shows whole is sent under the body's name for its id")
    func shownReference() throws {
        let draft = try SchemaDraft.of(
            Document(
                schemas: [
                    "Milestone: { type: object, properties: { id: { type: integer } } }",
                    "Thing: { type: object, properties: { \(Self.members), milestone: { $ref: \"#/components/schemas/Milestone\" } } }",
                    "Body: { type: object, properties: { title: { type: string }, milestone_id: { type: integer } } }",
                ],
                paths: [
                    "/milestones: { \(Document.list("Milestone")) }",
                    "/things: { \(Document.list("Thing")), \(Document.call("post", "Body", "Thing")) }",
                ]
            ).text)
        #expect(draft.schema["things"]?.push.create.first?.sendable == ["title", "milestone_id"], "\(draft.yaml)")
        #expect(draft.schema["things"]?[field: "milestone_id"]?.kind == .reference(to: "milestones"))
    }
}
