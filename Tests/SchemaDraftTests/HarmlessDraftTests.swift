import EntitySchema
import Testing

@testable import SchemaDraft

/// What a wrong guess would destroy, a draft leaves out.
@Suite("Drafting without harm")
struct HarmlessDraftTests {
    private typealias Document = SmallDocument

    private func draft(_ schemas: [String], _ paths: [String]) throws -> SchemaDraft {
        try SchemaDraft.of(Document(schemas: schemas, paths: paths).text)
    }

    private static func records(_ path: String, _ name: String, _ parameter: String, _ more: String = "") -> [String] {
        [
            "\(path): { \(Document.list(name)) }",
            "\(path)/{\(parameter)}: { \(more) \(Document.single(name)), \(Document.call("patch", name, name)), \(Document.deletion) }",
        ]
    }

    @Test(
        "No text of the document shows the draft's lines in another order",
        arguments: ["202E", "2066", "200F", "061C"])
    func direction(code: String) throws {
        let state = "{ type: string, description: \"evil\\u\(code)x\", enum: [\"a\\u\(code)b\", c] }"
        let order = "Order: { type: object, properties: { id: { type: string }, state: \(state) } }"
        let draft = try draft([order], Self.records("/orders", "Order", "id"))
        #expect(draft.yaml.contains("orders:"))
        let scalar = try #require(UInt32(code, radix: 16).flatMap(Unicode.Scalar.init))
        #expect(!draft.yaml.unicodeScalars.contains(scalar), "\(draft.yaml)")
    }

    // MARK: Names in paths

    @Test("The name in a record's path is the member that is called so in other words")
    func synonym() throws {
        let issue = "Issue: { type: object, properties: { id: { type: integer }, number: { type: integer } } }"
        let issues = try #require(draft([issue], Self.records("/issues", "Issue", "index")).schema["issues"])
        #expect(issues.key == "id")
        #expect(issues.push.delete.first?.call == "DELETE /issues/{number}")
    }

    @Test("The description of the name in a record's path says which member it is")
    func described() throws {
        let tag = "Tag: { type: object, properties: { id: { type: string }, name: { type: string } } }"
        let said = "parameters: [{ name: tag, in: path, description: name of the tag, schema: { type: string } }],"
        let tags = try #require(draft([tag], Self.records("/tags", "Tag", "tag", said)).schema["tags"])
        #expect(tags.push.delete.first?.call == "DELETE /tags/{name}")
    }

    @Test("A record whose path names a member that is no field of the draft is neither changed nor deleted")
    func noField() throws {
        let many = (1...200).map { "p\($0): { type: string }, " }.joined()
        let issue = "Issue: { type: object, properties: { id: { type: integer }, \(many) number: { type: integer } } }"
        let draft = try draft([issue], Self.records("/issues", "Issue", "index"))
        #expect(draft.schema["issues"]?.push.delete.isEmpty == true)
        #expect(draft.yaml.contains("TODO pull.record and push: { path: \"/issues/{index}\" }"))
        #expect(draft.yaml.contains("record: none  # see the TODO below"), "\(draft.yaml)")
    }

    @Test("A UUID in a record's path is the UUID of the record, never its number")
    func uuid() throws {
        func jobs(_ more: String, id: String = "integer") throws -> Entity {
            let job = "Job: { type: object, properties: { id: { type: \(id) }, title: { type: string }\(more) } }"
            return try #require(draft([job], Self.records("/jobs", "Job", "uuid")).schema["jobs"])
        }
        let own = try jobs(", job_uuid: { type: string }")
        #expect(own.key == "job_uuid")
        #expect(own.push.delete.first?.call == "DELETE /jobs/{job_uuid}")
        let none = try jobs("")
        #expect(none.key == "id" && none.push.delete.isEmpty && none.push.update.isEmpty)
        #expect(try jobs("", id: "string").push.delete.first?.call == "DELETE /jobs/{id}")
    }

    @Test("An id in a record's path is not the member that ends so, beside a key of another name")
    func pk() throws {
        let owner = "Owner: { type: object, properties: { pk: { type: integer }, owner_id: { type: integer } } }"
        let owners = try #require(draft([owner], Self.records("/user/owner", "Owner", "id")).schema["owner"])
        #expect(owners.key == "pk")
        #expect(owners.push.delete.first?.call == "DELETE /user/owner/{pk}")
    }

