import JSONText
import Testing

@testable import EntitySchema

@Suite("Lists with values in their requests")
struct ListCallTests {
    private static func plan(_ pull: String, upstream: String = "account: { path: /me, id: id }") throws -> PullPlan {
        let yaml = """
            schema: small
            upstream:
              base_url: http://localhost
              \(upstream)
            entities:
              notes:
                fields: { id: { type: string }, changed: { type: time } }
                pull:
                  \(pull)
            """
        return try #require(EntitySchema(yaml: yaml, file: "small.yaml")["notes"]?.pull)
    }

    private static let graphql = """
        call: POST /graphql
              body:
                query: "query($after: String) { notes(after: $after) { nodes { id } } }"
                variables: { after: "{$cursor}", since: "{$since:epoch}", first: "{$size}", tags: [a, "{$cursor}"] }
                fixed: { number: 1, text: "1", nothing: null, yes: true }
              since: { field: changed }
              pagination: { style: cursor, next: data.next, page_size: 50 }
        """

    @Test("a first page leaves out what has no value, and braces of a query stand for themselves")
    func first() throws {
        let request = try Self.plan(Self.graphql).request(of: "notes").request
        #expect(request.method == "POST" && request.path == "/graphql" && request.isReading)
        #expect(request.headers.map(\.value) == ["application/json", "application/json"])
        let query = "query($after: String) { notes(after: $after) { nodes { id } } }"
        let expected = """
            {"query":"\(query)","variables":{"first":50,"tags":["a"]},"fixed":{"number":1,"text":"1","nothing":null,"yes":true}}
            """
        #expect(request.body?.text == expected)
    }

    @Test("a later page has the cursor with its type, and the time in its format")
    func later() throws {
        let plan = try Self.plan(Self.graphql)
        for (position, sent) in [("\"ab\"", "\"ab\""), ("[12,\"x\"]", "[12,\"x\"]"), ("7", "7")] {
            let request = plan.request(of: "notes", at: position, since: "2026-01-31T09:00:00Z").request
            let variables = try #require(request.body?["variables"])
            #expect(variables["after"]?.text == sent)
            #expect(variables["since"] == 1_769_850_000)
            #expect(variables["tags"]?.text == "[\"a\",\(sent)]")
        }
    }

