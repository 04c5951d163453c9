import EntitySchema
import JSONText
import Testing

@testable import SchemaDraft

@Suite("Drafting updates")
struct DraftUpdateTests {
    private typealias Document = SmallDocument

    private static let members = "id: { type: integer }, title: { type: string }, note: { type: string }"

    /// Things with these members, and a call that updates one with this body.
    private func draft(
        _ method: String, _ body: String, said: String = "", more: String = ""
    ) throws -> SchemaDraft {
        try SchemaDraft.of(
            Document(
                schemas: [
                    "Thing: { type: object, properties: { \(Self.members)\(more) } }",
                    "Body: { type: object, \(body) }",
                ],
                paths: [
                    "/things: { \(Document.list("Thing")) }",
                    "/things/{id}: { \(Document.single("Thing")), \(Document.call(method, "Body", "Thing", said)) }",
                ]
            ).text)
    }

    // MARK: The answer

    @Test("An answer with the record above, or with what is around the record, does not show the record")
    func otherRecord() throws {
        func parts(_ answer: String) throws -> String {
            let part = "Part: { type: object, properties: { \(Self.members), rank: { type: integer } } }"
            let list = "/things/{id}/parts: { \(Document.list("Part")), \(Document.call("post", "Part", "Answer")) }"
            let shown = "Answer: { type: object, properties: { \(answer) } }"
            return try SchemaDraft.of(
                Document(
                    schemas: ["Thing: { type: object, properties: { \(Self.members) } }", part, shown],
                    paths: ["/things: { \(Document.list("Thing")) }", list]
                ).text
            ).yaml
        }
        let other = "properties: { id: { type: integer }, address: { type: string }, limit: { type: integer } }"
        #expect(try !parts("thing: { $ref: \"#/components/schemas/Thing\" }").contains("record: thing"))
        #expect(try !parts("settings: { type: object, \(other) }").contains("record: settings"))
        #expect(try parts("made: { $ref: \"#/components/schemas/Part\" }").contains("record: made"))
    }

    @Test(
        "An object that an update takes with none of the members that the record has is not sent",
        arguments: [("street: { type: string }", false), ("street: { type: string }, URL: { type: string }", true)])
    func otherObject(_ members: String, _ isSent: Bool) throws {
        let shown = ", place: { type: object, properties: { url: { type: string } } }"
        let taken = "place: { type: object, properties: { \(members) } }"
        let draft = try draft("put", "properties: { title: { type: string }, \(taken) }", more: shown)
        let update = try #require(draft.schema["things"]?.push.update.first, "\(draft.yaml)")
        #expect(update.sendable == (isSent ? ["title", "place"] : ["title"]))
        #expect(draft.yaml.contains("it also takes place") == !isSent)
    }

    // MARK: What else it does

    @Test(
        "A call at the path of a record that is described as doing something else than changing it is left to a person",
        arguments: [
            ("put", "summary: Stop the thing, operationId: stopThing,", true),
            ("patch", "summary: Completes a thing,", true),
            ("put", "operationId: sendThing,", true),
            ("put", "summary: \"Deletes a thing, by its status\", operationId: updateThing,", true),
            ("patch", "summary: Stop or update the thing,", false), ("put", "summary: Change the thing,", false),
            ("patch", "summary: Credit note of the thing,", false), ("put", "", false),
            ("put", "summary: Edit the thing, description: Edits and sends the thing,", true),
            ("put", "summary: Edit the thing and send back what it has,", false),
            ("put", "summary: Edit the thing, description: Edits it. Stores and sends events,", false),
        ])
    func otherDeed(_ method: String, _ said: String, _ isOther: Bool) throws {
        let draft = try draft(method, "properties: { title: { type: string }, note: { type: string } }", said: said)
        #expect(draft.schema["things"]?.push.update.isEmpty == isOther, "\(draft.yaml)")
        #expect(draft.todos.contains { $0.contains("push.update") && $0.contains("described as a call to") } == isOther)
    }

    // MARK: The key

    @Test("A PUT whose body has the key sends it, and takes no other value for it")
    func key() throws {
        let draft = try draft("put", "properties: { \(Self.members) }")
        let update = try #require(draft.schema["things"]?.push.update.first)
        #expect(update.sendable == ["title", "note"] && update.sendsRecord)
        #expect(update.envelope?.enclosing(.object(["title": .string("new")]))["id"] != nil, "\(draft.yaml)")
    }

    @Test("The key stands inside the member that has the record")
    func keyInside() throws {
        let draft = try draft("put", "properties: { thing: { type: object, properties: { \(Self.members) } } }")
        let update = try #require(draft.schema["things"]?.push.update.first)
        let body = update.envelope?.enclosing(.object(["title": .string("new")]))
        #expect(body?["thing"]?["title"] == .string("new"), "\(draft.yaml)")
        #expect(body?["thing"]?["id"] != nil)
    }

