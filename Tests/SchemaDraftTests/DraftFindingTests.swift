import EntitySchema
import Testing

@testable import SchemaDraft

@Suite("Drafting lists whose path says that they find records")
struct DraftFindingTests {
    private typealias Document = SmallDocument

    private static let state = "state: { type: string, enum: [open, due] }"
    private static let schemas = [
        "Loan: { type: object, properties: { id: { type: integer }, title: { type: string }, \(state) } }",
        "Fine: { type: object, properties: { id: { type: integer }, amount: { type: number }, reason: { type: string } } }",
    ]
    private static let record =
        "/loan/{loanId}: { \(Document.single("Loan")), \(Document.call("put", "Loan", "Loan")), \(Document.deletion) }"
    private static let creation = "/loan: { \(Document.call("post", "Loan", "Loan")) }"

    private func draft(_ paths: [String]) throws -> SchemaDraft {
        try SchemaDraft.of(Document(schemas: Self.schemas, paths: paths).text)
    }

    private static func parameter(_ name: String, _ schema: String, _ more: String = "") -> String {
        "parameters: [{ name: \(name), in: query, \(more) schema: { \(schema) } }],"
    }

    private static let states = "type: array, items: { type: string, enum: [open, due] }"

    private func query(_ draft: SchemaDraft, _ entity: String) -> [String] {
        (draft.schema[entity]?.pull?.query ?? []).map { "\($0.name)=\($0.value)" }
    }

