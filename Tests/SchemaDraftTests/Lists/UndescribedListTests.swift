import EntitySchema
import Testing

@testable import SchemaDraft

@Suite("Drafting lists of which the document says nothing")
struct UndescribedListTests {
    private typealias Document = SmallDocument

    private static let thing =
        "Thing: { type: object, properties: { id: { type: integer }, title: { type: string }, rank: { type: integer } } }"

    private func draft(_ schemas: [String] = [thing], _ paths: [String]) throws -> SchemaDraft {
        try SchemaDraft.of(Document(schemas: schemas, paths: paths).text)
    }

    @Test("Records of a list that says nothing of them are as the call for one says", arguments: ["", "type: object"])
    func saidByOne(_ items: String) throws {
        let list = "get: { \(Document.answers("type: array, items: { \(items) }")) }"
        let one = "/things/{id}: { \(Document.single("Thing")), \(Document.deletion) }"
        let draft = try draft([Self.thing], ["/things: { \(list) }", one])
        let things = try #require(draft.schema["things"])
        #expect(things.fields.map(\.name) == ["id", "title", "rank"])
        #expect(things.push.delete.first?.call == "DELETE /things/{id}")
    }

    @Test("The call for one may have the record under its name", arguments: ["thing", "Thing", "things"])
    func saidByOneInside(_ name: String) throws {
        let list = Document.answers("type: object, properties: { things: { type: array, items: { type: object } } }")
        let one = Document.answers(
            "type: object, properties: { \(name): { $ref: \"#/components/schemas/Thing\" }, took: { type: integer } }")
        let draft = try draft(
            [Self.thing],
            ["/things: { get: { \(list) } }", "/things/{id}: { get: { \(one) }, \(Document.deletion) }"])
        let things = try #require(draft.schema["things"], "\(draft.yaml)")
        #expect(things.fields.map(\.name) == ["id", "title", "rank"])
        #expect(things.push.delete.first?.call == "DELETE /things/{id}")
        #expect(draft.yaml.contains("at: \(name)"), "\(draft.yaml)")
    }

    @Test(
        "A list of which the document says nothing is named, and nothing else is",
        arguments: [
            ("responses: { \"200\": { description: ok } }", "the document does not say what it answers"),
            (Document.answers("type: object"), "the document does not say what it answers"),
            (
                Document.answers("type: object, additionalProperties: { type: object }"),
                "it answers an object with any names; if each has a record, write records: \"*\" and key: { field: id, from: $name }"
            ),
        ])
    func unsaid(_ answers: String, _ reason: String) throws {
        let draft = try draft(
            [Self.thing],
            [
                "/things: { \(Document.list("Thing")) }", "/state: { get: { \(answers) } }",
                "/orders: { get: { \(answers) } }", "/orders/{id}: { \(Document.deletion) }",
            ])
        #expect(draft.leftOut.map(\.path) == ["/orders"])
        #expect(draft.leftOut.first?.reason == reason)
        #expect(draft.leftOut.first?.why == .unsaid)
    }

    @Test("Elements that a page of anything calls lists are what the answer says besides")
    func anything() throws {
        let page = "Page: { type: object, properties: { data: { type: array, items: { type: array } } } }"
        let thing = "Thing: { type: object, properties: { id: { type: integer }, title: { type: string } } }"
        let data = "data: { type: array, items: { $ref: \"#/components/schemas/Thing\" } }"
        let answer = "allOf: [{ $ref: \"#/components/schemas/Page\" }, { properties: { \(data) } }]"
        let list = "/things: { get: { \(SmallDocument.answers(answer)) } }"
        let draft = try SchemaDraft.of(SmallDocument(schemas: [page, thing], paths: [list]).text)
        #expect(draft.schema["things"]?[field: "title"]?.kind == .string, "\(draft.yaml)")
        #expect(draft.yaml.contains("records: data"))
    }
}