    @Test(
        "A PATCH sends the key only if its body must have it",
        arguments: [("", false), ("required: [id], ", true)])
    func keyOfPatch(_ required: String, _ isSent: Bool) throws {
        let draft = try draft("patch", "\(required)properties: { \(Self.members) }")
        #expect((draft.schema["things"]?.push.update.first?.envelope != nil) == isSent, "\(draft.yaml)")
    }

    @Test("A PATCH that must have a member gets the whole record, unless that has parts which may be made twice")
    func neededByPatch() throws {
        let needed = try draft("patch", "required: [title], properties: { \(Self.members) }")
        let update = try #require(needed.schema["things"]?.push.update.first, "\(needed.yaml)")
        #expect(update.call == "PATCH /things/{id}" && update.sendsRecord)
        #expect(needed.yaml.contains("its body needs title, so an edit sends all fields"))
        let lines = ", lines: { type: array, items: { type: object, properties: { text: { type: string } } } }"
        let parts = try draft("patch", "required: [title], properties: { \(Self.members)\(lines) }", more: lines)
        #expect(parts.schema["things"]?.push.update.first?.sendsRecord == false, "\(parts.yaml)")
        #expect(parts.yaml.contains("check that this is accepted"))
    }

    @Test("A PATCH that takes the record as it is shown, or says that it is partial, gets what was edited")
    func notNeededByPatch() throws {
        let said = "description: \"Any unspecified fields will remain unchanged.\","
        let partial = try draft("patch", "required: [title], properties: { \(Self.members) }", said: said)
        #expect(partial.schema["things"]?.push.update.first?.sendsRecord == false, "\(partial.yaml)")
        let record = "/things/{id}: { \(Document.single("Thing")), \(Document.call("patch", "Thing", "Thing")) }"
        let shown = try SchemaDraft.of(
            Document(
                schemas: ["Thing: { type: object, required: [title], properties: { \(Self.members) } }"],
                paths: ["/things: { \(Document.list("Thing")) }", record]
            ).text)
        #expect(shown.schema["things"]?.push.update.first?.sendsRecord == false, "\(shown.yaml)")
    }

    @Test("A key that the body only shows is not sent")
    func readOnlyKey() throws {
        let draft = try draft(
            "put", "properties: { id: { type: integer, readOnly: true }, title: { type: string } }")
        #expect(draft.schema["things"]?.push.update.first?.envelope == nil)
    }

    @Test("An update whose body needs what no field sends is left to a person")
    func unsendable() throws {
        let actions = "actions: { type: array, items: { type: object, properties: { action: { type: string } } } }"
        let body = "properties: { title: { type: string }, \(actions) }"
        let needed = try draft("put", "required: [title, actions], \(body)")
        #expect(needed.schema["things"]?.push.update.isEmpty == true, "\(needed.yaml)")
        #expect(needed.todos.contains { $0.contains("its body needs actions") })
        #expect(try draft("put", "required: [title], \(body)").schema["things"]?.push.update.count == 1)
    }

    // MARK: Parts of a record

    @Test(
        "A PUT that is described as changing only what it names sends that",
        arguments: [
            ("Any unspecified fields will remain unchanged.", true),
            ("Only the fields provided in the data block will be updated.", true),
            ("This endpoint supports sparse updates.", true), ("This call does not support partial updates.", false),
            ("If note is omitted, the existing note is left unchanged.", false), ("Updates a thing.", false),
        ])
    func partial(_ description: String, _ isPartial: Bool) throws {
        let draft = try draft(
            "put", "properties: { title: { type: string }, note: { type: string } }",
            said: "description: \"\(description)\",")
        #expect(draft.schema["things"]?.push.update.first?.sendsRecord == !isPartial, "\(draft.yaml)")
    }

    @Test("A POST that takes what the document calls the record replaces it, unless it is described as partial")
    func wholePost() throws {
        func update(_ body: String, _ said: String = "") throws -> PushRoute? {
            let words = "summary: Update a thing, description: \"\(said)\","
            let draft = try SchemaDraft.of(
                Document(
                    schemas: [
                        "Thing: { type: object, properties: { \(Self.members) } }",
                        "Body: { type: object, properties: { title: { type: string } } }",
                    ],
                    paths: [
                        "/things: { \(Document.list("Thing")) }",
                        "/things/{id}: { \(Document.single("Thing")), \(Document.call("post", body, "Thing", words)) }",
                    ]
                ).text)
            return draft.schema["things"]?.push.update.first
        }
        let whole = try #require(try update("Thing"))
        #expect(whole.call == "POST /things/{id}" && whole.sendsRecord)
        #expect(try update("Body")?.sendsRecord == false)
        #expect(try update("Thing", "Any unspecified fields will remain unchanged.")?.sendsRecord == false)
    }

