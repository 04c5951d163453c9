import JSONText
import Testing

@testable import EntitySchema

@Suite("A list of its own for what changed")
struct ChangesListTests {
    private static let since = "since: { param: since, field: at }"

    private static func yaml(_ pull: String, key: String = "id") -> String {
        """
        schema: small
        upstream:
          base_url: http://localhost
          records: data
          pagination: { style: page, page_size: 50 }
        entities:
          notes:
            key: \(key)
            fields: { id: { type: string }, at: { type: time } }
            pull: { \(pull) }
        """
    }

    private static func plan(_ pull: String) throws -> PullPlan {
        try #require(EntitySchema(yaml: yaml(pull), file: "small.yaml")["notes"]?.pull)
    }

    private static let time = "2026-01-31T09:00:00Z"

    @Test("the list of everything gets no time, and that of changes has its own address, query and parameter")
    func parameter() throws {
        let plan = try Self.plan(
            "path: /notes, query: { all: 1 }, changes: { path: /notes/changed, query: { deep: 1 } }, \(Self.since)")
        #expect(plan.request(of: "notes").request.path == "/notes?page=1&all=1&limit=50")
        #expect(
            plan.ofChanges.request(of: "notes", since: Self.time).request.path
                == "/notes/changed?page=1&deep=1&since=2026-01-31T09%3A00%3A00.000Z&limit=50")
        #expect(plan.single.path.source == "/notes/{id}")
    }

    @Test("it may be asked for by POST, with pages and times of another form")
    func posted() throws {
        let plan = try Self.plan(
            """
            path: /notes, since: { field: at, format: epoch_ms }, changes: { call: POST /search, records: results, \
            pagination: { style: cursor, next: after, page_size: 20 }, \
            body: { from: "{$since}", after: "{$cursor}", limit: "{$size}" } }
            """)
        let request = plan.ofChanges.request(of: "notes", at: "\"x\"", since: Self.time).request
        #expect(request.method == "POST" && request.path == "/search")
        #expect(request.body?.text == #"{"from":1769850000000,"after":"x","limit":20}"#)
        #expect(plan.ofChanges.list.records.paths == ["results"] && plan.list.records.paths == ["data"])
        #expect(plan.list.style == .page(parameter: "page", pages: nil))
    }

    @Test("the forms of its times say how much earlier changes are asked for")
    func precision() throws {
        let plan = try Self.plan(
            #"path: /notes, since: { field: at }, changes: { path: /c, query: { q: "{$since:yyyy-MM-dd HH:mm}" } }"#)
        #expect(plan.sincePrecision == .seconds(60))
    }

    @Test("what it leaves out is as in the list of everything")
    func inherited() throws {
        let plan = try Self.plan(
            "path: /notes, records: rows, pagination: { style: single }, changes: { path: /changed }, \(Self.since)")
        #expect(plan.changes?.list == plan.list)
    }

    @Test("a token is sent to it and taken from both, and a sorted list needs no time")
    func modes() throws {
        let token = try Self.plan("path: /notes, since: { token: mark, param: after }, changes: { path: /changed }")
        let request = token.ofChanges.request(of: "notes", delta: "t1")
        #expect(request.request.path == "/changed?page=1&after=t1&limit=50" && request.deltaToken != nil)
        let first = token.request(of: "notes")
        #expect(first.request.path == "/notes?page=1&limit=50" && first.deltaToken != nil)
        let sorted = try Self.plan(
            "path: /notes, mode: newest_first, changed_at: at, changes: { path: /notes, query: { sort: -at } }")
        #expect(sorted.ofChanges.request(of: "notes").request.path == "/notes?page=1&sort=-at&limit=50")
    }

    private static let wrong: [(String, String, String)] = [
        ("path: /notes, changes: { path: /c }", "changes", "with mode: full, each pull asks for everything"),
        ("path: /notes, \(since), changes: /c", "changes", "such as { path: /orders/changed }"),
        ("path: /notes, \(since), changes: { query: { a: 1 } }", "changes", "path"),
        ("path: /notes, \(since), changes: { path: /c, field: at }", "changes.field", "unknown"),
        ("path: /notes, \(since), changes: { path: /c, body: {} }", "changes.body", "asked for by POST"),
        ("path: /notes, \(since), changes: { path: /notes }", "changes", "the same list"),
        (
            #"path: /notes, \#(since), where: { at.lte: "{$now+7d}" }, changes: { path: /c }"#, "changes",
            "where takes in more records as time passes"
        ),
        ("path: /notes, since: { link: next }, changes: { path: /c }", "changes", "since.link has the whole address"),
        (
            "path: /notes, since: { param: a, field: at, from: 1970-01-01T00:00:00Z }, changes: { path: /c }",
            "since.from", "the list of everything gets no time"
        ),
        ("path: /notes, since: { field: at }, changes: { path: /c }", "since", "param is missing"),
        (
            #"path: /notes, query: { a: "{$since}" }, since: { field: at }, changes: { path: /c }"#, "query.a",
            "write it in pull.changes"
        ),
        (
            #"path: /notes, query: { a: "{$delta}" }, since: { token: t }, changes: { path: /c }"#, "query.a",
            "write it in pull.changes"
        ),
        (
            #"path: /notes, \#(since), where: { at.gte: "{$now-30d}" }, changes: { path: /c, query: { a: "{$until}" } }"#,
            "changes.query.a", "write it in pull.query or pull.body"
        ),
        (
            "path: /notes, \(since), changes: { path: /c, query: { limit: 9 } }", "changes.query",
            "limit is what pagination sends"
        ),
        (
            #"path: /notes, \#(since), changes: { path: /c, query: { a: "{$account}" } }"#, "changes",
            "{$account} needs upstream.account"
        ),
    ]

    @Test("a list of changes that is never asked for, or a key without effect beside it, is refused", arguments: wrong)
    func mistakes(_ pull: String, _ key: String, _ words: String) {
        expectRefusal(refusal(of: Self.yaml(pull)), "entities.notes.pull.\(key)", words)
    }

    @Test("keys that are the names of members need them in both lists")
    func names() {
        let pull = "path: /notes, records: data.*, \(Self.since), changes: { path: /c, records: rows }"
        let key = "{ field: id, from: $name }"
        expectRefusal(refusal(of: Self.yaml(pull, key: key)), "entities.notes.pull.changes.records", "end with *")
        let right = pull.replacing("records: rows", with: "records: rows.*")
        #expect(refusal(of: Self.yaml(right, key: key))?.description == nil)
    }
}