    @Test("a parameter without a value is left out; one that a template names is not sent again")
    func query() throws {
        let plan = try Self.plan(
            """
            path: /notes
                  query: { filter: "(changed>='{$since}')", "page[number]": "{$page}", "page[size]": "{$size}", all: 1, by: "{$account}" }
                  since: { field: changed, format: iso_space }
                  pagination: { style: page, page_size: 50 }
            """)
        #expect(plan.request(of: "notes").request.path == "/notes?all=1&page%5Bnumber%5D=1&page%5Bsize%5D=50")
        var request = plan.request(of: "notes", at: "3/100", since: "2026-01-31T09:00:00Z")
        request.values.account = "a b"
        #expect(
            request.request.path
                == "/notes?all=1&filter=%28changed%3E%3D%272026-01-31%2009%3A00%3A00.000Z%27%29"
                + "&page%5Bnumber%5D=3&page%5Bsize%5D=50&by=a%20b")
    }

    @Test("headers name values too, each in its form; one without a value is left out")
    func headers() throws {
        let plan = try Self.plan(
            """
            path: /notes
                  headers: { If-Modified-Since: "{$since}", Prefer: count=exact, Range: "items={$offset}-{$last}" }
                  since: { field: changed, format: http }
                  pagination: { style: offset, page_size: 50 }
            """)
        func own(_ request: PageRequest) -> [String] { request.request.headers.dropFirst(2).map(\.value) }
        #expect(own(plan.request(of: "notes")) == ["count=exact", "items=0-49"])
        let later = plan.request(of: "notes", at: "50", since: "2026-01-31T09:00:00.123Z")
        #expect(own(later) == ["Sat, 31 Jan 2026 09:00:00 GMT", "count=exact", "items=50-99"])
        #expect(later.isConditional && !plan.request(of: "notes").isConditional)
        #expect(later.request.path == "/notes?limit=50", "the offset and the time stand in headers")
    }

    @Test("a header of the list replaces those of the same name that reads and all requests have")
    func ownHeader() throws {
        let plan = try Self.plan("path: /notes\n      headers: { cache-control: max-age=5 }")
        var request = plan.request(of: "notes").request
        request.add([UpstreamPlan.Header(name: "Cache-Control", value: "no-store")])
        #expect(request.headers.map(\.value) == ["application/json", "max-age=5"])
    }

    @Test("a path may name the account and the page")
    func path() throws {
        let plan = try Self.plan(
            """
            path: "/users/{$account}/notes/{$page}"
                  query: { after: "{$now-30d:date}" }
                  pagination: { style: page, first: 0 }
            """)
        var request = plan.request(of: "notes", now: Timestamp(iso8601: "2026-03-31T13:00:00Z"))
        request.values.account = "a/b"
        #expect(request.request.path == "/users/a%2Fb/notes/0?after=2026-03-01&limit=100")
        #expect(!plan.single.isServed)
    }

    @Test("a lost creation is looked up in the list that is posted for")
    func lookUp() throws {
        let yaml = """
            schema: small
            upstream: { base_url: http://localhost }
            entities:
              notes:
                fields: { id: { type: string }, text: { type: string } }
                pull: { call: POST /search, body: { size: "{$size}" }, pagination: { style: offset } }
                push: { create: { call: POST /notes, look_up: { match: [text] } } }
            """
        let schema = try EntitySchema(yaml: yaml, file: "small.yaml")
        guard case .match(_, let path, let list) = schema["notes"]?.push.create.first?.lookUp else {
            throw SchemaError(file: "", line: 0, key: "", problem: "no look-up")
        }
        #expect(path == nil && list == schema["notes"]?.pull?.list)
    }

    @Test("a record may be posted for, with values of the record")
    func single() throws {
        let yaml = """
            schema: small
            upstream: { base_url: http://localhost }
            entities:
              notes:
                fields: { id: { type: integer } }
                pull:
                  call: POST /graphql
                  record:
                    call: POST /graphql
                    body: { query: "query($id: ID!) { note(id: $id) { id text } }", variables: { id: "{id}" } }
                    at: data.note
            """
        let entity = try #require(EntitySchema(yaml: yaml, file: "small.yaml")["notes"])
        let request = try #require(entity.recordRequest(of: .object(["id": 7])))
        let query = "query($id: ID!) { note(id: $id) { id text } }"
        #expect(request.method == "POST" && request.isReading)
        #expect(request.body?.text == #"{"query":"\#(query)","variables":{"id":7}}"#)
    }

    @Test("a list that is posted for serves no single records, unless the schema says how")
    func noSingle() throws {
        let yaml = """
            schema: small
            upstream: { base_url: http://localhost }
            entities: { notes: { fields: { id: { type: string } }, pull: { call: POST /search } } }
            """
        let entity = try #require(EntitySchema(yaml: yaml, file: "small.yaml")["notes"])
        #expect(entity.recordPath(of: .object(["id": "a"])) == nil)
    }

    @Test("a deletion may have a body with values of the record")
    func deletion() throws {
        let yaml = """
            schema: small
            upstream: { base_url: http://localhost }
            entities:
              notes:
                fields: { id: { type: string } }
                pull: { path: /notes }
                push:
                  delete: { call: POST /graphql, body: { query: "mutation($id: ID!) { delete(id: $id) { ok } }", variables: { id: "{id}" } } }
            """
        let entity = try #require(EntitySchema(yaml: yaml, file: "small.yaml")["notes"])
        let record: JSONText = .object(["id": "a"])
        let request = try #require(entity.request(for: .delete, record: record, body: .object([:])))
        #expect(request.operation == .delete && request.method == "POST")
        #expect(request.body?["variables"]?["id"] == "a")
    }

    @Test(
        "what cannot be is refused with what to write",
        arguments: [
            (
                "path: /notes\n      query: { a: \"{$sinc}\" }\n      since: { field: changed, param: s }",
                "did you mean $since?"
            ),
            (
                "path: /notes\n      query: { a: \"{$since}\" }\n      since: { field: changed, param: s }",
                "remove param or that"
            ),
            ("path: /notes\n      since: { field: changed }", "write {$since} in query, body or headers"),
            (
                "path: /notes\n      query: { a: \"{$since}\" }\n      since: { field: changed, value: x }",
                "remove value"
            ),
            ("path: /notes\n      query: { a: \"{$cursor}\" }\n      pagination: { style: page }", "{$page}"),
            ("path: /notes\n      body: { a: 1 }", "write call: POST"),
            ("call: PUT /notes", "GET or POST"), ("call: POST /notes\n      path: /notes", "remove path"),
            ("path: \"/notes/{id}\"", "without braces"), ("path: \"/notes/{$since}\"", "cannot stand here"),
            ("path: /notes\n      since: { token: next, field: changed }", "write {$delta} in query, body or headers"),
            ("path: /notes\n      since: { link: next, expired: 200 }", "from 400 to 599"),
            ("path: /notes\n      since: { link: next, partial: some }", "true or false"),
            (
                "path: /notes\n      since: { link: next, partial: true }\n      where: { changed: null }",
                "may lack what where tests"
            ),
            (
                "path: /notes\n      deleted: { path: /gone, since: { link: next, partial: true } }", "remove it here"
            ),
            ("path: /notes\n      query: { a: \"{$now-3}\" }", "is not a template"),
            ("path: /notes\n      headers: { Authorization: x }", "auth.send"),
            ("path: /notes\n      headers: { Content-Type: text/x }", "set by the daemon itself"),
            ("path: /notes\n      headers: { X-At: \"{$sinc}\" }", "cannot stand here"),
        ])
    func refusals(_ pull: String, _ words: String) {
        expectRefusal(words) { try Self.plan(pull) }
    }

    @Test("the account can be named only where the schema says who it is")
    func account() {
        expectRefusal("upstream.account") {
            try Self.plan("path: /notes\n      query: { by: \"{$account}\" }", upstream: "probe: /")
        }
    }
}