    @Test("A record whose path may name anything is neither changed nor deleted")
    func unclear() throws {
        let tariff = "Tariff: { type: object, properties: { id: { type: integer }, label: { type: string } } }"
        let draft = try draft([tariff], Self.records("/tariffs", "Tariff", "code"))
        #expect(draft.schema["tariffs"]?.push.delete.isEmpty == true)
        #expect(draft.schema["tariffs"]?.push.update.isEmpty == true)
        #expect(draft.yaml.contains("TODO pull.record and push: { path: \"/tariffs/{code}\" }"))
    }

    @Test(
        "The key stands for a name that can be nothing else",
        arguments: ["id", "tariffId", "tariff", "pk"])
    func clear(_ parameter: String) throws {
        let tariff = "Tariff: { type: object, properties: { id: { type: integer }, label: { type: string } } }"
        let tariffs = try draft([tariff], Self.records("/tariffs", "Tariff", parameter)).schema["tariffs"]
        #expect(tariffs?.push.delete.first?.call == "DELETE /tariffs/{id}")
    }

    // MARK: Keys

    @Test("A record with an id is named by it, though it has a member that is called like the path's")
    func ownID() throws {
        let company = "Company: { type: object, properties: { id: { type: string }, company_id: { type: string } } }"
        let companies = try draft([company], Self.records("/companies", "Company", "company_id")).schema["companies"]
        #expect(companies?.key == "id")
        #expect(companies?.push.delete.first?.call == "DELETE /companies/{id}")
    }

    @Test("Of several paths of a record, the one with an id is taken")
    func severalPaths() throws {
        let contact =
            "Contact: { type: object, properties: { ContactNumber: { type: string }, ContactID: { type: string } } }"
        let contacts = try draft(
            [contact],
            [
                "/contacts: { \(Document.list("Contact")) }",
                "/contacts/{ContactNumber}: { \(Document.single("Contact")) }",
                "/contacts/{ContactID}: { \(Document.single("Contact")) }",
            ]
        ).schema["contacts"]
        #expect(contacts?.key == "ContactID")
    }

    @Test("The key of a record in another list is no key, also if the list's plural is irregular")
    func otherKey() throws {
        let stock = "Stock: { type: object, properties: { warehouse_id: { type: integer }, count: { type: integer } } }"
        let place = "Warehouse: { type: object, properties: { id: { type: integer }, name: { type: string } } }"
        let draft = try draft(
            [stock, place],
            ["/stocks: { \(Document.list("Stock")) }", "/warehouses: { \(Document.list("Warehouse")) }"])
        #expect(draft.paths.map(\.path) == ["/warehouses"])
    }

    @Test("Of two lists that nothing names, the one further inside may be the one, if its records have more")
    func severalLists() throws {
        let text = "{ type: string }"
        func reasons(_ more: String) throws -> [String] {
            let inner = "type: array, items: { type: object, properties: { id: \(text)\(more) } }"
            let outer = "type: array, items: { type: object, properties: { id: \(text), name: \(text) } }"
            let parts = "topic_list: { type: object, properties: { topics: { \(inner) } } }"
            let answer = "type: object, properties: { users: { \(outer) }, \(parts) }"
            let things = "Thing: { type: object, properties: { id: \(text) } }"
            let latest = "/latest: { get: { \(Document.answers(answer)) } }"
            return try draft([things], ["/things: { \(Document.list("Thing")) }", latest]).leftOut.map(\.reason)
        }
        #expect(try reasons(", title: \(text), views: \(text)").first?.contains("users, topic_list.topics") == true)
        #expect(try reasons("").isEmpty)
    }

    @Test("The key of something else is no key, and a name only if each record has one")
    func noKey() throws {
        let invite = "Invite: { type: object, properties: { team_id: { type: string }, role: { type: string } } }"
        let stock = "Stock: { type: object, properties: { name: { type: string }, missing: { type: integer } } }"
        let place = "Place: { type: object, required: [name], properties: { name: { type: string } } }"
        let email = "Email: { type: object, properties: { username: { type: string }, email: { type: string } } }"
        let draft = try draft(
            [invite, stock, place, email],
            [
                "/team/invites: { \(Document.list("Invite")) }", "/stocks: { \(Document.list("Stock")) }",
                "/places: { \(Document.list("Place")) }", "/emails: { \(Document.list("Email")) }",
            ])
        #expect(draft.schema.entities.map(\.name) == ["places", "emails"])
        #expect(draft.schema["emails"]?.key == "email")
        #expect(draft.leftOut.filter { $0.why == .noKey }.map(\.path) == ["/team/invites", "/stocks"])
    }

