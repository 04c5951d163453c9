import EntitySchema
import Testing

@testable import SchemaDraft

@Suite("Drafting creations below a record of another list")
struct DraftCreationTests {
    private typealias Document = SmallDocument

    private static let project =
        "Project: { type: object, properties: { id: { type: integer }, name: { type: string } } }"

    private static func task(_ more: String) -> String {
        "Task: { type: object, properties: { id: { type: integer }, title: { type: string }, done: { type: boolean }, \(more) } }"
    }

    private static let byKey = task("project_id: { type: integer }")
    private static let post = Document.call("post", "Task", "Task")

    /// The lists `/projects` and `/tasks`, neither of which creates anything, and more paths.
    private func draft(_ paths: [String], _ task: String = byKey) throws -> SchemaDraft {
        let lists = ["/projects: { \(Document.list("Project")) }", "/tasks: { \(Document.list("Task")) }"]
        return try SchemaDraft.of(Document(schemas: [Self.project, task], paths: lists + paths).text)
    }

    @Test(
        "A record that is created only below another one is created there, with the key that its reference has",
        arguments: ["project_id", "id", "project"])
    func below(_ parameter: String) throws {
        let draft = try draft(["/projects/{\(parameter)}/tasks: { \(Document.list("Task")), \(Self.post) }"])
        let tasks = draft.schema["tasks"]
        #expect(tasks?.push.create.first?.call == "POST /projects/{project_id}/tasks", "\(draft.yaml)")
        #expect(tasks?[field: "project_id"]?.required == true)
        #expect(draft.yaml.contains("look_up: { match: [project_id, title] }"))
        #expect(draft.paths.map(\.path) == ["/projects", "/tasks"])
    }

    @Test("Another record of the kind above, by a longer name, is not the one above")
    func otherAbove() throws {
        let task = Self.task("cloud_project_id: { type: integer }")
        let draft = try SchemaDraft.of(
            Document(
                schemas: [Self.project, task],
                paths: [
                    "/projects: { \(Document.list("Project")) }",
                    "/projects/{id}/tasks: { \(Document.list("Task")), \(Self.post) }",
                    "/projects/{id}/tasks/{task_id}: { \(Document.single("Task")), \(Document.deletion) }",
                ]
            ).text)
        let tasks = draft.schema["tasks"]
        #expect(tasks?.push.create.first?.call == "POST /projects/{project_id}/tasks", "\(draft.yaml)")
        #expect(tasks?.push.delete.first?.call == "DELETE /projects/{project_id}/tasks/{id}")
        #expect(tasks?[field: "cloud_project_id"]?.required == false)
    }

    @Test("The record may show the other one whole, and answer in an envelope")
    func shown() throws {
        let task = Self.task("project: { type: object, properties: { id: { type: integer } } }")
        let answer = Document.answers("type: object, properties: { task: { $ref: \"#/components/schemas/Task\" } }")
        let body = "requestBody: { content: { application/json: { schema: { $ref: \"#/components/schemas/Task\" } } } }"
        let draft = try draft(["/projects/{id}/tasks: { post: { \(body), \(answer) } }"], task)
        #expect(draft.schema["tasks"]?.push.create.first?.call == "POST /projects/{project_id}/tasks", "\(draft.yaml)")
        #expect(draft.schema["tasks"]?.push.create.first?.sendable?.contains("project") == true)
    }

    @Test("A creation may answer the record inside the member that has the records of the list")
    func insideEnvelope() throws {
        let task = "{ $ref: \"#/components/schemas/Task\" }"
        let list = Document.answers("type: object, properties: { payload: { type: array, items: \(task) } }")
        let inbox = "{ type: object, properties: { id: { type: integer }, source: { type: string } } }"
        let inner = "payload: { type: object, properties: { inbox: \(inbox), task: \(task) } }"
        let answer = Document.answers("type: object, properties: { \(inner) }")
        let body = "requestBody: { content: { application/json: { schema: \(task) } } }"
        let path = "/tasks: { get: { \(list) }, post: { \(body), \(answer) } }"
        let yaml = try SchemaDraft.of(Document(schemas: [Self.byKey], paths: [path]).text).yaml
        #expect(yaml.contains("record: payload.task"), "\(yaml)")
    }

    @Test("Without a reference, or with two such creations, the report says what is missing")
    func unclear() throws {
        let none = try draft(["/projects/{id}/tasks: { \(Self.post) }"], Self.task("rank: { type: integer }"))
        #expect(none.schema["tasks"]?.push.create.isEmpty == true)
        #expect(none.todos.contains { $0.contains("POST /projects/{id}/tasks") && $0.contains("{id}") })
        let two = try draft(
            [
                "/sections: { \(Document.list("Project")) }", "/sections/{section_id}/tasks: { \(Self.post) }",
                "/projects/{project_id}/tasks: { \(Self.post) }",
            ], Self.task("project_id: { type: integer }, section_id: { type: integer }"))
        #expect(two.schema["tasks"]?.push.create.isEmpty == true)
        #expect(two.todos.contains { $0.contains("POST /sections/{section_id}/tasks") })
    }