    @Test("A document whose lists are asked for by POST says how to write one")
    func posted() throws {
        let answer = Document.answers("type: array, items: { $ref: \"#/components/schemas/Loan\" }")
        let error = #expect(throws: SchemaDraftError.self) {
            try draft(["/loans.list: { post: { summary: List loans, \(answer) } }"])
        }
        #expect(error?.message.contains("/loans.list: its list is asked for by POST") == true)
    }

    @Test(
        "Beside other lists, only one of other records with a key says so",
        arguments: [("Fine", true), ("Loan", false)])
    func postedBeside(_ kind: String, _ isNamed: Bool) throws {
        let answer = Document.answers("type: array, items: { $ref: \"#/components/schemas/\(kind)\" }")
        let search = "/search: { post: { summary: Search for something, \(answer) } }"
        let draft = try draft(["/loans: { \(Document.list("Loan")) }", search])
        #expect(draft.paths.map(\.path) == ["/loans"])
        #expect(draft.leftOut.contains { $0.why == .posted } == isNamed, "\(draft.yaml)")
    }

    // MARK: The parent

    @Test(
        "A list that finds the records of the path before it is called like them and has their calls",
        arguments: ["search", "findAll", "find", "listLoans", "advanced-search", "query"])
    func parent(_ name: String) throws {
        let draft = try draft([
            "/loan/\(name): { \(Document.list("Loan")) }", Self.creation, Self.record,
        ])
        let loans = try #require(draft.schema["loans"], "\(draft.yaml)")
        #expect(draft.paths.map(\.path) == ["/loan/\(name)"])
        #expect(loans.pull?.single.path.source == "/loan/{id}")
        #expect(loans.push.create.first?.call == "POST /loan")
        #expect(loans.push.update.first?.call == "PUT /loan/{id}")
        #expect(loans.push.delete.first?.call == "DELETE /loan/{id}")
    }

    @Test("The creation of such a record is enough")
    func onlyCreation() throws {
        let draft = try draft(["/loan/search: { \(Document.list("Loan")) }", Self.creation])
        #expect(draft.schema["loans"]?.push.create.first?.call == "POST /loan", "\(draft.yaml)")
    }

    @Test("A list of other records, or of some that its name tells, has not the calls of the path before it")
    func others() throws {
        let draft = try draft([
            "/loan/searchFines: { \(Document.list("Fine")) }", "/loan/getOverdue: { \(Document.list("Loan")) }",
            "/loan/query: { \(Document.list("Fine")) }", Self.creation, Self.record,
        ])
        #expect(draft.schema["loans"] == nil, "\(draft.yaml)")
        #expect(draft.schema.entities.allSatisfy { $0.push.create.isEmpty && $0.push.delete.isEmpty })
    }

    @Test("What finds some of the records that the path before it lists is left out")
    func listedThere() throws {
        let draft = try draft([
            "/loans: { \(Document.list("Loan")) }",
            "/loans/findByState: { \(Document.list("Loan", Self.parameter("state", Self.states))) }",
        ])
        #expect(draft.paths.map(\.path) == ["/loans"], "\(draft.yaml)")
        #expect(draft.leftOut.map(\.why) == [.sameRecords])
    }

    // MARK: Parameters

    @Test(
        "All values of a parameter are sent, in the way that the document says",
        arguments: [
            ("", ["state=open", "state=due"]), ("explode: true,", ["state=open", "state=due"]),
            ("explode: false,", ["state=open,due"]), ("style: pipeDelimited, explode: false,", ["state=open|due"]),
            ("description: \"States, comma-separated\",", ["state=open,due"]),
        ])
    func values(_ form: String, _ sent: [String]) throws {
        for required in ["required: true,", ""] {
            let list = Document.list("Loan", Self.parameter("state", Self.states, form + required))
            let draft = try draft(["/loan/findByState: { \(list) }", Self.creation, Self.record])
            #expect(query(draft, "loans") == sent, "\(draft.yaml)")
        }
    }

    @Test(
        "A document of version 2 says it by its collection format",
        arguments: [
            ("collectionFormat: multi", ["state=open", "state=due"]), ("collectionFormat: csv", ["state=open,due"]),
            ("description: States", ["state=open,due"]),
        ])
    func olderDocument(_ form: String, _ sent: [String]) throws {
        let loan = "type: object, properties: { id: { type: integer }, title: { type: string } }"
        let answer = "responses: { \"200\": { description: ok, schema: { type: array, items: { \(loan) } } } }"
        let state = "{ name: state, in: query, required: true, \(Self.states), \(form) }"
        let draft = try SchemaDraft.of(
            """
            swagger: "2.0"
            info: { title: Library, version: "1" }
            host: library.example
            paths:
              /loans: { get: { parameters: [\(state)], \(answer) } }
            """)
        #expect(query(draft, "loans") == sent, "\(draft.yaml)")
    }

    @Test("A parameter with one value takes all only if words say so, which a person has to check")
    func oneValue() throws {
        func draft(_ said: String) throws -> SchemaDraft {
            let state = Self.parameter("state", "type: string, default: open, enum: [open, due]", said)
            return try self.draft([
                "/loan/findByState: { \(Document.list("Loan", state)) }", "/fines: { \(Document.list("Fine")) }",
                Self.creation, Self.record,
            ])
        }
        let several = try draft("description: Several states can be given,")
        #expect(query(several, "loans") == ["state=open", "state=due"], "\(several.yaml)")
        #expect(several.todos.contains { $0.contains("pull.query.state: check") })
        let one = try draft("")
        #expect(one.schema["loans"] == nil, "\(one.yaml)")
        #expect(one.leftOut.contains { $0.reason == "it answers only what its parameter state finds" })
    }

    @Test("A default that filters is replaced by the value for all, or named where there is none")
    func defaults() throws {
        func draft(_ schema: String) throws -> SchemaDraft {
            try self.draft(["/loans: { \(Document.list("Loan", Self.parameter("state", schema))) }"])
        }
        let all = try draft("type: string, default: open, enum: [open, due, all]")
        #expect(query(all, "loans") == ["state=all"], "\(all.yaml)")
        let none = try draft("type: string, default: open, enum: [open, due]")
        #expect(query(none, "loans").isEmpty)
        #expect(none.todos.contains { $0.contains("pull.query.state: without it the list has only") }, "\(none.yaml)")
        let optional = try draft("type: string, enum: [open, due]")
        #expect(query(optional, "loans").isEmpty && optional.todos.allSatisfy { !$0.contains("pull.query") })
    }

    @Test("A list of several values may lack the records without a value, which a person has to check")
    func withoutValue() throws {
        for (required, isAsked) in [("", true), ("required: [state],", false)] {
            let members = "id: { type: integer }, title: { type: string }, \(Self.state)"
            let loan = "Loan: { type: object, \(required) properties: { \(members) } }"
            let list = Document.list("Loan", Self.parameter("state", Self.states))
            let draft = try SchemaDraft.of(
                Document(schemas: [loan], paths: ["/loan/findByState: { \(list) }", Self.creation, Self.record]).text)
            let hint = "pull.query.state: check that the list then also has the records without state"
            #expect(draft.todos.contains { $0.contains(hint) } == isAsked, "\(draft.yaml)")
        }
    }

    @Test("A switch that is on by default and that records have may hide some of them", arguments: ["true", "false"])
    func switched(_ initial: String) throws {
        let loan = "Loan: { type: object, properties: { id: { type: integer }, active: { type: boolean } } }"
        let list = Document.list("Loan", Self.parameter("active", "type: boolean, default: \(initial)"))
        let draft = try SchemaDraft.of(Document(schemas: [loan], paths: ["/loans: { \(list) }"]).text)
        let hint = "pull.query.active: without it the list has only the records with true"
        #expect(draft.todos.contains { $0.contains(hint) } == (initial == "true"), "\(draft.yaml)")
        let shown = loan.replacing("type: boolean", with: "type: object")
        #expect(try SchemaDraft.of(Document(schemas: [shown], paths: ["/loans: { \(list) }"]).text).todos.isEmpty)
    }

    @Test("A parameter without all values that records have answers only some of them")
    func fewerValues() throws {
        let some = Self.parameter("state", "type: array, items: { type: string, enum: [due, lost] }", "required: true,")
        let draft = try draft([
            "/loan/findByState: { \(Document.list("Loan", some)) }", "/fines: { \(Document.list("Fine")) }",
            Self.record,
        ])
        #expect(draft.schema["loans"] == nil, "\(draft.yaml)")
    }

    @Test("Of several searches of one path, the one that answers all is drafted")
    func several() throws {
        let draft = try draft([
            "/loan/findByTitle: { \(Document.list("Loan", Self.parameter("title", "type: string"))) }",
            "/loan/findByState: { \(Document.list("Loan", Self.parameter("state", Self.states))) }",
            "/loan/search: { \(Document.list("Loan", Self.parameter("q", "type: string"))) }",
            Self.creation, Self.record,
        ])
        #expect(draft.paths.map(\.path) == ["/loan/search"], "\(draft.yaml)")
        #expect(draft.todos.contains { $0.contains("has all records without its parameter q") })
        let reasons = draft.leftOut.map { "\($0.path): \($0.reason)" }.sorted()
        #expect(
            reasons == [
                "/loan/findByState: its records are those of /loan/search, or some of them",
                "/loan/findByTitle: it answers only what its parameter title finds",
            ])
    }
}
