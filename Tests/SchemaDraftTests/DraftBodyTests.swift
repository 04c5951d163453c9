import EntitySchema
import Testing

@testable import SchemaDraft

@Suite("Drafting the bodies of changes")
struct DraftBodyTests {
    private typealias Document = SmallDocument

    /// A list of things, each with an id, a title and more, and a creation with this body.
    private func draft(_ body: String, more: String = "") throws -> SchemaDraft {
        let thing = "Thing: { type: object, properties: { id: { type: integer }, title: { type: string }\(more) } }"
        return try SchemaDraft.of(
            Document(
                schemas: [thing, "Body: { type: object, \(body) }"],
                paths: [
                    "/things: { \(Document.list("Thing")), \(Document.call("post", "Body", "Thing")) }",
                    "/milestones: { \(Document.list("Thing")) }",
                ]
            ).text)
    }

    private static let title = "title: { type: string }"
    private static let thing = "$ref: \"#/components/schemas/Thing\""

    @Test("Of all members of a body, the one with most of the record's fields is the record")
    func envelope() throws {
        let draft = try draft(
            "properties: { note: { type: string }, entry: { \(Self.thing) } }",
            more: ", note: { type: string }, rank: { type: integer }")
        #expect(draft.yaml.contains("body: { entry: $fields }") || draft.yaml.contains("body: { entry: \"$fields\" }"))
        #expect(draft.schema["things"]?.push.create.first?.sendable == ["title", "note", "rank"])
    }

