import EntitySchema
import JSONText
import Testing

@testable import SchemaDraft

@Suite("Drafting paths that name what they do, as those of ASP.NET")
struct DraftNamedPathTests {
    private typealias Document = SmallDocument

    private static let members = "name: { type: string }, email: { type: string }"
    private static let schemas = [
        "Account: { type: object, properties: { id: { type: integer }, \(members) } }",
        "New: { type: object, properties: { \(members) } }",
        "Fine: { type: object, properties: { id: { type: integer }, amount: { type: number }, note: {} } }",
    ]

    private func draft(_ paths: [String]) throws -> SchemaDraft {
        try SchemaDraft.of(Document(schemas: Self.schemas, paths: paths).text)
    }

    private static let path = parameter("accountId", "path")

    private static func parameter(_ name: String, _ place: String) -> String {
        "parameters: [{ name: \(name), in: \(place), required: true, schema: { type: integer } }],"
    }

    private static func deletion(_ name: String, _ place: String) -> String {
        "delete: { \(parameter(name, place)) responses: { \"204\": { description: gone } } }"
    }

    @Test("A name in braces that is made of two names of the path is the key of the record, not that of another one")
    func twoNames() throws {
        let members = "id: { type: string }, peer_id: { type: string }, note: { type: string }"
        let draft = try SchemaDraft.of(
            Document(
                schemas: ["Peer: { type: object, properties: { \(members) } }"],
                paths: [
                    "/ingress/peers: { \(Document.list("Peer")) }",
                    "/ingress/peers/{ingressPeerId}: { \(Document.single("Peer")), \(Document.deletion) }",
                ]
            ).text)
        #expect(draft.schema["peers"]?.key == "id", "\(draft.yaml)")
        #expect(draft.schema["peers"]?.push.delete.first?.call == "DELETE /ingress/peers/{id}")
    }

    @Test("What is called primary key identifies a record, also where it has a member key")
    func primaryKey() throws {
        let members = "pk: { type: integer }, key: { type: integer }, label: { type: string }"
        let draft = try SchemaDraft.of(
            Document(
                schemas: ["State: { type: object, properties: { \(members) } }"],
                paths: [
                    "/states/: { \(Document.list("State")) }",
                    "\"/states/{id}/\": { \(Document.single("State")), \(Self.deletion("id", "path")) }",
                ]
            ).text)
        #expect(draft.schema["states"]?.key == "pk", "\(draft.yaml)")
        #expect(draft.schema["states"]?.push.delete.first?.call == "DELETE /states/{pk}/")
    }

    @Test("A name in braces may be an attribute of the record, as JSON:API has them")
    func attribute() throws {
        let attributes = "attributes: { type: object, properties: { code: { type: string }, label: { type: string } } }"
        let draft = try SchemaDraft.of(
            Document(
                schemas: ["Coin: { type: object, properties: { id: { type: string }, \(attributes) } }"],
                paths: [
                    "/coins: { \(Document.list("Coin")) }",
                    "\"/coins/{code}\": { \(Document.single("Coin")), \(Document.deletion) }",
                ]
            ).text)
        let coins = try #require(draft.schema["coins"], "\(draft.yaml)")
        #expect(coins.key == "id" && coins[field: "code"]?.source == "attributes.code")
        #expect(coins.pull?.single.path.source == "/coins/{code}", "\(draft.yaml)")
        #expect(coins.push.delete.first?.call == "DELETE /coins/{code}")
    }

    @Test("Verbs with the name of the records and of their key are the calls of the list of all of them")
    func named() throws {
        let draft = try draft([
            "/api/Account/GetAllAccounts: { \(Document.list("Account")) }",
            "\"/api/Account/GetAccountById/{accountId}\": { \(Document.single("Account", Self.path)) }",
            "/api/Account/CreateAccount: { \(Document.call("post", "New", "Account")) }",
            "\"/api/Account/UpdateAccount/{accountId}\": { \(Document.call("put", "New", "Account", Self.path)) }",
            "\"/api/Account/DeleteAccount/{accountId}\": { \(Self.deletion("accountId", "path")) }",
        ])
        let accounts = try #require(draft.schema["accounts"], "\(draft.yaml)")
        #expect(draft.paths.map(\.path) == ["/api/Account/GetAllAccounts"])
        #expect(accounts.pull?.single.path.source == "/api/Account/GetAccountById/{id}")
        #expect(accounts.push.create.first?.call == "POST /api/Account/CreateAccount")
        #expect(accounts.push.update.first?.call == "PUT /api/Account/UpdateAccount/{id}")
        #expect(accounts.push.delete.first?.call == "DELETE /api/Account/DeleteAccount/{id}")
    }

