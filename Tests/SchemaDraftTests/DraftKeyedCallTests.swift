import EntitySchema
import JSONText
import Testing

@testable import SchemaDraft

@Suite("Drafting calls that name the record in their body or query")
struct DraftKeyedCallTests {
    private typealias Document = SmallDocument

    private static let schemas = [
        "Loan: { type: object, properties: { id: { type: integer }, title: { type: string }, note: { type: string } } }",
        "New: { type: object, properties: { title: { type: string }, note: { type: string } } }",
        "Key: { type: object, required: [id], properties: { id: { type: integer } } }",
        "Keys: { type: object, required: [ids], properties: { ids: { type: array, items: { type: integer } } } }",
    ]

    /// Loans with a list and a creation, and these paths or calls at the path of the list.
    private func draft(_ calls: String, _ paths: [String] = []) throws -> SchemaDraft {
        let own = [Document.list("Loan"), Document.call("post", "New", "Loan"), calls].filter { !$0.isEmpty }
        return try SchemaDraft.of(
            Document(schemas: Self.schemas, paths: ["/loans: { \(own.joined(separator: ", ")) }"] + paths).text)
    }

    private static func deletion(_ parameter: String, _ said: String = "") -> String {
        let given = "parameters: [{ name: \(parameter), in: query, required: true, schema: { type: integer } }]"
        return "delete: { \(said) \(given), responses: { \"204\": { description: gone } } }"
    }

    // MARK: Updates

    @Test("A PUT to the list whose body is the record with its key sends the whole record")
    func whole() throws {
        let draft = try draft(Document.call("put", "Loan", "Loan"))
        let update = try #require(draft.schema["loans"]?.push.update.first, "\(draft.yaml)")
        #expect(update.call == "PUT /loans" && update.sendable == ["title", "note"] && update.sendsRecord)
        #expect(update.envelope?.enclosing(.object(["title": .string("new")]))["id"] != nil)
    }

    @Test("A PUT to the list that is only answered with 201 creates a record, unless it says that it changes one")
    func createdByPut() throws {
        func draft(_ said: String) throws -> Entity? {
            let put = Document.call("put", "Loan", "Loan", said).replacing("\"200\"", with: "\"201\"")
            let paths = [
                "/loans: { \(Document.list("Loan")), \(put) }",
                "/loans/{id}: { \(Document.single("Loan")), \(Document.deletion) }",
            ]
            return try SchemaDraft.of(Document(schemas: Self.schemas, paths: paths).text).schema["loans"]
        }
        let created = try draft("summary: Share a loan,")
        #expect(created?.push.create.map(\.call) == ["PUT /loans"] && created?.push.update.isEmpty == true)
        for verb in ["Update", "Replaces", "Set"] {
            let changed = try draft("summary: \(verb) a loan,")
            #expect(changed?.push.update.map(\.call) == ["PUT /loans"], "\(verb)")
            #expect(changed?.push.create.isEmpty == true, "\(verb)")
        }
    }

    @Test("So does a call that says that it updates", arguments: ["put", "post"])
    func action(_ method: String) throws {
        let draft = try draft("", ["/loans/update: { \(Document.call(method, "Loan", "Loan")) }"])
        let update = try #require(draft.schema["loans"]?.push.update.first, "\(draft.yaml)")
        #expect(update.call == "\(method.uppercased()) /loans/update" && update.sendsRecord)
        #expect(update.envelope?.enclosing(.object([:]))["id"] != nil)
    }

    @Test("A call at the path of a record comes first")
    func ownPath() throws {
        let record = "/loans/{id}: { \(Document.single("Loan")), \(Document.call("put", "New", "Loan")) }"
        let draft = try draft(Document.call("put", "Loan", "Loan"), [record])
        #expect(draft.schema["loans"]?.push.update.map(\.call) == ["PUT /loans/{id}"], "\(draft.yaml)")
    }

    @Test("A PUT to the list without the key, or of several records, changes nothing")
    func unnamed() throws {
        let list = "type: array, items: { $ref: \"#/components/schemas/Loan\" }"
        let all =
            "put: { requestBody: { content: { application/json: { schema: { \(list) } } } }, \(Document.answers(list)) }"
        let missing = "no call that changes or deletes a record"
        let written = "write body: [{ <<: $fields, id: \"{id}\" }]"
        for (call, hint) in [(Document.call("put", "New", "Loan"), missing), (all, written)] {
            let draft = try draft(call)
            #expect(draft.schema["loans"]?.push.update.isEmpty == true, "\(draft.yaml)")
            #expect(draft.todos.contains { $0.contains(hint) }, "\(draft.todos)")
        }
    }

    @Test(
        "A change of all records that its parameters choose is not one of the record in its body",
        arguments: ["parameters: [{ name: title, in: query, schema: { type: string } }],", "operationId: updateAll,"])
    func chosen(_ said: String) throws {
        let draft = try draft(Document.call("patch", "Loan", "Loan", said))
        #expect(draft.schema["loans"]?.push.update.isEmpty == true, "\(draft.yaml)")
        #expect(draft.todos.contains { $0.contains("push.update") && $0.contains("it changes all records") })
    }

