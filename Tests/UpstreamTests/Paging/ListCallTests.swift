import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import Upstream

@Suite("Lists that are posted for, and what the next pull asks with")
struct ListCallTests {
    private static func schema(_ pull: String) throws -> EntitySchema {
        try EntitySchema(
            yaml: """
                schema: s
                upstream: { base_url: "https://shop.example/api", account: { path: /me, id: id } }
                entities: { orders: { fields: { id: { type: string }, changed: { type: time } }, pull: { \(pull) } } }
                """, file: "s.yaml")
    }

    private func upstream(
        _ schema: EntitySchema, _ answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse
    ) -> (HTTPUpstream, ScriptedTransport) {
        let transport = ScriptedTransport { answer($0) }
        return (
            HTTPUpstream(plan: schema.upstream, transport: transport), transport
        )
    }

    private static let search = """
        call: POST /orders/_search, records: hits.hits,
        body: { size: "{$size}", sort: [{ changed: asc }], search_after: "{$cursor}" },
        pagination: { style: cursor, next: { last: sort }, page_size: 2, total: hits.total.value }
        """

    @Test("a list of Elasticsearch is read to its end by the sort values of each page's last hit")
    func searchAfter() async throws {
        let schema = try Self.schema(Self.search)
        let (upstream, transport) = upstream(schema) { request in
            let body = String(decoding: request.body ?? [], as: UTF8.self)
            let hits =
                body.contains("search_after")
                ? #"[{"id":"c","sort":[3,"c"]}]"# : #"[{"id":"a","sort":[1,"a"]},{"id":"b","sort":[2,"b"]}]"#
            return .json(200, #"{"hits":{"total":{"value":3},"hits":\#(hits)}}"#)
        }
        let plan = try #require(schema["orders"]?.pull)
        let first = try await upstream.page(plan.request(of: "orders"))
        #expect(first.total == 3 && first.next == #"[2,"b"]"#)
        let second = try await upstream.page(plan.request(of: "orders", at: first.next))
        #expect(second.next == nil && second.count == 1)
        let sent = transport.requests.map { String(decoding: $0.body ?? [], as: UTF8.self) }
        #expect(
            sent == [
                #"{"size":2,"sort":[{"changed":"asc"}]}"#,
                #"{"size":2,"sort":[{"changed":"asc"}],"search_after":[2,"b"]}"#,
            ])
        #expect(transport.requests.allSatisfy { $0.method == "POST" && $0.isSafe && $0.maximumBody > 4 << 20 })
    }

