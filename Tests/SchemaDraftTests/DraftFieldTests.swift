import EntitySchema
import Testing

@testable import SchemaDraft

@Suite("Drafting fields")
struct DraftFieldTests {
    private typealias Document = SmallDocument

    private func things(_ members: String, _ paths: [String] = []) throws -> Entity? {
        let thing =
            "Thing: { type: object, properties: { id: { type: integer }, title: { type: string }, \(members) } }"
        let list = "/things: { \(Document.list("Thing")), \(Document.call("post", "Thing", "Thing")) }"
        return try SchemaDraft.of(Document(schemas: [thing], paths: [list] + paths).text).schema["things"]
    }

    @Test("A timestamp is a time, as databases name it", arguments: ["timestamp", "timestamp with time zone"])
    func timestamp(_ format: String) throws {
        #expect(try things("date_updated: { type: string, format: \(format) }")?[field: "date_updated"]?.kind == .time)
    }

    @Test(
        "A timestamp that counts from 1970 in quotes is no time in ISO 8601",
        arguments: ["example: \"1700690400\"", "description: A Unix timestamp"])
    func count(_ said: String) throws {
        let things = try things("date_updated: { type: string, format: timestamp, \(said) }")
        #expect(things?[field: "date_updated"]?.kind == .string)
    }

    @Test("A list that the document describes like an object stays a list")
    func listWithMembers() throws {
        let things = try things("lines: { type: array, properties: { text: { type: string } } }")
        #expect(things?[field: "lines"]?.kind == .list)
    }

    @Test(
        "What a creation needs may be null, or be filled in by the upstream",
        arguments: [
            ("type: string, nullable: true", false), ("anyOf: [{ type: string }, { type: \"null\" }]", false),
            ("type: string, default: none", false), ("type: string", true),
        ])
    func nullable(_ member: String, _ isRequired: Bool) throws {
        let thing = "Thing: { type: object, properties: { id: { type: integer }, note: { type: string } } }"
        let body = "Body: { type: object, required: [note], properties: { note: { \(member) } } }"
        let list = "/things: { \(Document.list("Thing")), \(Document.call("post", "Body", "Thing")) }"
        let draft = try SchemaDraft.of(Document(schemas: [thing, body], paths: [list]).text)
        #expect(draft.schema["things"]?[field: "note"]?.required == isRequired, "\(draft.yaml)")
        #expect(draft.schema["things"]?.push.create.first?.sendable == ["note"])
    }

    @Test("What a creation needs finds the record again, also if it may be null")
    func nullableMatch() throws {
        let id = "{ type: string, nullable: true }"
        let members = "id: { type: integer }, principalId: \(id), resourceId: \(id), displayName: { type: string }"
        let grant = "Grant: { type: object, required: [principalId, resourceId], properties: { \(members) } }"
        let list = "/grants: { \(Document.list("Grant")), \(Document.call("post", "Grant", "Grant")) }"
        let draft = try SchemaDraft.of(Document(schemas: [grant], paths: [list]).text)
        #expect(draft.yaml.contains("look_up: { match: [principalId, resourceId, displayName] }"), "\(draft.yaml)")
        #expect(draft.schema["grants"]?[field: "principalId"]?.required == false)
    }

    @Test("What a record is called elsewhere is no reference", arguments: [("external", false), ("outer", true)])
    func foreign(_ word: String, _ isReference: Bool) throws {
        let things = try things("\(word)_thing_id: { type: integer }")
        #expect((things?[field: "\(word)_thing_id"]?.kind == .reference(to: "things")) == isReference)
    }

