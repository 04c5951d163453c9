import EntitySchema
import Testing

@testable import SchemaDraft

@Suite("Drafting from documents of OData")
struct DraftODataTests {
    private typealias Document = SmallDocument

    private static let thing =
        "Thing: { type: object, properties: { ID: { type: string }, Label: { type: string } } }"

    private func draft(_ schemas: [String], _ paths: [String]) throws -> SchemaDraft {
        let things = "/Things: { \(Document.list("Thing")) }"
        return try SchemaDraft.of(Document(schemas: [Self.thing] + schemas, paths: [things] + paths).text)
    }

    @Test("A record's path may have its key in parentheses, as it is or in quotes", arguments: ["({ID})", "('{ID}')"])
    func parentheses(_ key: String) throws {
        let calls = "\(Document.single("Thing")), \(Document.call("patch", "Thing", "Thing")), \(Document.deletion)"
        let draft = try draft([], ["/Things\(key): { \(calls) }"])
        let things = try #require(draft.schema["things"])
        #expect(things.pull?.single.path.source == "/Things\(key)", "\(draft.yaml)")
        #expect(things.push.update.first?.call == "PATCH /Things\(key)")
        #expect(things.push.delete.first?.call == "DELETE /Things\(key)")
    }

    @Test("A record that several members identify together is left out, also below another one")
    func together() throws {
        let line =
            "Line: { type: object, properties: { ThingID: { type: string }, LineID: { type: string }, Rank: { type: integer } } }"
        let single = "/Lines(ThingID='{ThingID}',LineID='{LineID}'): { \(Document.single("Line")) }"
        let below = "/Things('{ID}')/Lines: { \(Document.list("Line")) }"
        let draft = try draft([line], ["/Lines: { \(Document.list("Line")) }", below, single])
        #expect(draft.schema.entities.map(\.name) == ["things"], "\(draft.yaml)")
        #expect(draft.leftOut.count { $0.why == .noKey && $0.reason.contains("from: [ThingID, LineID]") } == 2)
    }

    @Test("A record that has a list beside the list's count is none")
    func counted() throws {
        let shelf =
            "Shelf: { type: object, properties: { Things: { type: array, items: { $ref: \"#/components/schemas/Thing\" } }, \"Things@odata.count\": { type: integer } } }"
        let draft = try draft([shelf], ["/Shelf: { \(Document.single("Shelf")) }"])
        #expect(draft.paths.map(\.path) == ["/Things"], "\(draft.yaml)")
        #expect(draft.leftOut.first?.reason == "it answers one record, which contains Things")
    }
}
