import JSONText
import Testing

@testable import EntitySchema

@Suite("Lists whose later pages are asked for by another call")
struct ContinuationTests {
    private func schema(_ yaml: String) throws -> EntitySchema { try EntitySchema(yaml: yaml, file: "small.yaml") }

    private func plan(_ yaml: String) throws -> PullPlan {
        try #require(schema(yaml).entities.first?.pull)
    }

    /// What is sent: `POST /path {"a":1}`.
    private func sent(_ request: PageRequest) -> String {
        let request = request.request
        return "\(request.method) \(request.path)" + (request.body.map { " \($0.text)" } ?? "")
    }

    // MARK: Services

    private static let dropbox = """
        schema: dropbox
        upstream:
          base_url: https://api.dropboxapi.com/2
          error_message: error_summary
          pagination:
            style: cursor
            next: cursor
            more: has_more
            size: none
            page_size: 2000
            continue: { call: POST /files/list_folder/continue, body: { cursor: "{$cursor}" } }
        entities:
          files:
            key: path_lower                             # a deletion has no id
            title: "{name}"
            fields:
              path_lower: { type: string }
              name: { type: string, search: true }
              kind: { type: string, index: true, from: '".tag"' }
              size: { type: integer }
              server_modified: { type: time, index: true }
            pull:
              call: POST /files/list_folder
              body: { path: "", recursive: true, limit: "{$size}" }
              records: entries
              since: { token: cursor, expired: 409 }
              changes: { call: POST /files/list_folder/continue, body: { cursor: "{$delta}" } }
              deleted: { kind: deleted }
              record: { call: POST /files/get_metadata, body: { path: "{path_lower}" } }
        """

    @Test("files of Dropbox go on with a cursor alone, and so do their changes")
    func dropbox() throws {
        let plan = try plan(Self.dropbox)
        #expect(
            sent(plan.request(of: "files"))
                == #"POST /files/list_folder {"path":"","recursive":true,"limit":2000}"#)
        let later = #"POST /files/list_folder/continue {"cursor":"AAE"}"#
        #expect(sent(plan.request(of: "files", at: #""AAE""#)) == later)
        #expect(
            sent(plan.ofChanges.request(of: "files", delta: "AAF"))
                == #"POST /files/list_folder/continue {"cursor":"AAF"}"#)
        #expect(sent(plan.ofChanges.request(of: "files", at: #""AAE""#, delta: "AAF")) == later)
    }

    private static let scroll = """
        schema: scroll
        upstream:
          base_url: https://search.example
          records: hits.hits
          pagination:
            style: cursor
            next: _scroll_id
            scroll: true
            page_size: 1000
            total: hits.total.value
            continue: { call: POST /_search/scroll, body: { scroll: 1m, scroll_id: "{$cursor}" } }
        entities:
          orders:
            key: _id
            fields:
              _id: { type: string }
              number: { type: string, from: _source.number }
              updated_at: { type: time, from: _source.updated_at }
            pull:
              call: POST /orders/_search
              query: { scroll: 1m }
              body: { size: "{$size}", sort: [_doc], query: { range: { updated_at: { gte: "{$since}" } } } }
              since: { field: updated_at }
              record: { path: "/orders/_doc/{_id}" }
        """