    @Test(
        "A name that spells out the key of a record refers to it, and no other id does",
        arguments: [
            ("code", "plan_code", "string", true), ("code", "plan_id", "string", false),
            ("code", "plan_id", "integer", true), ("external_id", "external_plan_id", "string", true),
            ("external_id", "shop_plan_id", "string", false),
        ])
    func spelledOut(_ key: String, _ name: String, _ other: String, _ isReference: Bool) throws {
        let text = "{ type: string }"
        let schemas = [
            "Plan: { type: object, properties: { shop_id: { type: \(other) }, \(key): \(text) } }",
            "Order: { type: object, properties: { id: \(text), \(name): \(text) } }",
        ]
        let paths = [
            "/plans: { \(Document.list("Plan")) }", "/plans/{\(key)}: { \(Document.single("Plan")) }",
            "/orders: { \(Document.list("Order")) }",
        ]
        let draft = try SchemaDraft.of(Document(schemas: schemas, paths: paths).text)
        let kind = draft.schema["orders"]?[field: name]?.kind
        #expect((kind == .reference(to: "plans")) == isReference, "\(draft.yaml)")
    }

    @Test("A list that shows little of its records names what reads them whole", arguments: [true, false])
    func summary(_ isShort: Bool) throws {
        let more = ["a", "b", "c", "d", "e"].map { "\($0): { type: string }" }.joined(separator: ", ")
        let own = "id: { type: integer }, title: { type: string }, updated_at: { type: string }"
        let schemas = [
            "Whole: { type: object, properties: { \(own), \(more) } }",
            "Short: { type: object, properties: { \(own) } }",
        ]
        let draft = try SchemaDraft.of(
            Document(
                schemas: schemas,
                paths: [
                    "/things: { \(Document.list(isShort ? "Short" : "Whole")) }",
                    "/things/{id}: { \(Document.single("Whole")) }",
                ]
            ).text)
        let advice = "pull.detail: { read: single, when_changed: updated_at }: the list shows 3 of 8 fields"
        #expect(draft.todos.contains { $0.contains(advice) } == isShort, "\(draft.todos)")
    }

    @Test(
        "What signs someone in is secret",
        arguments: [
            "plexToken", "plaintext_token", "hosted_login_token", "token", "secretKey", "account_key", "passphrase",
        ])
    func secrets(_ name: String) throws {
        #expect(try things("\(name): { type: string }")?[field: name]?.secret == true)
    }

    @Test("What is called an object has the type of its example, or else of the body's member, where it may be null")
    func bareObject() throws {
        let bare = "type: object, nullable: true"
        let shown = "phone: { \(bare), example: \"+44 20\" }, weight: { \(bare), example: 2.5 }"
        let members = "id: { type: integer }, \(shown), rank: { \(bare) }, more: { \(bare) }, box: { type: object }"
        let thing = "Thing: { type: object, properties: { \(members) } }"
        let taken = "phone: { type: string }, rank: { type: integer }, box: { type: string }"
        let body = "Body: { type: object, properties: { \(taken) } }"
        let list = "/things: { \(Document.list("Thing")), \(Document.call("post", "Body", "Thing")) }"
        let draft = try SchemaDraft.of(Document(schemas: [thing, body], paths: [list]).text)
        let things = try #require(draft.schema["things"])
        let kinds = ["phone", "weight", "rank", "more", "box"].map { things[field: $0]?.kind }
        #expect(kinds == [.string, .number, .integer, .object, .object])
        #expect(things.push.create.first?.sendable == ["phone", "rank"])
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
        let account = "Account: { type: object, properties: { accountKey: { type: string }, title: { type: string } } }"
        let accounts = try SchemaDraft.of(
            Document(
                schemas: [account],
                paths: [
                    "/accounts: { \(Document.list("Account")) }",
                    "/accounts/{accountKey}: { \(Document.single("Account")) }",
                ]
            ).text
        ).schema["accounts"]
        #expect(accounts?.key == "accountKey")
    }

    // MARK: Members that belong together