    @Test("A body that takes a list of records gets a list of one")
    func list() throws {
        let draft = try draft("properties: { things: { type: array, items: { \(Self.thing) } } }")
        #expect(draft.schema["things"]?.push.create.first?.sendable == ["title"])
        #expect(
            draft.yaml.contains("body: { things: [$fields] }") || draft.yaml.contains("body: { things: [\"$fields\"] }")
        )
    }

    @Test("A body that is a list of records gets a list of one, and a PUT of a list is left out")
    func bareList() throws {
        let thing = "Thing: { type: object, properties: { id: { type: integer }, title: { type: string } } }"
        let things = "Things: { type: array, items: { \(Self.thing) } }"
        let draft = try SchemaDraft.of(
            Document(
                schemas: [thing, things],
                paths: [
                    "/things: { \(Document.list("Thing")), \(Document.call("post", "Things", "Thing")) }",
                    "/things/{id}: { \(Document.single("Thing")), \(Document.call("put", "Things", "Thing")) }",
                ]
            ).text)
        #expect(draft.yaml.contains("body: [$fields]") || draft.yaml.contains("body: [\"$fields\"]"))
        #expect(draft.schema["things"]?.push.update.isEmpty == true)
        #expect(draft.yaml.contains("which may take the place of all"))
    }

    @Test("Times that the upstream sets by itself are not sent, nor does the key find a lost creation")
    func serverTimes() throws {
        let draft = try draft(
            "properties: { id: { type: integer }, \(Self.title), created_at: { type: string, format: date-time } }",
            more: ", created_at: { type: string, format: date-time }")
        let create = try #require(draft.schema["things"]?.push.create.first)
        #expect(create.sendable == ["title"])
        guard case .match(let fields, _, _) = create.lookUp else { return #expect(Bool(false), "no look-up") }
        #expect(fields == ["title"])
    }

    @Test("A member of the record is not taken for the record")
    func member() throws {
        let inner =
            "owner: { type: object, properties: { id: { type: integer }, title: { type: string }, kind: { type: string } } }"
        let draft = try draft("properties: { \(Self.title), \(inner) }", more: ", kind: { type: string }, \(inner)")
        #expect(draft.schema["things"]?.push.create.first?.sendable == ["title", "owner"])
    }

    @Test("A required idempotency key is the change's own, and a member with one value always has it")
    func constants() throws {
        let draft = try draft(
            "required: [idempotency_key, type, thing], properties: { idempotency_key: { type: string }, type: { type: string, enum: [thing] }, thing: { \(Self.thing) } }"
        )
        #expect(draft.yaml.contains("idempotency_key: \"{$key}\", type: thing }"))
        #expect(draft.schema["things"]?.push.create.isEmpty == false)
        #expect(draft.schema["things"]?[field: "idempotency_key"] == nil)
    }

    @Test("A body that needs more than the record is left out")
    func needsMore() throws {
        let draft = try draft(
            "required: [reason], properties: { reason: { type: string }, entry: { \(Self.thing) } }")
        #expect(draft.schema["things"]?.push.create.isEmpty == true)
        #expect(draft.yaml.contains("its body needs reason beside entry"))
    }

    @Test("What only one form of a body needs is sent, also if no record shows it, and no record has to have it")
    func forms() throws {
        func form(_ kind: String, _ member: String) -> String {
            "{ required: [kind, \(member)], properties: { kind: { type: string, enum: [\(kind)] }, \(member): { type: string } } }"
        }
        let draft = try draft("properties: { \(Self.title) }, oneOf: [\(form("a", "link")), \(form("b", "body"))]")
        let things = try #require(draft.schema["things"])
        #expect(things.push.create.first?.sendable == ["title", "kind", "link", "body"], "\(draft.yaml)")
        #expect(["kind", "link", "body"].map { things[field: $0]?.required } == [true, false, false])
    }

    @Test("What a record inside a member of a body must have is sent, also if no record shows it")
    func neededInside() throws {
        let members = "\(Self.title), shop_code: { type: string }"
        let inner = "type: object, required: [title, shop_code], properties: { \(members) }"
        let draft = try draft("required: [entry], properties: { entry: { \(inner) } }")
        let things = try #require(draft.schema["things"])
        #expect(things.push.create.first?.sendable == ["title", "shop_code"], "\(draft.yaml)")
        #expect(things[field: "shop_code"]?.required == true)
        #expect(draft.yaml.contains("look_up: { match: [title] }"), "\(draft.yaml)")
        let parts = "type: { type: string }, attributes: { \(inner) }"
        let resource = "type: object, required: [attributes, type], properties: { \(parts) }"
        #expect(try self.draft("properties: { data: { \(resource) } }").schema["things"]?[field: "attributes"] == nil)
    }

    @Test("Where a record has an object and the body takes its id, the id is sent")
    func reference() throws {
        let milestone = ", milestone: { type: object, properties: { id: { type: integer }, title: { type: string } } }"
        let draft = try draft("properties: { \(Self.title), milestone: { type: integer } }", more: milestone)
        #expect(draft.schema["things"]?.push.create.first?.sendable == ["title", "milestone_id"])
        #expect(draft.yaml.contains("milestone: milestone_id"))
    }

    @Test("The id that a body must have is that of what the record shows whole, also if it is called write-only")
    func requiredReference() throws {
        let other = "{ type: object, properties: { id: { type: integer }, title: { type: string } } }"
        let ids = "milestone_id: { type: integer, writeOnly: true }, owner_id: { type: integer, writeOnly: true }"
        let draft = try draft(
            "required: [milestone_id, owner_id], properties: { \(Self.title), \(ids) }",
            more: ", milestone: \(other), owner: \(other), \(ids)")
        let things = try #require(draft.schema["things"])
        #expect(things.push.create.first?.sendable == ["title", "milestone_id", "owner_id"], "\(draft.yaml)")
        #expect(things.fields.filter(\.isWriteOnly).isEmpty)
        #expect(things[field: "milestone_id"]?.source == "milestone.id")
        #expect(things[field: "owner_id"]?.source == "owner.id")
        #expect(things[field: "owner_id"]?.required == true)
    }

    @Test("A lost creation is not looked up by what no record shows")
    func writeOnlyLookUp() throws {
        let batch = "batch_code: { type: string, writeOnly: true }"
        let draft = try draft(
            "required: [title, batch_code], properties: { \(Self.title), \(batch) }", more: ", \(batch)")
        #expect(draft.schema["things"]?.push.create.first?.sendable == ["title", "batch_code"], "\(draft.yaml)")
        #expect(draft.yaml.contains("look_up: { match: [title] }"), "\(draft.yaml)")
    }

    @Test("The key that a relationship of JSON:API shows is sent where a plain body takes it")
    func relationship() throws {
        let data = "data: { type: object, properties: { id: { type: string }, type: { type: string } } }"
        let draft = try draft(
            "properties: { entry: { type: object, required: [milestone_id], properties: { \(Self.title), milestone_id: { type: integer } } } }",
            more:
                ", relationships: { type: object, properties: { milestone: { type: object, properties: { \(data) } } } }"
        )
        #expect(draft.schema["things"]?.push.create.first?.sendable == ["title", "milestone_id"], "\(draft.yaml)")
        #expect(draft.schema["things"]?[field: "milestone_id"]?.required == true)
    }

    @Test("Where a record has an object and the body takes something else, nothing is sent")
    func otherKind() throws {
        let draft = try draft(
            "properties: { \(Self.title), place: { type: string }, tags: { type: array, items: { type: string } } }",
            more:
                ", place: { type: object, properties: { city: { type: string } } }, tags: { type: array, items: { type: object, properties: { name: { type: string } } } }"
        )
        #expect(draft.schema["things"]?.push.create.first?.sendable == ["title"])
    }

    @Test("A field is sent under the body's spelling of its name")
    func spelling() throws {
        let draft = try draft(
            "properties: { FriendlyName: { type: string } }", more: ", friendly_name: { type: string }")
        #expect(draft.schema["things"]?.push.create.first?.sendable == ["friendly_name"])
        #expect(draft.yaml.contains("FriendlyName: friendly_name"))
    }

    @Test("A required member that the body spells otherwise is required, and finds a creation whose answer was lost")
    func otherSpelling() throws {
        let things = try #require(
            draft(
                "required: [FriendlyName], properties: { FriendlyName: { type: string } }",
                more: ", friendly_name: { type: string }"
            ).schema["things"])
        #expect(things[field: "friendly_name"]?.required == true)
        guard case .match(let fields, _, _) = things.push.create.first?.lookUp else {
            return #expect(Bool(false), "no look-up")
        }
        #expect(fields == ["friendly_name"])
    }

    @Test("An idempotency key that a body may have is sent, too")
    func optionalKey() throws {
        let draft = try draft("properties: { idempotency_key: { type: string }, \(Self.title) }")
        let create = try #require(draft.schema["things"]?.push.create.first)
        #expect(create.sendable == ["title"])
        #expect(create.envelope?.namesKey == true, "\(draft.yaml)")
    }

    @Test("A flat body of records with attributes has these, and not the type of the resource")
    func attributes() throws {
        let draft = try draft(
            "required: [type], properties: { type: { type: string }, name: { type: string } }",
            more:
                ", type: { type: string }, attributes: { type: object, properties: { type: { type: string }, name: { type: string } } }"
        )
        let things = try #require(draft.schema["things"])
        #expect(things.push.create.first?.sendable == ["type_field", "name"], "\(draft.yaml)")
        #expect(draft.yaml.contains("type: type_field"))
        #expect(things[field: "type"]?.required == false)
        #expect(things[field: "type_field"]?.required == true)
    }

    @Test("A PUT of a list that is described as a creation creates, before a POST that is described as something else")
    func createdByPutOfList() throws {
        let group = "Group: { type: object, properties: { id: { type: integer }, title: { type: string } } }"
        let rows = "type: array, items: { $ref: \"#/components/schemas/Group\" }"
        let groups = "Groups: { type: object, properties: { groups: { \(rows) } } }"
        func draft(_ put: String, _ post: String) throws -> SchemaDraft {
            let calls = [
                Document.list("Group"), Document.call("put", "Groups", "Groups", put),
                Document.call("post", "Groups", "Groups", post),
            ]
            return try SchemaDraft.of(
                Document(schemas: [group, groups], paths: ["/groups: { \(calls.joined(separator: ", ")) }"]).text)
        }
        let (creates, deletes) = ("summary: Creates one or more groups,", "summary: Deletes one or more groups,")
        let created = try draft(creates, deletes)
        #expect(created.schema["groups"]?.push.create.map(\.call) == ["PUT /groups"], "\(created.yaml)")
        #expect(created.yaml.replacing("\"", with: "").contains("body: { groups: [$fields] }"), "\(created.yaml)")
        let replaced = try draft("summary: Replaces all groups,", deletes)
        #expect(replaced.schema["groups"]?.push.create.isEmpty == true, "\(replaced.yaml)")
        let posted = try draft(creates, creates)
        #expect(posted.schema["groups"]?.push.create.map(\.call) == ["POST /groups"], "\(posted.yaml)")
    }
}
