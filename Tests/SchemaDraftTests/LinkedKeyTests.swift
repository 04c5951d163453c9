import EntitySchema
import Testing

@testable import SchemaDraft

@Suite("Drafting records with their key at the end of a text")
struct LinkedKeyTests {
    private typealias Document = SmallDocument

    /// What Spring says of links: they may have any names.
    private static let links = "additionalProperties: { type: object, properties: { href: { type: string } } }"

    /// The draft of a list of memos with one more member.
    private func draft(_ member: String, _ calls: String = "") throws -> SchemaDraft {
        let memo = "Memo: { type: object, properties: { text: { type: string }, \(member) } }"
        let creation = Document.call("post", "Memo", "Memo")
        let single = "\(Document.single("Memo")), \(Document.call("patch", "Memo", "Memo")), \(Document.deletion)"
        return try SchemaDraft.of(
            Document(
                schemas: [memo],
                paths: [
                    "/memos: { \(Document.list("Memo")), \(creation) }",
                    "/memos/{memo}: { \(calls.isEmpty ? single : calls) }",
                ]
            ).text)
    }

    @Test(
        "A record's name or address ends with its key",
        arguments: [
            ("name: { type: string, description: \"The name. Format: memos/{memo}, made by the server\" }", "name"),
            ("url: { type: string, format: uri, readOnly: true }", "url"),
            ("href: { type: string, example: \"https://api.shop.example/memos/7\" }", "href"),
            ("url: { type: string, description: \"The hypermedia address of this resource\" }", "url"),
            ("self: { type: string }", "self"),
            ("_links: { type: object, \(links) }", "_links.self.href"),
        ])
    func linked(member: String, place: String) throws {
        let draft = try draft(member)
        let memos = try #require(draft.schema["memos"], "\(draft.yaml)")
        #expect(draft.yaml.contains("key: { field: id, from: { link: \(place) }, made: server }"), "\(draft.yaml)")
        #expect(memos.pull?.single.path.source == "/memos/{id}")
        #expect(memos.push.create.first?.call == "POST /memos")
        #expect(memos.push.create.first?.sendable == ["text"])
        #expect(memos.push.update.first?.call == "PATCH /memos/{id}")
        #expect(memos.push.delete.first?.call == "DELETE /memos/{id}")
        #expect(!draft.yaml.contains("title: \"{name}\""))
    }

    @Test(
        "An address that may lead elsewhere is no key",
        arguments: [
            "url: { type: string, description: \"Where the shop is\" }",
            "url: { type: string, example: \"https://shop.example/about\" }",
            "name: { type: string, description: \"Format: shelves/{shelf}/memos/{memo}\" }",
        ])
    func other(member: String) throws {
        #expect(throws: (any Error).self) { _ = try draft(member) }
    }

    @Test("A link to the record comes before a guess of its key by the name of a member")
    func guess() throws {
        let links = "_links: { type: object, \(Self.links) }"
        let person = "Person: { type: object, properties: { email: { type: string }, \(links) } }"
        let draft = try SchemaDraft.of(
            Document(
                schemas: [person],
                paths: ["/people: { \(Document.list("Person")) }", "/people/{id}: { \(Document.single("Person")) }"]
            ).text)
        #expect(draft.yaml.contains("key: { field: id, from: { link: _links.self.href } }"), "\(draft.yaml)")
        #expect(draft.schema["people"]?.pull?.single.path.source == "/people/{id}")
    }

    @Test("Without a call that reads a record by its key, the list is left out")
    func unread() throws {
        #expect(throws: (any Error).self) { _ = try draft("self: { type: string }", Document.deletion) }
    }
}