    @Test("A creation at the list itself, of another record, or below a record of the same list is no such one")
    func elsewhere() throws {
        let own = try SchemaDraft.of(
            Document(
                schemas: [Self.project, Self.byKey],
                paths: [
                    "/projects: { \(Document.list("Project")) }", "/tasks: { \(Document.list("Task")), \(Self.post) }",
                    "/projects/{project_id}/tasks: { \(Self.post) }",
                ]
            ).text)
        #expect(own.schema["tasks"]?.push.create.first?.call == "POST /tasks")
        let other = try draft([
            "/tasks/{id}/tasks: { \(Self.post) }",
            "/projects/{id}/tasks: { \(Document.call("post", "Task", "Project")) }",
        ])
        #expect(other.schema["tasks"]?.push.create.isEmpty == true)
        #expect(!other.yaml.contains("push.create"), "\(other.yaml)")
    }

    @Test("A list below the other records that shows the same ones gives its creation to the whole list")
    func drafted() throws {
        let draft = try draft([
            "/projects/{project_id}/tasks: { \(Document.list("Task")), \(Self.post) }",
            "/projects/{project_id}/tasks/{id}: { \(Document.single("Task")), \(Document.deletion) }",
        ])
        #expect(draft.paths.map(\.path) == ["/projects", "/tasks"], "\(draft.yaml)")
        let push = draft.schema["tasks"]?.push
        #expect(push?.create.first?.call == "POST /projects/{project_id}/tasks")
        #expect(push?.delete.first?.call == "DELETE /projects/{project_id}/tasks/{id}")
    }

    @Test("A lost creation is not looked up by what it refers to alone, as many records refer to the same")
    func references() throws {
        let body =
            "Body: { type: object, required: [project_id], properties: { project_id: { type: integer }, title: { type: string } } }"
        let draft = try Self.draft(creatingBy: body)
        #expect(draft.yaml.contains("look_up: { match: [project_id, title] }"), "\(draft.yaml)")
    }

    @Test("A lost creation is looked up by nothing that most records share, and is then left to a person")
    func shared() throws {
        func things(_ body: String, _ more: String = "") throws -> SchemaDraft {
            let thing = "Thing: { type: object, properties: { id: { type: integer }, \(body)\(more) } }"
            let paths = [
                "/projects: { \(Document.list("Project")) }",
                "/things: { \(Document.list("Thing")), \(Document.call("post", "Body", "Thing")) }",
            ]
            let sent = "Body: { type: object, required: [kind], properties: { \(body)\(more) } }"
            return try SchemaDraft.of(Document(schemas: [Self.project, thing, sent], paths: paths).text)
        }
        for alone in ["kind: { type: string }", "kind: { type: string, enum: [a, b] }, project_id: { type: integer }"] {
            let draft = try things(alone)
            #expect(draft.schema["things"]?.push.create.first?.lookUp == nil, "\(draft.yaml)")
            #expect(draft.todos.contains { $0.contains("push.create.look_up") })
        }
        let told = try things("kind: { type: string }", ", email: { type: string }")
        #expect(told.yaml.contains("look_up: { match: [kind, email] }"), "\(told.yaml)")
    }

    @Test("A lost creation is looked up by what tells it apart, also if it is the fourth field that a creation needs")
    func fourth() throws {
        let members = "kind: { type: string }, role: { type: string }, level: { type: string }, label: { type: string }"
        let thing = "Thing: { type: object, properties: { id: { type: integer }, \(members) } }"
        let sent = "Body: { type: object, required: [kind, role, level, label], properties: { \(members) } }"
        let path = "/things: { \(Document.list("Thing")), \(Document.call("post", "Body", "Thing")) }"
        let draft = try SchemaDraft.of(Document(schemas: [thing, sent], paths: [path]).text)
        #expect(draft.yaml.contains("look_up: { match: [kind, role, level, label] }"), "\(draft.yaml)")
    }

    /// A list of things with these members, and a creation that sends them.
    private func things(_ required: String, _ members: String) throws -> SchemaDraft {
        let thing = "Thing: { type: object, properties: { id: { type: integer }, \(members) } }"
        let sent = "Body: { type: object, required: [\(required)], properties: { \(members) } }"
        let path = "/things: { \(Document.list("Thing")), \(Document.call("post", "Body", "Thing")) }"
        return try SchemaDraft.of(Document(schemas: [thing, sent], paths: [path]).text)
    }