    @Test(
        "A record that is shown whole beside its key is one reference, under the key's own name",
        arguments: ["customer_id", "customerId"])
    func whole(_ name: String) throws {
        let whole = "customer: { type: object, properties: { id: { type: integer } } }"
        func draft(_ members: String) throws -> SchemaDraft {
            let thing = "Thing: { type: object, properties: { id: { type: integer }, \(members) } }"
            let paths = ["/things", "/customers"].map { "\($0): { \(Document.list("Thing")) }" }
            return try SchemaDraft.of(Document(schemas: [thing], paths: paths).text)
        }
        let both = try draft("\(whole), \(name): { type: integer }")
        #expect(both.yaml.contains("\(name): { type: reference, to: customers"), "\(both.yaml)")
        #expect(!both.yaml.contains("from: customer.id") && !both.yaml.contains("_field"))
        #expect(try draft(whole).yaml.contains("from: customer.id"))
        let other = try draft("\(whole), \(name): { type: string }")
        #expect(other.yaml.contains("from: customer.id"), "a text is no key of a customer: \(other.yaml)")
    }

    @Test("A member whose name no field can have is one field, though the list and the single record both have it")
    func odd() throws {
        let single = "/things/{id}: { \(Document.single("Thing")) }"
        let things = try things("\"parts@odata.count\": { type: integer }", [single])
        #expect(things?.fields.map(\.name).filter { $0.hasPrefix("parts") } == ["parts_odata_count"])
    }

    // MARK: Change times

    private func draft(_ changed: String, _ since: String = "schema: { type: string }") throws -> SchemaDraft {
        let thing =
            "Thing: { type: object, properties: { id: { type: integer }, updated_at: { type: string, \(changed) } } }"
        let parameters = "parameters: [{ name: updated_since, in: query, \(since) }],"
        return try SchemaDraft.of(
            Document(schemas: [thing], paths: ["/things: { \(Document.list("Thing", parameters)) }"]).text)
    }

    @Test(
        "A change time that is no ISO 8601 asks for no changes",
        arguments: [
            "format: date-time, example: \"Tue, 20 Nov 2012 00:00:00 +0000\"", "example: \"20/11/2012 09:00\"",
            "description: \"The last modification. RFC-2822\"", "description: \"Written as d/m/Y\"",
        ])
    func otherTimes(_ changed: String) throws {
        let draft = try draft(changed)
        #expect(draft.schema["things"]?.pull?.isSince == false)
        #expect(draft.schema["things"]?[field: "updated_at"]?.kind == .string)
        #expect(draft.todos.contains { $0.contains("updated_since") }, "\(draft.yaml)")
    }

    @Test(
        "A change time in ISO 8601, or of which nothing is said, asks for changes",
        arguments: [
            "format: date-time", "description: when it changed", "example: \"2012-11-20 00:00:00\"",
            "description: \"ISO 8601, not RFC 2822\"",
        ])
    func times(_ changed: String) throws {
        #expect(try draft(changed).schema["things"]?.pull?.changedAt == "updated_at")
    }

    @Test("A change time in the form of HTTP, as Flask writes it, asks for changes, and is no field of type time")
    func httpTime() throws {
        let things = try draft("format: date-time, example: \"Tue, 20 Nov 2012 09:00:00 GMT\"").schema["things"]
        #expect(things?.pull?.changedAt == "updated_at" && things?[field: "updated_at"]?.kind == .string)
    }

    @Test(
        "The time is sent in the form that the parameter takes",
        arguments: [
            ("description: a unix timestamp, schema: { type: string }", "epoch"),
            ("description: a unix timestamp for comparison, schema: { type: string }", "epoch"),
            ("schema: { type: string, example: \"1700690400000\" }", "epoch_ms"),
            ("description: \"YYYY-MM-DD HH:mm:ss\", schema: { type: string }", "yyyy-MM-dd HH:mm:ss"),
            ("description: \"as d/m/Y H:i\", schema: { type: string }", "dd/MM/yyyy HH:mm"),
            ("description: \"DD.MM.YYYY\", schema: { type: string }", "dd.MM.yyyy"),
        ])
    func forms(_ since: String, _ form: String) throws {
        let draft = try draft("format: date-time", since)
        #expect(draft.yaml.replacing("\"", with: "").contains("format: \(form)"), "\(draft.yaml)")
    }

