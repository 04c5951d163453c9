import EntitySchema
import Testing

@testable import SchemaDraft

@Suite("Drafting lists and their names")
struct DraftListTests {
    private typealias Document = SmallDocument

    private static let thing =
        "Thing: { type: object, properties: { id: { type: integer }, title: { type: string }, rank: { type: integer } } }"

    private func draft(_ schemas: [String] = [thing], _ paths: [String]) throws -> SchemaDraft {
        try SchemaDraft.of(Document(schemas: schemas, paths: paths).text)
    }

    @Test("The list with the shortest path has the shortest name")
    func names() throws {
        let draft = try draft(
            [Self.thing],
            ["/autocomplete/things: { \(Document.list("Thing")) }", "/things: { \(Document.list("Thing")) }"])
        #expect(draft.paths.first { $0.path == "/things" }?.entity == "things")
    }

    @Test("Of records with their key in another place, the report says how to write it")
    func keysElsewhere() throws {
        let entry =
            "Entry: { type: object, properties: { sys: { type: object, properties: { id: { type: string } } }, title: { type: string } } }"
        let draft = try draft(
            [Self.thing, entry], ["/things: { \(Document.list("Thing")) }", "/entries: { \(Document.list("Entry")) }"])
        let entries = draft.leftOut.first { $0.path == "/entries" }
        #expect(entries?.reason.contains("key: { field: id, from: sys.id }") == true, "\(draft.yaml)")
    }

    @Test("A record is found at a path of its own, outside that of its list")
    func shallow() throws {
        let call = Document.call("put", "Thing", "Thing")
        let things = try draft(
            [Self.thing],
            [
                "/shops/{shopId}/thing: { \(Document.list("Thing")) }",
                "/thing/{thingId}: { \(Document.single("Thing")), \(call), \(Document.deletion) }",
            ]
        ).schema["thing"]
        #expect(things?.push.delete.first?.call == "DELETE /thing/{id}")
    }

    @Test("Of two lists below others whose records are at one path, the first is drafted")
    func sharedPath() throws {
        let call = Document.call("put", "Thing", "Thing")
        let draft = try draft(
            [Self.thing],
            [
                "/products/{productId}/entries: { \(Document.list("Thing")) }",
                "/shelves/{shelfId}/entries: { \(Document.list("Thing")) }",
                "/entry/{entryId}: { \(Document.single("Thing")), \(call) }",
            ])
        #expect(draft.paths.map(\.path) == ["/products/{productId}/entries"], "\(draft.yaml)")
        let other = draft.leftOut.first { $0.path == "/shelves/{shelfId}/entries" }
        #expect(other?.why == .sameRecords && other?.reason.contains("/entry/{entryId}") == true)
    }

    @Test("Paths that end with .json are read as others are")
    func suffix() throws {
        let record = "Call: { type: object, properties: { sid: { type: string }, to: { type: string } } }"
        let draft = try draft(
            [record],
            [
                "/Calls.json: { \(Document.list("Call")) }",
                "/Calls/{Sid}.json: { \(Document.single("Call")), \(Document.deletion) }",
            ])
        #expect(draft.schema["calls"]?.push.delete.first?.call == "DELETE /Calls/{sid}.json")
    }

    @Test("The plural of a list's own name at the start of an id is no verb", arguments: ["checks_add", "Checks.post"])
    func ownName(_ id: String) throws {
        let call = Document.call("post", "Thing", "Thing", "operationId: \(id),")
        let draft = try draft([Self.thing], ["/checks: { \(Document.list("Thing")), \(call) }"])
        #expect(draft.schema["checks"]?.push.create.first?.call == "POST /checks", "\(draft.yaml)")
    }

    @Test("A list of errors is no list, unless the path is that of errors")
    func errors() throws {
        let errors =
            "type: object, properties: { errors: { type: array, items: { $ref: \"#/components/schemas/Thing\" } } }"
        let draft = try draft(
            [Self.thing],
            [
                "/profile: { get: { \(Document.answers(errors)) } }",
                "/errors: { get: { \(Document.answers(errors)) } }",
            ])
        #expect(draft.paths.map(\.path) == ["/errors"])
    }