    @Test("A key that a creation need not send is made by the upstream, and one that it needs here")
    func madeThere() throws {
        let properties = "properties: { id: { type: string }, title: { type: string } }"
        let path = ["/tasks: { \(Document.list("Task")), \(Document.call("post", "Task", "Task")) }"]
        let single = ["/tasks/{id}: { \(Document.single("Task")) }"]
        let free = try draft(["Task: { type: object, \(properties) }"], path + single).schema["tasks"]
        #expect(free?.keyForm == .server)
        #expect(free?.push.create.first?.sendable == ["title"])
        let needed = try draft(["Task: { type: object, required: [id], \(properties) }"], path + single).schema["tasks"]
        #expect(needed?.keyForm != .server)
    }

    // MARK: Calls that do something else

    @Test("A creation that answers another record is not drafted")
    func otherAnswer() throws {
        let form = "Form: { type: object, properties: { id: { type: integer }, status: { type: string } } }"
        let signer =
            "Signer: { type: object, properties: { id: { type: integer }, form_id: { type: integer }, status: { type: string } } }"
        let draft = try draft(
            [form, signer], ["/forms: { \(Document.list("Form")), \(Document.call("post", "Form", "Signer")) }"])
        #expect(draft.schema["forms"]?.push.create.isEmpty == true)
        #expect(draft.yaml.contains("TODO push.create: { call: \"POST /forms\" }: it answers another record"))
    }

    @Test(
        "A call is taken for a creation only if it is not described as something else",
        arguments: [
            ("Gets available things", true), ("deleteThing", true), ("Create a thing", false),
            ("Updates or creates a thing", false), ("Thing", false), ("Capture an existing thing", true),
        ])
    func otherCall(_ summary: String, _ isOther: Bool) throws {
        let thing = "Thing: { type: object, properties: { id: { type: integer }, title: { type: string } } }"
        let post = Document.call("post", "Thing", "Thing", "summary: \(summary),")
        let things = try draft([thing], ["/things: { \(Document.list("Thing")), \(post) }"]).schema["things"]
        #expect(things?.push.create.isEmpty == isOther)
    }

    @Test("A PUT creates only if that is what it is described as, not where its description mentions it")
    func update() throws {
        let rule = "Rule: { type: object, properties: { name: { type: string }, value: { type: string } } }"
        let put = Document.call("put", "Rule", "Rule", "summary: Update a rule that was created,")
        let rules = try draft(
            [rule], ["/rules: { \(Document.list("Rule")) }", "/rules/{name}: { \(put) }"]
        ).schema["rules"]
        #expect(rules?.push.create.isEmpty == true)
        #expect(rules?.push.update.isEmpty == false)
    }

    @Test("A GET that creates something is no list")
    func creatingGet() throws {
        let post = "Post: { type: object, properties: { id: { type: integer } } }"
        let draft = try draft(
            [post], ["/posts: { \(Document.list("Post")) }", "/posts/create: { \(Document.list("Post")) }"])
        #expect(draft.schema.entities.map(\.name) == ["posts"])
        #expect(draft.leftOut.map(\.path) == ["/posts/create"])
    }

    // MARK: Records below several others

    @Test("A list below a record that only links records of another list is left out")
    func links() throws {
        let user = "User: { type: object, properties: { id: { type: integer }, name: { type: string } } }"
        let org = "Org: { type: object, properties: { id: { type: integer } } }"
        let draft = try draft(
            [user, org],
            [
                "/users: { \(Document.list("User")) }", "/orgs: { \(Document.list("Org")) }",
                "/orgs/{id}/members: { \(Document.list("User")) }",
                "/orgs/{id}/members/{user_id}: { \(Document.deletion) }",
            ])
        #expect(draft.schema.entities.map(\.name) == ["users", "orgs"])
        #expect(draft.leftOut.first?.why == .sameRecords)
    }

    @Test("A record that two ids identify together is left out")
    func twoIDs() throws {
        let user = "User: { type: object, properties: { id: { type: string } } }"
        let member = "Member: { type: object, properties: { team_id: { type: string }, user_id: { type: string } } }"
        let draft = try draft(
            [user, member],
            [
                "/users: { \(Document.list("User")) }", "/teams: { \(Document.list("User")) }",
                "/teams/{team_id}/members: { \(Document.list("Member")) }",
                "/teams/{team_id}/members/{user_id}: { \(Document.single("Member")), \(Document.deletion) }",
            ])
        #expect(draft.schema.entities.map(\.name) == ["users", "teams"])
        #expect(draft.leftOut.first?.reason.contains("only team_id and user_id together") == true)
    }
}