    @Test("A parameter called like the change time is named, as it may ask for what changed just then")
    func sameName() throws {
        let thing = "Thing: { type: object, properties: { id: { type: integer }, updated_at: { type: integer } } }"
        func todos(_ name: String) throws -> [String] {
            let parameters = "parameters: [{ name: \(name), in: query, schema: { type: integer } }],"
            let paths = ["/things: { \(Document.list("Thing", parameters)) }"]
            return try SchemaDraft.of(Document(schemas: [thing], paths: paths).text).todos
        }
        let named = "pull.since: { param: \"updated_at\", field: updated_at }"
        #expect(try todos("updated_at").contains { $0.contains(named) })
        #expect(try !todos("created_at").contains { $0.contains("pull.since") })
    }

    @Test(
        "The time can be sent in a header, in the form of HTTP unless the document says otherwise",
        arguments: [
            ("schema: { type: string }", "http"), ("schema: { type: string, format: date-time }", nil),
            ("description: A time in ISO 8601, schema: { type: string }", nil),
        ])
    func header(_ shape: String, _ form: String?) throws {
        let thing = """
            Thing: { type: object, properties: { id: { type: integer }, updated_at: { type: string, format: date-time } } }
            """
        let parameters = "parameters: [{ name: If-Modified-Since, in: header, \(shape) }],"
        let draft = try SchemaDraft.of(
            Document(schemas: [thing], paths: ["/things: { \(Document.list("Thing", parameters)) }"]).text)
        let pull = try #require(draft.schema["things"]?.pull)
        #expect(pull.isSince && pull.changedAt == "updated_at" && pull.call?.isConditional == true, "\(draft.yaml)")
        #expect(pull.sinceFormat == form.flatMap(TimeFormat.init) ?? .iso)
    }

    @Test("Of parameters that take any of several times, the one that repeats the last change asks for changes")
    func anyOfSeveral() throws {
        let thing =
            "Thing: { type: object, properties: { id: { type: integer }, updated_at: { type: string, format: date-time } } }"
        let time = "schema: { type: array, items: { type: string, format: date-time } }"
        let parameters = ["updated_at", "updated_at__gt", "updated_at__gte"].map {
            "{ name: \($0), in: query, \(time) }"
        }
        let list = Document.list("Thing", "parameters: [\(parameters.joined(separator: ", "))],")
        let yaml = try SchemaDraft.of(Document(schemas: [thing], paths: ["/things: { \(list) }"]).text).yaml
        #expect(yaml.contains("since: { param: updated_at__gte, field: updated_at }"), "\(yaml)")
    }

    @Test("A parameter that takes a form of no schema asks for no changes")
    func unknownForm() throws {
        let draft = try draft("format: date-time", "description: \"As RFC 2822 has it\", schema: { type: string }")
        #expect(draft.schema["things"]?.pull?.isSince == false)
        #expect(draft.todos.contains { $0.contains("updated_since") })
    }

    @Test(
        "A list of changes shows deleted records if it can, and if they have a mark",
        arguments: [
            ("updated_since", "deleted_at", true), ("updated_since", "shelf", false), ("other", "deleted_at", false),
        ])
    func deleted(_ since: String, _ mark: String, _ isAsked: Bool) throws {
        let times = ["updated_at", mark].map { "\($0): { type: string, format: date-time }" }.joined(separator: ", ")
        let thing = "Thing: { type: object, properties: { id: { type: integer }, \(times) } }"
        let parameters =
            "parameters: [{ name: \(since), in: query, schema: { type: string } }, { name: include_deleted, in: query, schema: { type: boolean } }],"
        let draft = try SchemaDraft.of(
            Document(schemas: [thing], paths: ["/things: { \(Document.list("Thing", parameters)) }"]).text)
        #expect(draft.yaml.contains("include_deleted") == isAsked, "\(draft.yaml)")
        #expect((draft.schema["things"]?.pull?.deleted?.name == mark) == (mark == "deleted_at"))
    }
}