    @Test("One record that contains a list is no list")
    func record() throws {
        let rules = "rules: { type: array, items: { $ref: \"#/components/schemas/Thing\" } }"
        let texts = ["name", "title", "language", "contact"].map { "\($0): { type: string }" }.joined(separator: ", ")
        let draft = try draft(
            [Self.thing],
            [
                "/things: { \(Document.list("Thing")) }",
                "/instance: { get: { \(Document.answers("type: object, properties: { \(texts), \(rules) }")) } }",
            ])
        #expect(draft.schema.entities.map(\.name) == ["things"])
    }

    @Test("One record with a key and a list in a part of it is no list; a list in an envelope with an id is one")
    func part() throws {
        func answer(_ part: String) -> String {
            let list = "items: { type: array, items: { $ref: \"#/components/schemas/Thing\" } }"
            return Document.answers(
                "type: object, properties: { id: { type: string }, \(part): { type: object, properties: { \(list) } } }"
            )
        }
        let draft = try draft(
            [Self.thing], ["/me: { get: { \(answer("drive")) } }", "/things: { get: { \(answer("data")) } }"])
        #expect(draft.paths.map(\.path) == ["/things"])
        #expect(draft.leftOut.first { $0.path == "/me" }?.reason == "it answers one record, which contains drive.items")
    }

    @Test("A plural number is a count, and what only ends like a key is no reference")
    func references() throws {
        let other =
            "Other: { type: object, properties: { id: { type: integer }, things: { type: integer }, thing_key: { type: integer } } }"
        let others = try draft(
            [Self.thing, other],
            ["/things: { \(Document.list("Thing")) }", "/others: { \(Document.list("Other")) }"]
        ).schema["others"]
        #expect(others?[field: "things"]?.kind == .integer)
        #expect(others?[field: "thing_key"]?.kind == .integer)
    }

    @Test("What each of several alternatives requires is required")
    func alternatives() throws {
        let one =
            "type: object, required: [title, rank], properties: { title: { type: string }, rank: { type: integer } }"
        let two = "type: object, required: [title], properties: { title: { type: string } }"
        let things = try draft(
            [Self.thing, "Body: { oneOf: [{ \(one) }, { \(two) }] }"],
            ["/things: { \(Document.list("Thing")), \(Document.call("post", "Body", "Thing")) }"]
        ).schema["things"]
        #expect(things?[field: "title"]?.required == true)
        #expect(things?[field: "rank"]?.required == false)
    }

    @Test("A field inside attributes that has their name gets another one, as they would hide it")
    func hidden() throws {
        let record =
            "Part: { type: object, properties: { id: { type: string }, attributes: { type: object, properties: { attributes: { type: string }, size: { type: string } } } } }"
        let parts = try draft([record], ["/parts: { \(Document.list("Part")) }"]).schema["parts"]
        #expect(parts?[field: "size"]?.source == "attributes.size")
        #expect(parts?[field: "attributes"] == nil)
        #expect(parts?.fields.contains { $0.source == "attributes.attributes" } == true)
    }

    @Test("Records below another have the key that they have in the list of all of them")
    func sameKey() throws {
        let bill =
            "required: [number], properties: { own_id: { type: string }, order_id: { type: string }, number: { type: string } }"
        let draft = try draft(
            [Self.thing, "Bill: { type: object, \(bill) }"],
            [
                "/bills: { \(Document.list("Bill")) }", "/bills/{own_id}: { \(Document.single("Bill")) }",
                "/orders: { \(Document.list("Thing")) }", "/orders/{id}/bills: { \(Document.list("Bill")) }",
            ])
        #expect(draft.schema.entities.map(\.name) == ["bills", "orders"])
        #expect(draft.leftOut.first?.why == .sameRecords, "\(draft.yaml)")
    }

