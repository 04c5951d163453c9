import EntitySchema
import JSONText
import ReferenceUpstream
import Testing

@Suite("Paging styles on the wire")
struct PagingStyleTests {
    private func list(
        _ pull: String, _ records: [String] = ["1", "2", "3", "4", "5"], at place: String = "[result.items, data]"
    ) throws -> Harness {
        let schema = try EntitySchema(
            yaml: """
                schema: styles
                upstream:
                  base_url: http://localhost
                  \(place.isEmpty ? "" : "records: \(place)")
                  pagination: { style: page, page_size: 500 }
                entities:
                  items:
                    fields:
                      id: { type: string }
                      kind: { type: string }
                      changed: { type: time }
                      box: { type: reference, to: boxes }
                    pull: { path: /items, \(pull) }
                  boxes:
                    fields: { id: { type: string }, moved: { type: time } }
                    pull:
                      path: /boxes
                      detail:
                        path: "/boxes/{id}/items?order=asc"
                        into: items
                        when_changed: moved
                        records: things
                        pagination: { style: offset, size: take, page_size: 2, total: [sum, n] }
                """, file: "styles.yaml")
        let rows = records.map { $0.hasPrefix("{") ? $0 : #"{"id":"\#($0)","kind":"a","box":"b"}"# }
        return try Harness(schema, ["items": rows, "boxes": [#"{"id":"b"}"#]])
    }

    private let path = "result.items"

    @Test("an offset list has offset, size and total, in the first of several places")
    func offset() async throws {
        let harness = try list("pagination: { style: offset, page_size: 2, total: [meta.total, n] }")
        #expect(
            try await harness.get("/items?offset=3").text
                == #"{"success":true,"result":{"items":[{"id":"4","kind":"a","box":"b"},"#
                + #"{"id":"5","kind":"a","box":"b"}]},"meta":{"offset":3,"limit":2,"total":5}}"#)
        #expect(try await harness.get("/items?offset=5").at(path).text == "[]")
        #expect(try await harness.get("/items?offset=\(Int.max)").at(path).text == "[]")
        #expect(try await harness.get("/items?offset=-1").status == 400)
    }

    @Test("a cursor list returns a token, and null at the end")
    func cursor() async throws {
        let harness = try list("pagination: { style: cursor, cursor: after, next: meta.next, page_size: 3 }")
        let first = try await harness.get("/items")
        let token = try #require(try first.at("meta.next").string)
        let second = try await harness.get("/items?after=\(Entity.percentEncoded(token))")
        #expect(try second.column("id", of: path) == ["4", "5"])
        #expect(try second.at("meta.next") == .null)
    }

    @Test("a list whose later pages another call has comes whole, because that call is not served")
    func continued() async throws {
        let call = #"continue: { path: /more, query: { at: "{$cursor}" } }"#
        let harness = try list("pagination: { style: cursor, next: meta.next, page_size: 3, \(call) }")
        let reply = try await harness.get("/items?limit=2")
        #expect(try reply.column("id", of: path) == ["1", "2", "3", "4", "5"])
        #expect(try reply.at("meta.next") == .null)
    }

    @Test("an unknown token is refused", arguments: ["x", "", "MQ==", "Ly8v"])
    func wrongToken(_ token: String) async throws {
        let harness = try list("pagination: { style: cursor, next: next }")
        let reply = try await harness.get("/items?cursor=\(token)")
        #expect(reply.status == 400)
    }

    @Test("a link keeps the other parameters for the next page, and is absolute if the host is known")
    func link() async throws {
        let harness = try list("pagination: { style: link, page_size: 2 }")
        let reply = try await harness.get("/items?kind=a&limit=1", [("Host", "shop.example:81")])
        let link = try #require(reply.header("Link"))
        #expect(link.hasPrefix("<http://shop.example:81/items?kind=a&limit=1&cursor="))
        #expect(link.hasSuffix(">; rel=\"next\""))
        #expect(try await harness.get("/items").header("Link")?.hasPrefix("</items?cursor=") == true)
        #expect(try await harness.get("/items?limit=5").header("Link") == nil)
    }

    @Test("a header names the next page's number and is empty on the last")
    func header() async throws {
        let harness = try list("pagination: { style: header, header: X-Next, page: p, page_size: 3 }")
        #expect(try await harness.get("/items").header("X-Next") == "2")
        #expect(try await harness.get("/items?p=2").header("X-Next") == "")
        #expect(try await harness.get("/items?p=2").column("id", of: path) == ["4", "5"])
    }

    @Test("a next address is in the response, and null at the end")
    func nextURL() async throws {
        let harness = try list("pagination: { style: next_url, next: links.next, page_size: 3 }")
        let next = try #require(try await harness.get("/items").at("links.next").string)
        let last = try await harness.get(next)
        #expect(try last.column("id", of: path) == ["4", "5"])
        #expect(try last.at("links.next") == .null)
    }

    @Test("an unpaged response has everything, whatever the page size")
    func single() async throws {
        let harness = try list("pagination: { style: single }", (1...1500).map { "\($0)" })
        #expect(try await harness.get("/items?limit=2").at(path).elements.count == 1500)
    }

    @Test("without a place, the list is the whole response")
    func bare() async throws {
        let harness = try list("pagination: { style: link, page_size: 1 }", ["1", "2"], at: "")
        #expect(try await harness.get("/items").text == #"[{"id":"1","kind":"a","box":"b"}]"#)
    }

    @Test("the schema's constant parameters filter nothing")
    func constants() async throws {
        let harness = try list("query: { kind: any, sort: id }, pagination: { style: single }")
        #expect(try await harness.get("/items?kind=any&sort=id").at(path).elements.count == 5)
        #expect(try await harness.get("/items?kind=b").at(path).text == "[]")
    }

    @Test("a detail list is paged in its own style, also if its path has parameters")
    func detail() async throws {
        let harness = try list("pagination: { style: single }")
        let reply = try await harness.get("/boxes/b/items?order=asc&take=2&offset=4")
        #expect(try reply.column("id", of: "things") == ["5"])
        #expect(try reply.at("sum") == 5)
        #expect(try reply.at("offset") == 4)
    }

    @Test("newest first is by change time, then key; records without a time come last, deleted ones are included")
    func newestFirst() async throws {
        let rows = [("d", "02"), ("b", "03"), ("c", "02"), ("a", "01")].map {
            #"{"id":"\#($0)","changed":"2023-01-\#($1)T00:00:00Z"}"#
        }
        let harness = try list(
            "mode: newest_first, changed_at: changed, deleted: gone, pagination: { style: page, page_size: 2 }",
            [#"{"id":"y"}"#] + rows + [#"{"id":"x"}"#])
        var seen: [String] = []
        for page in 1...3 { seen += try await harness.get("/items?page=\(page)").column("id", of: path) }
        #expect(seen == ["b", "d", "c", "a", "y", "x"])
        try harness.at("2023-02-01T00:00:00Z")
        try harness.upstream.delete("items", "c")
        try harness.upstream.update("items", "x", with: .object(["kind": "z"]))
        #expect(try await harness.get("/items?limit=9").column("id", of: path) == ["x", "c", "b", "d", "a", "y"])
    }
}