    @Test("A change that is described as one of several is no update", arguments: ["several", "multiple", "many"])
    func severalAtOnce(_ word: String) throws {
        let draft = try draft(Document.call("patch", "Loan", "Loan", "summary: Update \(word) loans,"))
        #expect(draft.schema["loans"]?.push.update.isEmpty == true, "\(draft.yaml)")
        #expect(draft.todos.contains { $0.contains("push.update") && $0.contains("PATCH /loans") })
    }

    @Test("An example that may not show the whole body changes nothing, and a person is told why")
    func shown() throws {
        let content = "content: { application/json: { example: { id: 7, title: Dune } } }"
        let draft = try draft("put: { requestBody: { \(content) }, responses: { \"200\": { description: ok } } }")
        #expect(draft.schema["loans"]?.push.update.isEmpty == true, "\(draft.yaml)")
        #expect(draft.todos.contains { $0.contains("push.update") && $0.contains("which fields it takes") })
    }

    @Test("A POST that is described as partial sends the key and what was edited")
    func partial() throws {
        let said = "description: \"Any unspecified fields will remain unchanged.\","
        let draft = try draft("", ["/loans/update: { \(Document.call("post", "Loan", "Loan", said)) }"])
        let update = try #require(draft.schema["loans"]?.push.update.first, "\(draft.yaml)")
        #expect(update.call == "POST /loans/update" && !update.sendsRecord)
        #expect(update.envelope?.enclosing(.object([:]))["id"] != nil)
    }

    @Test("A path of one record whose name is unclear is not said to be missing")
    func unclearPath() throws {
        let draft = try draft("", ["/loans/{code}: { \(Document.single("Loan")), \(Document.deletion) }"])
        #expect(draft.schema["loans"]?.push.delete.isEmpty == true, "\(draft.yaml)")
        #expect(draft.todos.contains { $0.contains("pull.record and push") })
        #expect(!draft.todos.contains { $0.contains("no call that changes or deletes") })
    }

    // MARK: Deletions

    @Test("A deletion has the key in its query", arguments: ["id", "loanId", "loan_id"])
    func query(_ name: String) throws {
        let own = try draft(Self.deletion(name))
        #expect(own.schema["loans"]?.push.delete.first?.call == "DELETE /loans?\(name)={id}", "\(own.yaml)")
        let below = try draft("", ["/loans/delete: { \(Self.deletion(name)) }"])
        #expect(below.schema["loans"]?.push.delete.first?.call == "DELETE /loans/delete?\(name)={id}", "\(below.yaml)")
    }

    @Test("A deletion has the key in its body, or in a list there", arguments: [("Key", "id"), ("Keys", "ids")])
    func body(_ sent: String, _ member: String) throws {
        for method in ["delete", "post"] {
            let draft = try draft("", ["/loans/delete: { \(Document.call(method, sent, "Loan")) }"])
            let delete = try #require(draft.schema["loans"]?.push.delete.first, "\(draft.yaml)")
            #expect(delete.call == "\(method.uppercased()) /loans/delete")
            #expect(delete.envelope?.enclosing(.object([:]))[member] != nil)
        }
    }

    @Test("The key that a deletion sends is that of the record, not of one above it")
    func above() throws {
        func deletion(_ member: String) throws -> SchemaDraft {
            let key = "Sent: { type: object, required: [\(member)], properties: { \(member): { type: integer } } }"
            let paths = [
                "/shelf/{shelf_id}/loans: { \(Document.list("Loan")), \(Document.call("post", "New", "Loan")) }",
                "/shelf/{shelf_id}/loans/{id}: { \(Document.single("Loan")) }",
                "/shelf/{shelf_id}/loans/delete: { \(Document.call("post", "Sent", "Loan")) }",
            ]
            return try SchemaDraft.of(Document(schemas: Self.schemas + [key], paths: paths).text)
        }
        for member in ["id", "loan_id"] {
            let own = try deletion(member)
            let delete = try #require(own.schema["loans"]?.push.delete.first, "\(own.yaml)")
            #expect(delete.envelope?.enclosing(.object([:]))[member] != nil)
        }
        let other = try deletion("shelf_id")
        #expect(other.schema["loans"]?.push.delete.isEmpty == true, "\(other.yaml)")
        let shop = Document.list("Loan") + ", " + Self.deletion("shop_id")
        let below = try SchemaDraft.of(Document(schemas: Self.schemas, paths: ["/shop/loans: { \(shop) }"]).text)
        #expect(below.schema["loans"]?.push.delete.isEmpty == true, "\(below.yaml)")
    }

    @Test("What may delete all records, or does not say which, is left to a person")
    func unclear() throws {
        let all = try draft(Self.deletion("id", "summary: Delete all loans,"))
        #expect(all.schema["loans"]?.push.delete.isEmpty == true, "\(all.yaml)")
        #expect(all.todos.contains { $0.contains("push.delete") && $0.contains("DELETE /loans") })
        let other = try draft("", ["/loans/delete: { \(Self.deletion("shelf")) }"])
        #expect(other.schema["loans"]?.push.delete.isEmpty == true, "\(other.yaml)")
        #expect(other.todos.contains { $0.contains("push.delete") && $0.contains("does not name one record") })
    }
}