    @Test("Where the path of a record below another names a third one, the record's own id is its key")
    func ownKey() throws {
        let level =
            "properties: { id: { type: string }, thing_id: { type: integer }, location_id: { type: integer } }"
        let levels = try draft(
            [Self.thing, "Level: { type: object, \(level) }"],
            [
                "/things: { \(Document.list("Thing")) }", "/stock-locations: { \(Document.list("Thing")) }",
                "/things/{id}/levels: { \(Document.list("Level")) }",
                "/things/{id}/levels/{location_id}: { \(Document.single("Level")), \(Document.deletion) }",
            ]
        ).schema["levels"]
        #expect(levels?.key == "id")
        #expect(levels?.push.delete.first?.call == "DELETE /things/{thing_id}/levels/{location_id}")
    }

    @Test("A number in the path of a record below another may repeat there, so the record's own id is its key")
    func counter() throws {
        let issue =
            "Issue: { type: object, properties: { id: { type: integer }, iid: { type: integer }, title: { type: string } } }"
        let call = Document.call("put", "Issue", "Issue")
        let issues = try draft(
            [Self.thing, issue],
            [
                "/things: { \(Document.list("Thing")) }", "/things/{id}/issues: { \(Document.list("Issue")) }",
                "/things/{id}/issues/{issue_iid}: { \(Document.single("Issue")), \(call), \(Document.deletion) }",
            ]
        ).schema["issues"]
        #expect(issues?.key == "id")
        #expect(issues?.push.update.first?.call == "PUT /things/{thing_id}/issues/{iid}")
        #expect(issues?.push.delete.first?.call == "DELETE /things/{thing_id}/issues/{iid}")
    }

    @Test("Records below another that have only such a number are left out")
    func onlyCounter() throws {
        let revision = "Revision: { type: object, properties: { version: { type: integer }, title: { type: string } } }"
        let draft = try draft(
            [Self.thing, revision],
            [
                "/things: { \(Document.list("Thing")) }", "/things/{id}/revisions: { \(Document.list("Revision")) }",
                "/things/{id}/revisions/{version}: { \(Document.single("Revision")), \(Document.deletion) }",
            ])
        #expect(draft.paths.map(\.path) == ["/things"], "\(draft.yaml)")
        #expect(draft.leftOut.first?.why == .noKey)
    }

    @Test("A number by which a record is read without the one above it is its key")
    func ownNumber() throws {
        let bill = "Bill: { type: object, properties: { number: { type: integer }, title: { type: string } } }"
        let draft = try draft(
            [Self.thing, bill],
            [
                "/things: { \(Document.list("Thing")) }", "/things/{id}/bills: { \(Document.list("Bill")) }",
                "/bills/{number}: { \(Document.single("Bill")), \(Document.deletion) }",
            ])
        #expect(draft.leftOut.isEmpty, "\(draft.yaml)")
        #expect(draft.schema["bills"]?.key == "number")
    }

    @Test("The name in the path of a record may begin with the last words of its list")
    func tail() throws {
        let order =
            "Order: { type: object, properties: { token: { type: string }, product_id: { type: string }, rank: { type: integer } } }"
        func orders(_ name: String) throws -> SchemaDraft {
            let single = "/card_bulk_orders/{\(name)}: { \(Document.single("Order")) }"
            return try draft(
                [Self.thing, order],
                ["/things: { \(Document.list("Thing")) }", "/card_bulk_orders: { \(Document.list("Order")) }", single])
        }
        #expect(try orders("bulk_order_token").schema["card_bulk_orders"]?.key == "token")
        // The only member that ends like a key is that of another record.
        #expect(try orders("reference").schema["card_bulk_orders"] == nil)
    }

    @Test("A member that is named after the kind of the records is their key, before one that may repeat")
    func kinds() throws {
        let kind =
            "CustomFieldDto: { type: object, required: [name], properties: { name: { type: string }, customFieldId: { type: string } } }"
        let draft = try draft([kind], ["/extras: { \(Document.list("CustomFieldDto")) }"])
        #expect(draft.schema["extras"]?.key == "customFieldId", "\(draft.yaml)")
    }