    @Test("A PUT that needs a member or a version sends the whole record, even if it is described as partial")
    func needed() throws {
        let said = "description: \"Unspecified fields remain unchanged.\","
        let needed = try draft("put", "required: [title], properties: { title: { type: string } }", said: said)
        #expect(needed.schema["things"]?.push.update.first?.sendsRecord == true)
        let versioned = try draft(
            "put", "properties: { title: { type: string }, version: { type: integer } }", said: said,
            more: ", version: { type: integer }")
        #expect(versioned.schema["things"]?.push.update.first?.sendsRecord == true)
    }

    @Test("What a PUT takes and no field sends is named, because an edit may clear it")
    func cleared() throws {
        let body = "properties: { title: { type: string }, colour: { type: string } }"
        let said = "it also takes colour"
        #expect(try draft("put", body).yaml.contains(said))
        #expect(try !draft("patch", body).yaml.contains(said))
    }

    // MARK: Keys of what is shown whole

    @Test("Where a record shows others whole and the body takes their ids, the ids are sent")
    func shownWhole() throws {
        let other = "type: object, properties: { id: { type: string }, name: { type: string } }"
        let draft = try draft(
            "put",
            "properties: { title: { type: string }, placeId: { type: string }, tagIds: { type: array, items: { type: string } } }",
            more: ", place: { \(other) }, tags: { type: array, items: { \(other) } }")
        let things = try #require(draft.schema["things"])
        #expect(things.push.update.first?.sendable == ["title", "place_id", "tag_ids"], "\(draft.yaml)")
        #expect(draft.yaml.contains("placeId: place_id, tagIds: tag_ids"))
        #expect(!draft.yaml.contains("it also takes"))
        #expect(things[field: "tag_ids"]?.kind == .list)
    }

    @Test(
        "Keys may also be sent under the name of what the record shows whole; texts could be names and are not sent",
        arguments: [("integer", ["title", "tag_ids"]), ("string", ["title"])])
    func sameName(_ type: String, _ sent: [String]) throws {
        let tag = "type: object, properties: { id: { type: \(type) }, name: { type: string } }"
        let draft = try draft(
            "put", "properties: { title: { type: string }, tags: { type: array, items: { type: \(type) } } }",
            more: ", tags: { type: array, items: { \(tag) } }")
        #expect(draft.schema["things"]?.push.update.first?.sendable == sent, "\(draft.yaml)")
        #expect(draft.yaml.contains("tags: tag_ids") == (sent.count == 2))
        #expect(draft.yaml.contains("it also takes tags") == (sent.count == 1))
    }

    @Test("A reference to what a record shows whole is sent under the body's name for its id")
    func shownReference() throws {
        let draft = try SchemaDraft.of(
            Document(
                schemas: [
                    "Milestone: { type: object, properties: { id: { type: integer } } }",
                    "Thing: { type: object, properties: { \(Self.members), milestone: { $ref: \"#/components/schemas/Milestone\" } } }",
                    "Body: { type: object, properties: { title: { type: string }, milestone_id: { type: integer } } }",
                ],
                paths: [
                    "/milestones: { \(Document.list("Milestone")) }",
                    "/things: { \(Document.list("Thing")), \(Document.call("post", "Body", "Thing")) }",
                ]
            ).text)
        #expect(draft.schema["things"]?.push.create.first?.sendable == ["title", "milestone_id"], "\(draft.yaml)")
        #expect(draft.schema["things"]?[field: "milestone_id"]?.kind == .reference(to: "milestones"))
    }

    // MARK: Several calls

    @Test(
        "Of a PATCH and a PUT, the PUT is taken only if it sends all of the other's and as much again",
        arguments: [("note: { type: string }", "PUT"), ("\(Self.members), rank: { type: integer }", "PATCH")])
    func several(_ patched: String, _ method: String) throws {
        let update = try SchemaDraft.of(
            Document(
                schemas: [
                    "Thing: { type: object, properties: { \(Self.members), rank: { type: integer } } }",
                    "Part: { type: object, properties: { \(patched) } }",
                ],
                paths: [
                    "/things: { \(Document.list("Thing")) }",
                    "/things/{id}: { \(Document.call("put", "Thing", "Thing")), \(Document.call("patch", "Part", "Thing")) }",
                ]
            ).text
        ).schema["things"]?.push.update.first
        #expect(update?.call == "\(method) /things/{id}")
    }

    @Test("Where each changes what the other does not, both are drafted")
    func disjoint() throws {
        let text = "{ type: string }"
        let calls = [Document.call("put", "Title", "Thing"), Document.call("patch", "Note", "Thing")]
        let draft = try SchemaDraft.of(
            Document(
                schemas: [
                    "Thing: { type: object, properties: { \(Self.members) } }",
                    "Title: { type: object, properties: { title: \(text) } }",
                    "Note: { type: object, properties: { note: \(text) } }",
                ],
                paths: [
                    "/things: { \(Document.list("Thing")) }", "/things/{id}: { \(calls.joined(separator: ", ")) }",
                ]
            ).text)
        let updates = draft.schema["things"]?.push.update.map(\.call)
        #expect(updates == ["PATCH /things/{id}", "PUT /things/{id}"], "\(draft.yaml)")
    }
}