    @Test("So are verbs alone in any case, with the key in the query", arguments: ["id", "accountId"])
    func query(_ name: String) throws {
        let draft = try draft([
            "/api/Account/GetAll: { \(Document.list("Account")) }",
            "/api/Account/Get: { \(Document.single("Account", Self.parameter(name, "query"))) }",
            "/api/Account/Create: { \(Document.call("post", "New", "Account")) }",
            "/api/Account/Update: { \(Document.call("put", "New", "Account", Self.parameter(name, "query"))) }",
            "/api/Account/Delete: { \(Self.deletion(name, "query")) }",
        ])
        let account = try #require(draft.schema.entities.first, "\(draft.yaml)")
        #expect(account.pull?.single.path.source == "/api/Account/Get?\(name)={id}")
        #expect(account.push.create.first?.call == "POST /api/Account/Create")
        #expect(account.push.update.first?.call == "PUT /api/Account/Update?\(name)={id}")
        #expect(account.push.update.first?.sendable == ["name", "email"])
        #expect(account.push.delete.first?.call == "DELETE /api/Account/Delete?\(name)={id}")
    }

    @Test("A POST with the key in the query gets the whole record, as one with the key in its body does")
    func post() throws {
        let draft = try draft([
            "/api/Account/GetAll: { \(Document.list("Account")) }",
            "/api/Account/Get: { \(Document.single("Account", Self.parameter("id", "query"))) }",
            "/api/Account/Update: { \(Document.call("post", "New", "Account", Self.parameter("id", "query"))) }",
        ])
        let update = try #require(draft.schema.entities.first?.push.update.first, "\(draft.yaml)")
        #expect(update.call == "POST /api/Account/Update?id={id}" && update.sendsRecord)
    }

    @Test("Paths that differ only in their case belong together")
    func spelling() throws {
        let draft = try draft([
            "/api/Accounts: { \(Document.list("Account")) }",
            "\"/api/accounts/{id}\": { \(Document.single("Account")), \(Document.deletion) }",
        ])
        #expect(draft.schema["accounts"]?.push.delete.first?.call == "DELETE /api/accounts/{id}", "\(draft.yaml)")
    }

    @Test("Paths of a record may call its key differently, but not name it by something else")
    func otherNames() throws {
        let draft = try draft([
            "/accounts: { \(Document.list("Account")) }", "\"/accounts/{id}\": { \(Document.single("Account")) }",
            "\"/accounts/{accountId}\": { \(Document.call("put", "New", "Account")) }",
            "\"/accounts/{email}\": { \(Document.deletion) }",
        ])
        let accounts = try #require(draft.schema["accounts"], "\(draft.yaml)")
        #expect(accounts.pull?.single.path.source == "/accounts/{id}")
        #expect(accounts.push.update.first?.call == "PUT /accounts/{id}")
        #expect(accounts.push.delete.isEmpty)
    }

    @Test("A list of other records beside such calls has none of them")
    func others() throws {
        let draft = try draft([
            "/api/Account/GetFines: { \(Document.list("Fine")) }", "/api/Account/Search: { \(Document.list("Fine")) }",
            "/api/Account/CreateAccount: { \(Document.call("post", "New", "Account")) }",
            "/api/Account/DeleteAccount: { \(Self.deletion("id", "query")) }",
        ])
        #expect(!draft.schema.entities.isEmpty, "\(draft.yaml)")
        #expect(draft.schema.entities.allSatisfy { $0.push.create.isEmpty && $0.push.delete.isEmpty })
    }

    @Test("What may change all records, or names another one, is left to a person")
    func harmful() throws {
        for query in ["name: shelfId, in: query, required: true", "name: id, in: query"] {
            let more = "{ name: state, in: query, schema: { type: string } }"
            let parameters = "parameters: [{ \(query), schema: { type: integer } }, \(more)],"
            let draft = try draft([
                "/accounts: { \(Document.list("Account")), \(Document.call("put", "New", "Account", parameters)) }"
            ])
            #expect(draft.schema["accounts"]?.push.update.isEmpty == true, "\(draft.yaml)")
        }
    }
}
