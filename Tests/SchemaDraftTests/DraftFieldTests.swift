import EntitySchema
import Testing

@testable import SchemaDraft

@Suite("Drafting fields")
struct DraftFieldTests {
    private typealias Document = SmallDocument

    private func things(_ members: String, _ paths: [String] = []) throws -> Entity? {
        let thing = "Thing: { type: object, properties: { id: { type: integer }, title: { type: string }, \(members) } }"
        let list = "/things: { \(Document.list("Thing")), \(Document.call("post", "Thing", "Thing")) }"
        return try SchemaDraft.of(Document(schemas: [thing], paths: [list] + paths).text).schema["things"]
    }

    @Test(
        "What signs someone in is secret",
        arguments: ["plexToken", "plaintext_token", "hosted_login_token", "token", "secretKey", "account_key", "passphrase"])
    func secrets(_ name: String) throws {
        #expect(try things("\(name): { type: string }")?[field: name]?.secret == true)
    }

    @Test(
        "A name that only contains such a word is not secret",
        arguments: ["token_type", "max_tokens", "next_page_token", "version_token", "tokenized", "secretary"])
    func noSecrets(_ name: String) throws {
        #expect(try things("\(name): { type: string }")?[field: name]?.secret == false)
    }

    @Test("Tokens that identify records are not secret")
    func tokenKeys() throws {
        let single = "/things/{id}/files/{file_token}: { \(Document.single("Thing")) }"
        #expect(try things("file_token: { type: string }", [single])?[field: "file_token"]?.secret == false)
        let card = "Card: { type: object, properties: { token: { type: string }, account_token: { type: string } } }"
        let cards = try SchemaDraft.of(
            Document(
                schemas: [card],
                paths: ["/cards: { \(Document.list("Card")) }", "/cards/{card_token}: { \(Document.single("Card")) }"]
            ).text
        ).schema["cards"]
        #expect(cards?.key == "token")
        #expect(cards?[field: "account_token"]?.secret == false)
    }
}