    @Test(
        "The key of a record of any kind, beside the name of its kind, identifies nothing",
        arguments: ["object", "payable"])
    func anyKind(_ stem: String) throws {
        func log(_ more: String) -> String {
            "Log: { type: object, properties: { \(stem)Id: { type: string }, text: { type: string }\(more) } }"
        }
        let path = "/logs: { \(Document.list("Log")) }"
        #expect(throws: SchemaDraftError.self) { try draft([log(", \(stem)Type: { type: string }")], [path]) }
        #expect(try draft([log("")], [path]).schema["logs"]?.key == "\(stem)Id")
    }

    @Test("Nor does the key of what a record calls its entity", arguments: ["entity", "parent"])
    func otherRecord(_ stem: String) throws {
        let line = "Line: { type: object, properties: { \(stem)_id: { type: string }, text: { type: string } } }"
        #expect(throws: SchemaDraftError.self) { try draft([line], ["/ledger: { \(Document.list("Line")) }"]) }
    }

    @Test("Unless the records themselves are called so")
    func ownRecord() throws {
        let entity = "Entity: { type: object, properties: { entity_id: { type: string }, text: { type: string } } }"
        let draft = try draft([entity], ["/ledger: { \(Document.list("Entity")) }"])
        #expect(draft.schema["ledger"]?.key == "entity_id", "\(draft.yaml)")
    }

    @Test("A name does not identify records that belong to others and have no path of their own")
    func namesOfOthers() throws {
        let value = "required: [name], properties: { name: { type: string }, value: { type: string }"
        let draft = try draft(
            [
                Self.thing, "Value: { type: object, \(value), thing_id: { type: integer } } }",
                "Word: { type: object, \(value) } }",
            ],
            [
                "/things: { \(Document.list("Thing")) }", "/field-values: { \(Document.list("Value")) }",
                "/words: { \(Document.list("Word")) }",
            ])
        #expect(draft.schema.entities.map(\.name) == ["things", "words"], "\(draft.yaml)")
        #expect(draft.leftOut.first?.why == .noKey)
    }

    @Test("The number of records is no list, though it may come by status")
    func count() throws {
        let counts =
            "statuses: { type: array, items: { $ref: \"#/components/schemas/Thing\" } }, count: { type: integer }"
        let draft = try draft(
            [Self.thing],
            [
                "/things: { \(Document.list("Thing")) }",
                "/things/count: { get: { \(Document.answers("type: object, properties: { \(counts) }")) } }",
                "/stock/count: { \(Document.list("Thing")) }",
            ])
        #expect(draft.paths.map(\.path) == ["/things", "/stock/count"], "\(draft.yaml)")
    }

    @Test("Records that come in groups are found in all of them")
    func groups() throws {
        let things = "things: { type: array, items: { $ref: \"#/components/schemas/Thing\" } }"
        let groups =
            "thing_groups: { type: array, items: { type: object, properties: { id: { type: string }, name: { type: string }, \(things) } } }"
        let draft = try draft(
            [Self.thing], ["/things: { get: { \(Document.answers("type: object, properties: { \(groups) }")) } }"])
        #expect(draft.schema["things"]?.pull?.list.records == Place(paths: ["thing_groups.*.things"]), "\(draft.yaml)")
        #expect(draft.schema["things"]?[field: "rank"] != nil)
    }

    @Test("The lists in one record are none, though it is the only member of the answer")
    func inside() throws {
        let roles = "roles: { type: array, items: { $ref: \"#/components/schemas/Thing\" } }"
        let user = "user: { type: object, properties: { id: { type: integer }, login: { type: string }, \(roles) } }"
        let draft = try draft(
            [Self.thing],
            [
                "/things: { \(Document.list("Thing")) }",
                "/my/account: { get: { \(Document.answers("type: object, properties: { \(user) }")) } }",
            ])
        #expect(draft.paths.map(\.path) == ["/things"], "\(draft.yaml)")
    }