    @Test("A lost creation is not looked up by who made the record, nor by the key of another record alone")
    func others() throws {
        let text = "{ type: string }"
        let audited = try things(
            "createdBy, lastUpdatedBy, label", "createdBy: \(text), lastUpdatedBy: \(text), label: \(text)")
        #expect(audited.yaml.contains("look_up: { match: [label] }"), "\(audited.yaml)")
        let onlyAudited = try things("createdBy", "createdBy: \(text), done: { type: boolean }")
        #expect(onlyAudited.schema["things"]?.push.create.first?.lookUp == nil, "\(onlyAudited.yaml)")
        let unlisted = try things("po_id", "po_id: \(text), quantity: { type: number }")
        #expect(unlisted.schema["things"]?.push.create.first?.lookUp == nil, "\(unlisted.yaml)")
        #expect(unlisted.todos.contains { $0.contains("push.create.look_up") })
        for own in ["external_id", "thing_id"] {
            let told = try things(own, "\(own): \(text), quantity: { type: number }")
            #expect(told.yaml.contains("look_up: { match: [\(own)] }"), "\(told.yaml)")
        }
        let both = try things("po_id, item_id", "po_id: \(text), item_id: \(text)")
        #expect(both.yaml.contains("look_up: { match: [po_id, item_id] }"), "\(both.yaml)")
    }

    @Test("A lost creation is looked up by an amount that it needs, and not by what most records lack or share")
    func amounts() throws {
        let text = "{ type: string }"
        let paid = try things("account_uid, amount", "account_uid: \(text), amount: { type: number }, tag: \(text)")
        #expect(paid.yaml.contains("look_up: { match: [account_uid, amount, tag] }"), "\(paid.yaml)")
        let titled = try things("", "payment_method_title: \(text), note: \(text), message: \(text)")
        #expect(titled.schema["things"]?.push.create.first?.lookUp == nil, "\(titled.yaml)")
        let numbered = try things("", "size: \(text), colour: \(text), order_no: \(text)")
        #expect(numbered.yaml.contains("look_up: { match: [order_no] }"), "\(numbered.yaml)")
        let noted = try things("note", "note: \(text)")
        #expect(noted.yaml.contains("look_up: { match: [note] }"), "\(noted.yaml)")
    }

    @Test("A lost creation with a key of its own is looked up by the key, in the list if no call reads one record")
    func ownKey() throws {
        let tag =
            "Tag: { type: object, required: [name], properties: { name: { type: string }, color: { type: string } } }"
        let draft = try SchemaDraft.of(
            Document(
                schemas: [tag],
                paths: [
                    "/tags: { \(Document.list("Tag")), \(Document.call("post", "Tag", "Tag")) }",
                    "/tags/{name}: { \(Document.deletion) }",
                ]
            ).text)
        #expect(draft.yaml.contains("look_up: { match: [name] }"), "\(draft.yaml)")
    }

    @Test("A lost creation is not looked up by a key that each record shows, as the upstream may make another")
    func replacedKey() throws {
        let object =
            "type: object, required: [id, title], properties: { id: { type: string }, title: { type: string } }"
        let schemas = ["Thing: { \(object) }", "NewThing: { \(object) }"]
        let single = "/things/{id}: { \(Document.single("Thing")) }"
        func things(_ paths: [String]) throws -> SchemaDraft {
            try SchemaDraft.of(Document(schemas: schemas, paths: paths).text)
        }
        func list(_ body: String) -> String {
            "/things: { \(Document.list("Thing")), \(Document.call("post", body, "Thing")) }"
        }
        let inline = "requestBody: { content: { application/json: { schema: { \(object) } } } }"
        let inlineList = "get: { \(Document.answers("type: array, items: { \(object) }")) }"
        let inlinePost = "post: { \(inline), \(Document.answers(object)) }"
        for paths in [[list("Thing"), single], ["/things: { \(inlineList), \(inlinePost) }", single]] {
            let draft = try things(paths)
            #expect(draft.yaml.contains("look_up: { match: [title] }"), "\(draft.yaml)")
            #expect(draft.schema["things"]?.push.create.first?.sendable?.contains("id") == true)
            // That each record has a title does not say that a creation needs one.
            #expect(draft.schema["things"]?[field: "title"]?.required == false)
        }
        let own = try things([list("NewThing"), single])
        #expect(own.yaml.contains("look_up: key"), "\(own.yaml)")
    }

    @Test("A body with a list of such records creates several, and is left to a person")
    func several() throws {
        let rows =
            "type: array, items: { type: object, properties: { title: { type: string }, done: { type: boolean } } }"
        let body =
            "Body: { type: object, required: [project_id, tasks], properties: { project_id: { type: integer }, tasks: { \(rows) } } }"
        let draft = try Self.draft(creatingBy: body)
        #expect(draft.schema["tasks"]?.push.create.isEmpty == true, "\(draft.yaml)")
        #expect(draft.todos.contains { $0.contains("needs project_id beside tasks") })
    }

    /// Of tasks that belong to projects and are created with this `Body`.
    private static func draft(creatingBy body: String) throws -> SchemaDraft {
        try SchemaDraft.of(
            Document(
                schemas: [project, byKey, body],
                paths: [
                    "/projects: { \(Document.list("Project")) }",
                    "/tasks: { \(Document.list("Task")), \(Document.call("post", "Body", "Task")) }",
                ]
            ).text)
    }
}