    @Test("pages are asked for by their first and last record", arguments: [(0, "0-1", "2-3"), (1, "1-2", "3-4")])
    func range(first: Int, _ one: String, _ two: String) async throws {
        let schema = try Self.schema(
            """
            path: /orders, query: { range: "{$offset}-{$last}" }, pagination: { style: offset, first: \(first), size: none,
            page_size: 2, total: { header: Content-Range } }
            """)
        let (upstream, transport) = upstream(schema) { _ in
            .json(206, #"[{"id":"a"},{"id":"b"}]"#, [HTTPHeader("Content-Range", "0-1/4")])
        }
        let plan = try #require(schema["orders"]?.pull)
        let page = try await upstream.page(plan.request(of: "orders"))
        #expect(page.total == 4 && page.next == "2")
        _ = try await upstream.page(plan.request(of: "orders", at: page.next))
        #expect(transport.requests.map(\.url) == [one, two].map { "https://shop.example/api/orders?range=\($0)" })
    }

    @Test("206 without a range says that more follows, so only on the last page does it say that records are lacking")
    func more() async throws {
        let schema = try Self.schema(
            "path: /orders, pagination: { style: offset, offset: start, size: none, page_size: 2 }")
        let (upstream, _) = upstream(schema) { request in
            .json(206, request.url.contains("start=2") ? #"[{"id":"c"}]"# : #"[{"id":"a"},{"id":"b"}]"#)
        }
        let plan = try #require(schema["orders"]?.pull)
        let first = try await upstream.page(plan.request(of: "orders"))
        #expect(first.next == "2" && first.partial == nil)
        let last = try await upstream.page(plan.request(of: "orders", at: first.next))
        #expect(last.next == nil && last.partial == "status 206")
    }

    @Test("a cursor that is a list belongs in a body")
    func arrayInQuery() async throws {
        let schema = try Self.schema("path: /orders, records: data, pagination: { style: cursor, next: next }")
        let (upstream, _) = upstream(schema) { _ in .json(200, #"{"data":[{"id":"a"}],"next":[1]}"#) }
        let plan = try #require(schema["orders"]?.pull)
        await #expect(throws: UpstreamError.self) { try await upstream.page(plan.request(of: "orders")) }
    }

    @Test("the account and the upstream's time are filled in")
    func account() async throws {
        let schema = try Self.schema(#"path: /orders, query: { by: "{$account}", after: "{$now-1d:date}" }"#)
        let (upstream, transport) = upstream(schema) { request in
            request.url.hasSuffix("/me") ? .json(200, #"{"id":42}"#) : .json(200, "[]")
        }
        let plan = try #require(schema["orders"]?.pull)
        _ = try await upstream.page(plan.request(of: "orders"))
        let day = TimeFormat.date.text(Timestamp.sample - .seconds(86_400))
        #expect(transport.requests.last?.url == "https://shop.example/api/orders?by=42&after=\(day)")
    }

    @Test("a token of the last page goes back as a parameter, and not from a page before")
    func token() async throws {
        let schema = try Self.schema(
            """
            path: /orders, records: data, since: { token: meta.sync_token, param: token },
            pagination: { style: cursor, next: next }
            """)
        let (upstream, transport) = upstream(schema) { request in
            request.url.contains("cursor=2")
                ? .json(200, #"{"data":[{"id":"b"}],"meta":{"sync_token":"t 2"}}"#)
                : .json(200, #"{"data":[{"id":"a"}],"next":"2","meta":{"sync_token":"t1"}}"#)
        }
        let plan = try #require(schema["orders"]?.pull)
        let first = try await upstream.page(plan.request(of: "orders"))
        #expect(first.next == "2" && first.delta == nil)
        let last = try await upstream.page(plan.request(of: "orders", at: "2"))
        #expect(last.delta == "t 2")
        _ = try await upstream.page(plan.request(of: "orders", delta: last.delta))
        #expect(transport.requests.last?.url == "https://shop.example/api/orders?token=t%202&limit=100")
    }

    @Test("an answer that says that it is the whole list refuses the token, and not a request without one")
    func ignoredToken() async throws {
        let schema = try Self.schema(
            "path: /sync, records: items, since: { token: sync_token, param: sync_token, full: full_sync }")
        for mark in ["true", "1", "false", "null"] {
            let (upstream, _) = upstream(schema) { _ in
                .json(200, #"{"items":[{"id":"a"}],"sync_token":"t2","full_sync":\#(mark)}"#)
            }
            let plan = try #require(schema["orders"]?.pull)
            #expect(try await upstream.page(plan.request(of: "orders")).delta == "t2")
            var isRefused = false
            do {
                _ = try await upstream.page(plan.request(of: "orders", delta: "t1"))
            } catch {
                guard case .refused = error else { throw error }
                isRefused = true
            }
            #expect(isRefused == ["true", "1"].contains(mark), "\(mark)")
        }
    }

    @Test("a page that another one follows has a token only in passing")
    func passingToken() async throws {
        let schema = try Self.schema(
            """
            path: /orders, records: data, since: { token: version.max, param: after },
            pagination: { style: cursor, cursor: after, next: { last: version }, page_size: 1 }
            """)
        let (upstream, _) = upstream(schema) { request in
            request.url.contains("after=7")
                ? .json(200, #"{"data":[],"version":{"max":null}}"#)
                : .json(200, #"{"data":[{"id":"a","version":7}],"version":{"max":7}}"#)
        }
        let plan = try #require(schema["orders"]?.pull)
        let first = try await upstream.page(plan.request(of: "orders"))
        #expect(first.next == "7" && first.delta == nil && first.passingDelta == "7")
        let last = try await upstream.page(plan.request(of: "orders", at: "7"))
        #expect(last.next == nil && last.delta == nil && last.passingDelta == nil)
    }

    @Test("the next page and a token may be named inside the records")
    func insideRecords() async throws {
        let paged = try Self.schema(
            "path: /orders, records: data, pagination: { style: cursor, cursor: after, next: data.-1.id }")
        let (upstream, _) = upstream(paged) { request in
            .json(200, request.url.contains("after=b") ? #"{"data":[]}"# : #"{"data":[{"id":"a"},{"id":"b"}]}"#)
        }
        let plan = try #require(paged["orders"]?.pull)
        #expect(try await upstream.page(plan.request(of: "orders")).next == "b")
        #expect(try await upstream.page(plan.request(of: "orders", at: "b")).next == nil)
        let marked = try Self.schema("path: /orders, records: data, since: { token: data.0.seq, param: after }")
        let (other, _) = self.upstream(marked) { _ in .json(200, #"{"data":[{"id":"a","seq":7},{"id":"b","seq":3}]}"#) }
        let request = try #require(marked["orders"]?.pull?.request(of: "orders"))
        #expect(try await other.page(request).delta == "7")
    }

    @Test("the next page is found by its name in a list of links")
    func namedLink() async throws {
        let schema = try Self.schema(
            "path: /orders, records: data, pagination: { style: next_url, next: links.rel=next.href }")
        let (upstream, _) = upstream(schema) { request in
            let next = #",{"rel":"next","href":"https://shop.example/api/orders?page=2"}"#
            let links = #"[{"rel":"self","href":"x"}\#(request.url.contains("page=2") ? "" : next)]"#
            return .json(200, #"{"data":[{"id":"a"}],"links":\#(links)}"#)
        }
        let plan = try #require(schema["orders"]?.pull)
        let first = try await upstream.page(plan.request(of: "orders"))
        #expect(first.next == "/orders?page=2")
        #expect(try await upstream.page(plan.request(of: "orders", at: first.next)).next == nil)
    }

    @Test("records inside the elements of a list leave total and next page in their places")
    func throughList() async throws {
        let schema = try Self.schema(
            """
            path: /orders, records: edges.*.node,
            pagination: { style: cursor, cursor: after, next: end, total: total }
            """)
        let (upstream, _) = upstream(schema) { request in
            let number = request.url.contains("after=odd") ? "NaN" : "1"
            return .json(200, #"{"edges":[{"node":{"id":"a","n":\#(number)}}],"end":"c1","total":2}"#)
        }
        let plan = try #require(schema["orders"]?.pull)
        let page = try await upstream.page(plan.request(of: "orders"))
        #expect(page.records.text == #"[{"id":"a","n":1}]"# && page.next == "c1" && page.total == 2)
        // Which record has the number is not known.
        await #expect(throws: UpstreamError.self) { try await upstream.page(plan.request(of: "orders", at: "odd")) }
    }

    @Test("a token that no URL has room for counts as none", arguments: [(8192, true), (8193, false)])
    func longToken(_ length: Int, _ isKept: Bool) async throws {
        let schema = try Self.schema("path: /orders, records: data, since: { token: meta.sync_token, param: token }")
        let token = String(repeating: "t", count: length)
        let (upstream, _) = upstream(schema) { _ in .json(200, #"{"data":[],"meta":{"sync_token":"\#(token)"}}"#) }
        let plan = try #require(schema["orders"]?.pull)
        #expect(try await upstream.page(plan.request(of: "orders")).delta == (isKept ? token : nil))
    }

    private static let link = """
        path: /Orders, records: value, since: { link: '"@odata.deltaLink"' },
        pagination: { style: next_url, next: '"@odata.nextLink"' }
        """

    @Test("a delta link is the whole address of the next pull")
    func deltaLink() async throws {
        let schema = try Self.schema(Self.link)
        let (upstream, transport) = upstream(schema) { _ in
            .json(200, #"{"value":[],"@odata.deltaLink":"https://shop.example/api/Orders?$deltatoken=7"}"#)
        }
        let plan = try #require(schema["orders"]?.pull)
        let page = try await upstream.page(plan.request(of: "orders"))
        #expect(page.delta == "/Orders?$deltatoken=7")
        _ = try await upstream.page(plan.request(of: "orders", delta: page.delta))
        #expect(transport.requests.last?.url == "https://shop.example/api/Orders?$deltatoken=7")
    }

    @Test("later pages of a delta link are asked for by the list's own paging")
    func pagesOfDeltaLink() async throws {
        let schema = try Self.schema(
            "path: /orders, records: data, since: { link: delta }, pagination: { style: cursor, next: next }")
        let (upstream, transport) = upstream(schema) { request in
            request.url.contains("cursor=")
                ? .json(200, #"{"data":[{"id":"b"}],"delta":"/api/orders?mark=8"}"#)
                : .json(200, #"{"data":[{"id":"a"}],"next":"p 2"}"#)
        }
        let plan = try #require(schema["orders"]?.pull)
        let first = try await upstream.page(plan.request(of: "orders", delta: "/orders?mark=7"))
        #expect(transport.requests.last?.url == "https://shop.example/api/orders?mark=7")
        let last = try await upstream.page(plan.request(of: "orders", at: first.next, delta: "/orders?mark=7"))
        #expect(transport.requests.last?.url == "https://shop.example/api/orders?mark=7&cursor=p%202")
        #expect(last.delta == "/orders?mark=8")
    }

    @Test(
        "a delta link to another place is never followed",
        arguments: ["https://evil.example/api/Orders", "http://evil.example/api/Orders", "/other", "//evil.example/x"])
    func elsewhere(_ link: String) async throws {
        let schema = try Self.schema(Self.link)
        let (upstream, _) = upstream(schema) { _ in .json(200, #"{"value":[],"@odata.deltaLink":"\#(link)"}"#) }
        let plan = try #require(schema["orders"]?.pull)
        await #expect(throws: UpstreamError.self) { try await upstream.page(plan.request(of: "orders")) }
    }
}
