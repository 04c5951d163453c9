import EntitySchema
import JSONText
import ReferenceUpstream
import Testing

@Suite("Lists by POST, by token, and of deletions")
struct DeltaListTests {
    private func harness(_ pull: String, _ rows: ClosedRange<Int> = 1...5) throws -> Harness {
        let schema = try EntitySchema(
            yaml: """
                schema: feeds
                upstream:
                  base_url: http://localhost
                  records: value
                  pagination: { style: single }
                entities:
                  items:
                    fields: { id: { type: string }, name: { type: string }, changed: { type: time } }
                    pull: { \(pull) }
                """, file: "feeds.yaml")
        return try Harness(
            schema,
            ["items": rows.map { #"{"id":"\#($0)","name":"n\#($0)","changed":"2023-01-01T00:00:00.000Z"}"# }])
    }

    private let token = """
        path: /items, since: { token: sync.token, param: sync }, deleted: "@removed", \
        pagination: { style: cursor, cursor: after, next: next, page_size: 2 }
        """

    @Test("a token brings what changed since the list was read, deletions too, each once")
    func tokens() async throws {
        let harness = try harness(token, 1...2)
        let first = try #require(try await harness.get("/items").at("sync.token").string)
        try harness.upstream.update("items", "1", with: JSONText.object(["name": "a"]))
        try harness.upstream.update("items", "1", with: JSONText.object(["name": "b"]))
        try harness.upstream.delete("items", "2")
        let changes = try await harness.get("/items?sync=\(first)")
        #expect(try changes.column("name", of: "value") == ["b", "–"])
        #expect(try changes.at("value").elements[1]["@removed"]?.string != nil)
        let second = try #require(try changes.at("sync.token").string)
        #expect(try await harness.get("/items?sync=\(second)").at("value").elementCount == 0)
        #expect(try await harness.get("/items?sync=9999-1").status == 410)
        #expect(try await harness.get("/items?sync=x").status == 410)
    }

    @Test("what changes behind the reader of a list comes with the token of its last page")
    func behind() async throws {
        let harness = try harness(token, 1...3)
        let page = try await harness.get("/items")
        #expect(try page.json().at(path: "sync") == nil)
        try harness.upstream.update("items", "1", with: JSONText.object(["name": "late"]))
        let next = Entity.percentEncoded(try page.at("next").plain)
        let last = try #require(try await harness.get("/items?after=\(next)").at("sync.token").string)
        #expect(try await harness.get("/items?sync=\(last)").column("name", of: "value") == ["late"])
    }

    @Test("after another set of habits all records count as changed, each on one page")
    func adopted() async throws {
        let harness = try harness(token, 1...5)
        var next = ""
        var keys: [String] = []
        harness.upstream.habits = Habits(.trim)
        repeat {
            let page = try await harness.get("/items?sync=0-0\(next)")
            keys += try page.column("id", of: "value")
            next = try page.at("next").string.map { "&after=\(Entity.percentEncoded($0))" } ?? ""
        } while !next.isEmpty
        #expect(keys == ["1", "2", "3", "4", "5"])
    }

    @Test("a delta link has the path and query of the next pull, at a place whose name has dots")
    func links() async throws {
        let harness = try harness(
            #"path: /items, since: { link: '"@odata.deltaLink"' }, pagination: { style: next_url, next: '"@odata.nextLink"', page_size: 2 }"#
        )
        let first = try await harness.get("/items?limit=3")
        let next = try #require(try first.json()["@odata.nextLink"]?.string)
        let last = try await harness.get(next)
        let link = try #require(try last.json()["@odata.deltaLink"]?.string)
        #expect(link.hasPrefix("/items?limit=3&delta="))
        try harness.upstream.update("items", "4", with: JSONText.object(["name": "new"]))
        #expect(try await harness.get(link).column("name", of: "value") == ["new"])
    }

    @Test("a list by POST reads its position, size and time from the body")
    func posted() async throws {
        let harness = try harness(
            """
            call: POST /search, since: { field: changed, format: epoch }, \
            pagination: { style: offset, page_size: 2, total: total }, \
            body: { from: "{$offset}", size: "{$size}", query: "changed >= {$since:epoch}", fixed: [1, x] }
            """)
        func ids(_ body: String) async throws -> [String] {
            try await harness.send("POST", "/search", body).column("id", of: "value")
        }
        #expect(try await ids(#"{"from":0,"size":3,"fixed":[1,"x"]}"#) == ["1", "2", "3"])
        #expect(try await ids(#"{"from":4,"size":3,"fixed":[1,"x"]}"#) == ["5"])
        try harness.at("2023-06-01T00:00:00Z")
        try harness.upstream.update("items", "4", with: JSONText.object(["name": "new"]))
        #expect(try await ids(#"{"from":0,"size":3,"query":"changed >= 1685577600","fixed":[1,"x"]}"#) == ["4"])
        #expect(try await harness.get("/search").status == 405)
    }

    @Test("a list of changes has an address of its own, or a body that says since when")
    func changes() async throws {
        let harness = try harness(
            """
            call: POST /search, body: { all: true }, since: { field: changed }, \
            changes: { call: POST /search, body: { from: "{$since}" }, records: rows }
            """)
        try harness.at("2023-06-01T00:00:00Z")
        try harness.upstream.update("items", "4", with: JSONText.object(["name": "new"]))
        let all = try await harness.send("POST", "/search", #"{"all":true}"#)
        #expect(try all.column("id", of: "value").count == 5)
        let changed = try await harness.send("POST", "/search", #"{"from":"2023-05-01T00:00:00Z"}"#)
        #expect(try changed.column("id", of: "rows") == ["4"])
        let apart = try self.harness(
            "path: /items, since: { param: since, field: changed }, changes: { path: /changed, records: rows }")
        #expect(try await apart.get("/items").column("id", of: "value").count == 5)
        #expect(try await apart.get("/changed?since=2023-05-01T00:00:00Z").at("rows").elementCount == 0)
    }

    @Test("where both lists have one address, the query says which one is asked for")
    func changesAtOneAddress() async throws {
        let sorted = try harness(
            """
            path: /items, mode: newest_first, changed_at: changed, \
            changes: { path: /items, query: { sort: newest }, records: rows }
            """)
        try sorted.at("2023-06-01T00:00:00Z")
        try sorted.upstream.update("items", "4", with: JSONText.object(["name": "new"]))
        #expect(try await sorted.get("/items").column("id", of: "value") == ["1", "2", "3", "4", "5"])
        #expect(try await sorted.get("/items?sort=newest").column("id", of: "rows").first == "4")
        let since = try harness(
            "path: /items, since: { param: since, field: changed }, changes: { path: /items, records: rows }")
        #expect(try await since.get("/items").column("id", of: "value").count == 5)
        #expect(try await since.get("/items?since=2023-05-01T00:00:00Z").at("rows").elementCount == 0)
    }

    @Test("a time in a header asks for what changed, also where both lists have one address")
    func timeInHeader() async throws {
        let headers = #"headers: { If-Modified-Since: "{$since}" }"#
        let since = "since: { field: changed, format: http }"
        let time = [("If-Modified-Since", "Mon, 01 May 2023 00:00:00 GMT")]
        let one = try harness("path: /items, \(headers), \(since)")
        try one.at("2023-06-01T00:00:00Z")
        try one.upstream.update("items", "4", with: JSONText.object(["name": "new"]))
        #expect(try await one.get("/items").column("id", of: "value").count == 5)
        #expect(try await one.get("/items", time).column("id", of: "value") == ["4"])
        let two = try harness(
            "path: /items, \(since), changes: { path: /items, \(headers), records: rows }")
        #expect(try await two.get("/items").column("id", of: "value").count == 5)
        #expect(try await two.get("/items", time).at("rows").elementCount == 0)
    }

    @Test("a list of deletions is asked for by time, and has those of records that are back")
    func dated() async throws {
        let harness = try harness(
            """
            path: /items, changed_at: changed, \
            deleted: { path: /gone, key: item.id, at: at, since: { param: from }, records: rows }
            """)
        try harness.at("2023-06-01T00:00:00Z")
        try harness.upstream.delete("items", "2")
        try harness.at("2023-06-02T00:00:00Z")
        try harness.upstream.delete("items", "3")
        try harness.upstream.create(JSONText.object(["id": "2"]), in: "items")
        let all = try await harness.get("/gone").at("rows")
        #expect(
            all.elements.map(\.text) == [
                #"{"item":{"id":"2"},"at":"2023-06-01T00:00:00.000Z"}"#,
                #"{"item":{"id":"3"},"at":"2023-06-02T00:00:00.000Z"}"#,
            ])
        #expect(try await harness.get("/gone?from=2023-06-01T12:00:00Z").at("rows").elementCount == 1)
    }

    @Test("a list of deletions by token names each once, and forgets what its habits say")
    func undated() async throws {
        let harness = try harness(
            "path: /items, deleted: { call: POST /gone, body: { since: \"{$delta}\" }, since: { token: mark } }")
        try harness.upstream.delete("items", "1")
        let first = try await harness.send("POST", "/gone", "{}")
        #expect(try first.at("value").text == #"[{"id":"1"}]"#)
        try harness.upstream.delete("items", "2")
        let mark = try first.at("mark").text
        #expect(try await harness.send("POST", "/gone", #"{"since":\#(mark)}"#).at("value").text == #"[{"id":"2"}]"#)
        var habits = Habits()
        habits.set(.forgottenTombstones, .seconds(60))
        harness.upstream.habits = habits
        try harness.at("2023-11-16T00:00:00Z")
        #expect(try await harness.send("POST", "/gone", "{}").at("value").text == "[]")
        habits.set(.failingTombstones, share: 1)
        harness.upstream.habits = habits
        #expect(try await harness.send("POST", "/gone", "{}").status == 503)
    }
}
