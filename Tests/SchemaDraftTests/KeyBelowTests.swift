import EntitySchema
import Testing

@testable import SchemaDraft

@Suite("Drafting records whose keys repeat below others")
struct KeyBelowTests {
    private typealias Document = SmallDocument

    private static let shop = "Shop: { type: object, properties: { id: { type: integer }, title: { type: string } } }"

    /// Labels below shops, with these members and this path of one of them.
    private func draft(_ members: String, record: String = "/shops/{shop_id}/labels/{name}") throws -> SchemaDraft {
        let label = "Label: { type: object, properties: { name: { type: string }, rank: { type: integer }\(members) } }"
        let create = Document.call("post", "Label", "Label")
        let change = Document.call("put", "Label", "Label")
        return try SchemaDraft.of(
            Document(
                schemas: [Self.shop, label],
                paths: [
                    "/shops: { \(Document.list("Shop")) }",
                    "/shops/{shop_id}/labels: { \(Document.list("Label")), \(create) }",
                    "\(record): { \(Document.single("Label")), \(change), \(Document.deletion) }",
                ]
            ).text)
    }

    @Test("Names that may repeat below another record identify a record together with the key of that one")
    func together() throws {
        let draft = try draft("")
        #expect(draft.yaml.contains("key: { field: id, from: [shop_id, name] }"), "\(draft.yaml)")
        let labels = try #require(draft.schema["labels"])
        #expect(labels.push.create.first?.call == "POST /shops/{shop_id}/labels")
        #expect(labels.push.update.first?.call == "PUT /shops/{shop_id}/labels/{name}")
        #expect(labels.push.delete.first?.call == "DELETE /shops/{shop_id}/labels/{name}")
    }

    @Test("Where no path names one of the records, a person is told to check that their names differ")
    func guessed() throws {
        let label = "Label: { type: object, required: [name], properties: { name: { type: string } } }"
        let lists = ["/shops: { \(Document.list("Shop")) }", "/shops/{shop_id}/labels: { \(Document.list("Label")) }"]
        let draft = try SchemaDraft.of(Document(schemas: [Self.shop, label], paths: lists).text)
        #expect(draft.yaml.contains("name may repeat below another record; check that it differs"), "\(draft.yaml)")
        #expect(try !self.draft("").yaml.contains("check that it differs"))
    }

    @Test("Such a change sends the name that the record has below the other one")
    func sent() throws {
        let draft = try draft("")
        #expect(draft.yaml.contains("body: { <<: \"$record\", name: \"{name}\" }"), "\(draft.yaml)")
    }

    @Test("A record's own id is its key, before a name that may repeat")
    func ownID() throws {
        let labels = try #require(try draft(", id: { type: integer }").schema["labels"])
        #expect(labels.key == "id" && labels.lift == nil)
        #expect(labels.push.delete.first?.call == "DELETE /shops/{shop_id}/labels/{name}")
    }

    @Test("A name by which a record is read without the one above it is its key")
    func readAlone() throws {
        #expect(try draft("", record: "/labels/{name}").schema["labels"]?.key == "name")
    }

    @Test("A field with such a name refers to no record: it is only a part of the key")
    func references() throws {
        let label = "Label: { type: object, properties: { name: { type: string }, rank: { type: integer } } }"
        let note = "Note: { type: object, properties: { id: { type: integer }, label_name: { type: string } } }"
        let draft = try SchemaDraft.of(
            Document(
                schemas: [Self.shop, label, note],
                paths: [
                    "/shops: { \(Document.list("Shop")) }", "/notes: { \(Document.list("Note")) }",
                    "/shops/{shop_id}/labels: { \(Document.list("Label")) }",
                    "/shops/{shop_id}/labels/{name}: { \(Document.single("Label")) }",
                ]
            ).text)
        #expect(draft.schema["labels"]?.key == "id", "\(draft.yaml)")
        #expect(draft.schema["notes"]?[field: "label_name"]?.kind == .string, "\(draft.yaml)")
    }
}
