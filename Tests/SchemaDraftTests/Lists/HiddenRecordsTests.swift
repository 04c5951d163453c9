import EntitySchema
import Testing

@testable import SchemaDraft

@Suite("Drafting lists that hide some of their records")
struct HiddenRecordsTests {
    private typealias Document = SmallDocument

    private static let thing =
        "Thing: { type: object, properties: { id: { type: integer }, title: { type: string }, thing_id: { type: integer } } }"

    /// The draft of a list with one parameter.
    private func draft(_ name: String, _ type: String, _ description: String = "which ones come") throws -> SchemaDraft
    {
        let parameter = "{ name: \(name), in: query, description: \"\(description)\", schema: { \(type) } }"
        let list = Document.list("Thing", "parameters: [\(parameter)],")
        return try SchemaDraft.of(Document(schemas: [Self.thing], paths: ["/things: { \(list) }"]).text)
    }

    @Test(
        "A list that shows only some states by itself is asked for all",
        arguments: [
            "type: string, enum: [open, closed, all]", "type: string, enum: [open, closed, all], default: open",
            "type: string, enum: [any, \"on\", \"off\"], default: \"on\"",
        ])
    func states(type: String) throws {
        let yaml = try draft("status", type).yaml
        #expect(yaml.contains("status: all") || yaml.contains("status: any"), "\(yaml)")
    }

    @Test(
        "It is also asked for all where only words say what the values are",
        arguments: [
            ("Values are open, closed and all. Defaults to open", "all"),
            ("1=visible, 2=hidden, 3=both (default: 1)", "\"3\""),
            ("Visible ones (1=visible, 2=hidden, 3=all)", "\"3\""),
        ])
    func told(description: String, value: String) throws {
        let yaml = try draft("visible", "type: string", description).yaml
        #expect(yaml.contains("visible: \(value)"), "\(yaml)")
    }

    @Test(
        "A list that hides nothing by itself is asked for nothing",
        arguments: [
            ("state", "type: string, enum: [open, closed, all], default: all", "which ones come"),
            ("state", "type: string, enum: [open, closed, all]", "The default is all"),
            ("fields", "type: string, enum: [short, all], default: short", "which members come"),
            ("state", "type: string", "All records come by default, else those of this state"),
            ("visible", "type: string", "1=visible, 2=hidden, 3=all (default: 3)"),
            ("show_archived", "type: boolean", "Only archived ones"),
            ("with_deleted", "type: boolean", "which ones come"),
            ("include_archived", "type: boolean, default: true", "which ones come"),
        ])
    func nothing(name: String, type: String, description: String) throws {
        let yaml = try draft(name, type, description).yaml
        #expect(!yaml.contains("query:"), "\(yaml)")
    }

    @Test(
        "A list that would also show deleted records is not asked for all, unless a member marks these",
        arguments: [("", false), (", deleted_at: { type: string, format: date }", true)])
    func deleted(member: String, isAsked: Bool) throws {
        let thing = "Thing: { type: object, properties: { id: { type: integer }, title: { type: string }\(member) } }"
        let parameter = "{ name: status, in: query, schema: { type: string, enum: [all, active, deleted] } }"
        let list = Document.list("Thing", "parameters: [\(parameter)],")
        let draft = try SchemaDraft.of(Document(schemas: [thing], paths: ["/things: { \(list) }"]).text)
        let query = try #require(draft.schema["things"]?.pull).query
        #expect(query.contains { ($0.name, $0.value) == ("status", "all") } == isAsked, "\(draft.yaml)")
        #expect(draft.yaml.contains("deleted: deleted_at") == isAsked)
        #expect(draft.todos.contains { $0.contains("pull.query.status: all also shows deleted records") } != isAsked)
    }

    @Test("Nor is it if its records show the state, and another one is the default")
    func shownState() throws {
        let thing = "Thing: { type: object, properties: { id: { type: integer }, status: { type: string } } }"
        let values = "type: string, enum: [all, active, deleted], default: active"
        let list = Document.list("Thing", "parameters: [{ name: status, in: query, schema: { \(values) } }],")
        let draft = try SchemaDraft.of(Document(schemas: [thing], paths: ["/things: { \(list) }"]).text)
        #expect(try #require(draft.schema["things"]?.pull).query.isEmpty, "\(draft.yaml)")
    }