    @Test("Settings with a list in them are no list, unless it is all that they have or is called like the path")
    func settings() throws {
        func get(_ members: String) -> String {
            "get: { \(Document.answers("type: object, properties: { \(members) }")) }"
        }
        func things(_ name: String) -> String {
            "\(name): { type: array, items: { $ref: \"#/components/schemas/Thing\" } }"
        }
        let (theme, total) = ("theme: { type: string }", "total: { type: integer }")
        let draft = try draft(
            [Self.thing],
            [
                "/settings/media: { \(get("\(theme), \(things("libraries"))")) }",
                "/config: { \(get("auth: { type: object, properties: { \(theme), \(things("providers")) } }")) }",
                "/info: { \(get("\(total), \(things("sections"))")) }",
                "/settings/hooks: { \(get("\(theme), \(things("hooks"))")) }",
                "/accounts/{account_id}/shelves: { \(get("\(theme), \(things("boards"))")) }",
            ])
        #expect(
            draft.paths.map(\.path) == ["/info", "/settings/hooks", "/accounts/{account_id}/shelves"], "\(draft.yaml)")
        #expect(draft.leftOut.allSatisfy { $0.why == .noList })
    }

    @Test("What stands beside the record that the path names is no list of such records")
    func beside() throws {
        let user = "user: { type: object, properties: { id: { type: integer }, login: { type: string } } }"
        let codes = "codes: { type: array, items: { $ref: \"#/components/schemas/Thing\" } }"
        let draft = try draft(
            [Self.thing],
            [
                "/things: { \(Document.list("Thing")) }",
                "/user: { get: { \(Document.answers("type: object, properties: { \(user), \(codes) }")) } }",
            ])
        #expect(draft.paths.map(\.path) == ["/things"], "\(draft.yaml)")
    }

    @Test("A record in an envelope is found at a path of its own, also with .json, unless two lists could have it")
    func wrapped() throws {
        let single =
            "get: { \(Document.answers("type: object, properties: { thing: { $ref: \"#/components/schemas/Thing\" } }")) }"
        let paths = [
            "/shops: { \(Document.list("Thing")) }", "/shops/{shop_id}/things.json: { \(Document.list("Thing")) }",
            "/things/{thing_id}.json: { \(single), \(Document.deletion) }",
        ]
        let things = try draft([Self.thing], paths).schema["things"]
        #expect(things?.push.delete.first?.call == "DELETE /things/{id}.json")
        let two = try draft([Self.thing], paths + ["/users/{user_id}/things.json: { \(Document.list("Thing")) }"])
        #expect(two.schema["things"]?.push.delete.isEmpty == true, "\(two.yaml)")
    }

    @Test("A name in a path that only narrows the list down to several records is no key of one")
    func narrowed() throws {
        let price =
            "Price: { type: object, properties: { thing_id: { type: integer }, shop_id: { type: integer }, amount: { type: integer } } }"
        func answer(_ shape: String) -> String { Document.answers("type: object, properties: { data: { \(shape) } }") }
        let prices = "get: { \(answer("type: array, items: { $ref: \"#/components/schemas/Price\" }")) }"
        let single = "get: { \(answer("$ref: \"#/components/schemas/Price\"")) }"
        let draft = try draft(
            [Self.thing, price],
            [
                "/shops: { \(Document.list("Thing")) }", "/shops/{shop_id}/prices: { \(prices) }",
                "/shops/{shop_id}/prices/{thing_id}: { \(prices) }",
                "/shops/{shop_id}/prices/{thing_id}/{currency}: { \(single), \(Document.deletion) }",
            ])
        #expect(draft.paths.map(\.path) == ["/shops"], "\(draft.yaml)")
        #expect(draft.leftOut.first?.why == .noKey)
    }
}
