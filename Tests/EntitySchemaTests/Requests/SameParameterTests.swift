import EntitySchema
import Testing

@Suite("Parameters of a list that have one name")
struct SameParameterTests {
    private static func plan(_ pull: String) throws -> PullPlan {
        let yaml = """
            schema: small
            upstream: { base_url: http://localhost }
            entities:
              notes:
                fields: { id: { type: string }, changed: { type: time } }
                pull: { path: /notes, \(pull) }
            """
        return try #require(EntitySchema(yaml: yaml, file: "small.yaml")["notes"]?.pull)
    }

    private static let cursor = "pagination: { style: cursor, cursor: after, next: next, size: none }"

    @Test("the position of a page takes the place of the token that the list began with")
    func position() throws {
        let plan = try Self.plan("\(Self.cursor), since: { token: version, param: after }")
        #expect(plan.request(of: "notes", delta: "5100").request.path == "/notes?after=5100")
        #expect(plan.request(of: "notes", at: "5150", delta: "5100").request.path == "/notes?after=5150")
    }

    @Test("the position of a page takes the place of the time that the list began with")
    func time() throws {
        let plan = try Self.plan("\(Self.cursor), since: { param: after, field: changed, format: epoch }")
        let since = "2026-01-31T09:00:00Z"
        #expect(plan.request(of: "notes", since: since).request.path == "/notes?after=1769850000")
        #expect(plan.request(of: "notes", at: "x", since: since).request.path == "/notes?after=x")
    }

    @Test("a token takes the place of the constant that the first pull sends")
    func token() throws {
        let plan = try Self.plan(#"query: { sync_token: "*" }, since: { token: sync_token, param: sync_token }"#)
        #expect(plan.request(of: "notes").request.path == "/notes?sync_token=%2A")
        #expect(plan.request(of: "notes", delta: "t1").request.path == "/notes?sync_token=t1")
    }

    @Test("a position takes the place of a constant, and of one in the address that the upstream gave out")
    func constants() throws {
        let plan = try Self.plan("\(Self.cursor), query: { after: 0, all: 1 }, since: { link: delta }")
        #expect(plan.request(of: "notes").request.path == "/notes?after=0&all=1")
        #expect(plan.request(of: "notes", at: "x").request.path == "/notes?after=x&all=1")
        let delta = "/notes?token=t1&after=a"
        #expect(plan.request(of: "notes", at: "b", delta: delta).request.path == "/notes?token=t1&after=b")
    }

    @Test("a parameter that the schema repeats is repeated on every page")
    func repeated() throws {
        let plan = try Self.plan(#"\#(Self.cursor), query: { expand: [a, b, "{$now:epoch}"] }"#)
        let request = plan.request(of: "notes", at: "x", now: Timestamp(iso8601: "2026-01-31T09:00:00Z"))
        #expect(request.request.path == "/notes?after=x&expand=a&expand=b&expand=1769850000")
    }
}