    @Test("Where a deletion archives records, archived ones count as deleted", arguments: ["Archive", "Delete"])
    func archivedByDeletion(_ verb: String) throws {
        let members = "id: { type: integer }, title: { type: string }, archived_at: { type: string, format: date-time }"
        let deletion = Document.deletion.replacing("delete: {", with: "delete: { summary: \(verb) a thing,")
        let paths = ["/things: { \(Document.list("Thing")) }", "/things/{id}: { \(deletion) }"]
        let thing = "Thing: { type: object, properties: { \(members) } }"
        let yaml = try SchemaDraft.of(Document(schemas: [thing], paths: paths).text).yaml
        #expect(yaml.contains("deleted: archived_at") == (verb == "Archive"), "\(yaml)")
    }

    @Test(
        "What a deletion only sets, in the document's words, marks deleted records",
        arguments: [
            ("active: { type: integer }", "Deleting a thing sets its `active` field to `0`.", "active: \"0\""),
            ("state: { type: string, enum: [Open, Void] }", "Changes the state of the thing to void", "state: Void"),
            ("active: { type: integer }", "Sets its active field to 1", nil),
            ("kind: { type: string }", "Things whose kind is set to deleted", nil),
        ])
    func markedByDeletion(member: String, words: String, mark: String?) throws {
        let thing = "Thing: { type: object, properties: { id: { type: integer }, \(member) } }"
        let deletion = Document.deletion.replacing("delete: {", with: "delete: { description: \"\(words)\",")
        let paths = ["/things: { \(Document.list("Thing")) }", "/things/{id}: { \(deletion) }"]
        let yaml = try SchemaDraft.of(Document(schemas: [thing], paths: paths).text).yaml
        #expect(yaml.contains("deleted: {") == (mark != nil), "\(yaml)")
        if let mark { #expect(yaml.contains("deleted: { \(mark) }"), "\(yaml)") }
    }

    @Test("A list that can also show archived records is asked for them")
    func archived() throws {
        #expect(try draft("include_archived", "type: boolean").yaml.contains("include_archived: \"true\""))
        let yaml = try draft("is_archived", "type: boolean", "If true, also returns all archived things").yaml
        #expect(yaml.contains("is_archived: \"true\""), "\(yaml)")
        let read = try draft("all", "type: boolean", "If true, shows things marked as read").yaml
        #expect(read.contains("all: \"true\""), "\(read)")
    }

    @Test(
        "Also where the document calls a switch a text",
        arguments: ["type: string, default: false", "type: string, enum: [\"true\", \"false\"]"])
    func switchInText(_ type: String) throws {
        let yaml = try draft("include_disabled", type).yaml
        #expect(yaml.contains("include_disabled: \"true\""), "\(yaml)")
    }

    @Test("A list of some days that can be asked for all is, and nothing is left to a person")
    func allDays() throws {
        let parameters =
            "{ name: start_date, in: query, description: the default is 1 month, schema: { type: string } }, { name: date_range, in: query, schema: { type: string, enum: [all] } }"
        let list = Document.list("Thing", "parameters: [\(parameters)],")
        let draft = try SchemaDraft.of(Document(schemas: [Self.thing], paths: ["/things: { \(list) }"]).text)
        #expect(draft.yaml.contains("date_range: all") && draft.todos.isEmpty, "\(draft.yaml)")
    }

    @Test(
        "A list that comes with the records of some days only is marked, unless they end now",
        arguments: [
            ("start_date", "Defaults to today's date", true), ("begin", "Later ones. Default: today - 1 year", true),
            ("until", "defaults to 7 days after the start", true), ("until", "Defaults to now", false),
            ("start_date", "Where it begins", false), ("note", "Defaults to today", false),
        ])
    func days(name: String, description: String, isMarked: Bool) throws {
        let draft = try draft(name, "type: string", description)
        let hint = "pull.query: { \(name): … }: without it the list leaves out records of other days"
        #expect(draft.todos.contains { $0.contains(hint) } == isMarked, "\(draft.yaml)")
    }

    @Test("So is a list below a record")
    func below() throws {
        let parameter = "{ name: state, in: query, schema: { type: string, enum: [open, closed, all] } }"
        let part = "Part: { type: object, properties: { id: { type: integer }, name: { type: string } } }"
        let parts = Document.list("Part", "parameters: [\(parameter)],")
        let paths = [
            "/things: { \(Document.list("Thing")) }", "/things/{id}: { \(Document.single("Thing")) }",
            "/things/{id}/parts: { \(parts) }",
        ]
        let yaml = try SchemaDraft.of(Document(schemas: [Self.thing, part], paths: paths).text).yaml
        #expect(yaml.contains("/things/{id}/parts?state=all"), "\(yaml)")
    }
}