    @Test("a scroll of Elasticsearch is opened at the index, and goes on without it")
    func elasticsearch() throws {
        let plan = try plan(Self.scroll)
        #expect(plan.list.isScroll)
        let since = "2026-01-31T09:00:00.000Z"
        let range = #"{"range":{"updated_at":{"gte":"\#(since)"}}}"#
        #expect(
            sent(plan.request(of: "orders", since: since))
                == #"POST /orders/_search?scroll=1m {"size":1000,"sort":["_doc"],"query":\#(range)}"#)
        #expect(
            sent(plan.request(of: "orders", at: #""DXF1""#, since: since))
                == #"POST /_search/scroll {"scroll":"1m","scroll_id":"DXF1"}"#)
    }

    private static let monday = """
        schema: monday
        upstream:
          base_url: https://api.monday.com
          auth: { send: { header: Authorization } }
          error_message: errors.*.message
          answers: [{ when: { errors.ne: null }, means: refused }]
          records: [data.boards.0.items_page.items, data.next_items_page.items]
          pagination:
            style: cursor
            next: [data.boards.0.items_page.cursor, data.next_items_page.cursor]
            page_size: 500
            continue:
              call: POST /v2
              body:
                query: |-
                  query($n: Int!, $at: String!) {
                    next_items_page(limit: $n, cursor: $at) { cursor items { id name updated_at } }
                  }
                variables: { n: "{$size}", at: "{$cursor}" }
        entities:
          items:
            key: { field: id, made: server }
            title: "{name}"
            fields: { id: { type: string }, name: { type: string, search: true }, updated_at: { type: time } }
            pull:
              call: POST /v2
              body:
                query: |-
                  query($n: Int!, $board: [ID!], $rules: [ItemsQueryRule!]) {
                    boards(ids: $board) {
                      items_page(limit: $n, query_params: { rules: $rules }) { cursor items { id name updated_at } }
                    }
                  }
                variables:
                  n: "{$size}"
                  board: ["1234567890"]
                  rules:
                    - column_id: __last_updated__
                      operator: greater_than_or_equals
                      compare_value: [EXACT, "{$since:date}"]
              since: { field: updated_at, from: 1970-01-01T00:00:00Z }
        """

    @Test("items of monday.com are filtered on the first page alone, and later pages are at another place")
    func monday() throws {
        let plan = try plan(Self.monday)
        let first = try #require(plan.request(of: "items", since: "2026-01-31T09:00:00Z").request.body)
        #expect(first.at(path: "variables.rules.0.compare_value")?.text == #"["EXACT","2026-01-30"]"#)
        #expect(first.at(path: "variables.n") == 500)
        let later = try #require(plan.request(of: "items", at: #""MSw5""#, since: "2026-01-31T09:00:00Z").request.body)
        #expect(later["variables"]?.text == #"{"n":500,"at":"MSw5"}"#)
        #expect(later["query"]?.plain.contains("next_items_page") == true)
        for (answer, next) in [
            (#"{"data":{"boards":[{"items_page":{"cursor":"a","items":[{"id":"1"}]}}]}}"#, "a"),
            (#"{"data":{"next_items_page":{"cursor":"b","items":[{"id":"1"}]}}}"#, "b"),
        ] {
            let answer = try JSONText(parsing: answer)
            #expect(plan.list.place(in: answer)?.elementCount == 1)
            #expect(plan.list.style.next?.value(in: answer)?.plain == next)
        }
    }

    // MARK: Any list

    private func small(
        _ pagination: String, pull: String = "path: /notes, query: { all: 1 }, since: { param: since, field: changed }"
    ) throws -> PullPlan {
        try plan(
            """
            schema: small
            upstream:
              base_url: http://localhost
              pagination: { style: cursor, next: next, \(pagination) }
            entities: { notes: { fields: { id: { type: string }, changed: { type: time } }, pull: { \(pull) } } }
            """)
    }

    @Test("the first page is asked for as ever, and a later one with nothing but what its call says")
    func parameters() throws {
        let time = "2026-01-31T09:00:00.000Z"
        for (call, later) in [
            (#"{ path: /next, query: { at: "{$cursor}", all: 2 } }"#, "GET /next?all=2&at=a%2Fb"),
            (#"{ path: "/notes/from/{$cursor}?all=3" }"#, "GET /notes/from/a%2Fb?all=3"),
            (#"{ call: "POST /cursors/{$cursor}" }"#, "POST /cursors/a%2Fb"),
            (#"{ path: /next, query: { at: "{$cursor}", size: "{$size}" } }"#, "GET /next?at=a%2Fb&size=100"),
        ] {
            let plan = try small("continue: \(call)")
            let first = sent(plan.request(of: "notes", since: time))
            #expect(first == "GET /notes?all=1&since=2026-01-31T09%3A00%3A00.000Z&limit=100")
            #expect(sent(plan.request(of: "notes", at: #""a/b""#, since: time)) == later)
        }
    }

    @Test("the cursor may stand in a header, and replaces one of the same name that all pages have")
    func headers() throws {
        let plan = try small(
            #"continue: { path: /next, headers: { X-From: "{$cursor}" } }"#,
            pull: "path: /notes, headers: { X-From: start }")
        func header(_ position: String?) -> [String] {
            plan.request(of: "notes", at: position).request.headers.filter { $0.name == "X-From" }.map(\.value)
        }
        #expect(header(nil) == ["start"] && header("7") == ["7"])
    }

    @Test("an entity with pages of its own, and one without pages, do not inherit it")
    func inheritance() throws {
        let call = #"continue: { path: /next, query: { at: "{$cursor}" } }"#
        for own in ["{ style: single }", "{ style: cursor, next: next }", "{ style: page }"] {
            let plan = try small(call, pull: "path: /notes, pagination: \(own)")
            #expect(plan.list.continuation == nil && !plan.list.isScroll)
        }
        #expect(try small(call, pull: "path: /notes, records: data").list.continuation != nil)
    }

    @Test("the definition of a list differs with it, and stays the same without it")
    func definition() throws {
        let all = try [
            "size: limit", #"continue: { path: /next, query: { at: "{$cursor}" } }"#,
            #"continue: { path: /more, query: { at: "{$cursor}" } }"#,
            #"continue: { path: /next, query: { at: "{$cursor}", all: 1 } }"#,
            #"continue: { path: /next, query: { to: "{$cursor}" } }"#,
        ].map { try small($0).definition }
        #expect(Set(all).count == all.count)
        #expect(
            all[0]
                == #"["/notes",{"all":"1"},null,"cursor cursor next","limit",100,1,0,null,true,null,null,"","#
                + #""since since 2026-01-31T09:00:00.000Z ","changed",null]"#)
    }

    @Test(
        "what cannot be is refused with what to write",
        arguments: [
            ("continue: /next", #"such as { call: POST /orders/next, body: { cursor: "{$cursor}" } }"#),
            ("continue: { path: /next }", "each page would be the same one; write {$cursor}"),
            ("continue: { call: POST /next, body: { size: \"{$size}\" } }", "each page would be the same one"),
            ("cursor: after, continue: { path: \"/{$cursor}\" }", "where {$cursor} stands; remove cursor"),
            ("continue: { path: /next, query: { a: \"{$since}\" } }", "stands for what the first call asked for"),
            ("continue: { path: /next, query: { a: \"{$page}\" } }", "expected {$cursor}, {$size}"),
            ("continue: { path: /next, body: { a: \"{$cursor}\" } }", "write call: POST"),
            ("continue: { call: PUT /next }", "GET or POST"),
            ("continue: { path: /next, records: data }", "unknown key records"),
            ("scroll: maybe", "true or false"),
        ])
    func refusals(_ pagination: String, _ words: String) {
        expectRefusal(words) { try small(pagination) }
    }

    @Test("what only pages with a cursor of the answer have is refused elsewhere")
    func otherStyles() {
        let pull = "path: /notes, pagination:"
        expectRefusal("unknown key continue") {
            try small("size: none", pull: "\(pull) { style: page, continue: { path: /next } }")
        }
        expectRefusal("this is no scroll; remove scroll") {
            try small("size: none", pull: "\(pull) { style: cursor, next: { last: id }, scroll: true }")
        }
        expectRefusal("only the first page is asked for so; write it in continue") {
            try small("continue: { path: \"/{$cursor}\" }", pull: "path: /notes, query: { at: \"{$cursor}\" }")
        }
    }

    @Test("a credential that stands in it is refused as elsewhere")
    func credential() {
        expectRefusal("must not stand in the schema") {
            try small(#"continue: { path: /next, query: { at: "{$cursor}", api_key: abc } }"#)
        }
    }
}
