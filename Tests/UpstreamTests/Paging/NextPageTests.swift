import JSONText
import Testing

@testable import EntitySchema
@testable import Upstream

@Suite("Pages of a list")
struct NextPageTests {
    private let base = BaseAddress("https://api.example.org/v2")

    private func pageRequest(
        _ style: ListPlan.Style, _ position: String? = nil, size: String? = "limit", query: [QueryItem] = []
    ) -> PageRequest {
        let list = ListPlan(style: style, size: size, pageSize: 10, total: nil, records: .itself)
        return PageRequest(path: "/orders", query: query, list: list, position: position)
    }

    private func next(
        _ page: PageRequest, _ body: String = "{}", headers: [HTTPHeader] = [], count: Int = 10, total: Int? = nil
    ) throws -> String? {
        try NextPage(after: page, base: base).position(
            in: HTTPResponse(status: 200, headers: headers), JSONText(parsing: body), count: count, total: total)
    }

    private let page = ListPlan.Style.page(parameter: "page", pages: Place(paths: ["meta.pages", "pages"]))
    private let cursor = ListPlan.Style.cursor(parameter: "after", next: Place(paths: ["next"]))
    private let header = ListPlan.Style.header(name: "Next-Page", parameter: "page")
    private let nextURL = ListPlan.Style.nextURL(Place(paths: ["next"]))

    @Test("the path has the position, the schema's parameters, the time and the size")
    func path() throws {
        let list = ListPlan(style: page, size: "per", pageSize: 10, total: nil, records: .itself)
        let request = PageRequest(
            path: "/orders", query: [QueryItem(name: "with", value: "a&b")],
            since: QueryItem(name: "after", value: "2026-01-01T00:00:00Z"), list: list, position: "3/20")
        let expected = "/orders?page=3&with=a%26b&after=2026-01-01T00%3A00%3A00Z&per=10"
        #expect(request.request.path == expected)
    }

    @Test("the first page is requested in the list's paging style")
    func first() {
        #expect(pageRequest(page).request.path == "/orders?page=1&limit=10")
        #expect(pageRequest(.offset(parameter: "skip")).request.path == "/orders?skip=0&limit=10")
        for style in [cursor, header, .link, nextURL] { #expect(pageRequest(style).request.path == "/orders?limit=10") }
        #expect(pageRequest(.single, size: nil).request.path == "/orders")
    }

    @Test("a later page is requested with the position from the page before")
    func later() {
        #expect(pageRequest(.offset(parameter: "skip"), "20").request.path == "/orders?skip=20&limit=10")
        #expect(pageRequest(cursor, "a/b=").request.path == "/orders?after=a%2Fb%3D&limit=10")
        #expect(pageRequest(header, "2").request.path == "/orders?page=2&limit=10")
        #expect(pageRequest(.link, "/x?y=1").request.path == "/x?y=1")
        #expect(pageRequest(nextURL, "/x?y=1").request.path == "/x?y=1")
        #expect(pageRequest(nextURL, "?y=1").request.path == "?y=1", "at the base itself")
    }

    @Test("a position of another style is the first page", arguments: ["", "x", "@evil.org/", "-1", ".evil.org"])
    func otherStyle(_ position: String) {
        #expect(pageRequest(page, position).request.path == "/orders?page=1&limit=10")
        #expect(pageRequest(.offset(parameter: "skip"), position).request.path == "/orders?skip=0&limit=10")
        #expect(pageRequest(.link, position).request.path == "/orders?limit=10")
        #expect(pageRequest(nextURL, position).request.path == "/orders?limit=10")
    }

    @Test("a list that says that there is more goes on, although it names no next page")
    func unnamed() throws {
        func earlyEnd(_ body: String) throws -> String? {
            var request = pageRequest(cursor)
            request.list.more = Place(paths: ["has_more"])
            return try NextPage(after: request, base: base).earlyEnd(JSONText(parsing: body), count: 10, total: nil)
        }
        #expect(try earlyEnd(#"{"next":null,"has_more":true}"#) == "has_more, and no next page")
        #expect(try earlyEnd(#"{"next":null,"has_more":false}"#) == nil)
        #expect(try earlyEnd(#"{"next":null}"#) == nil)
    }

    @Test("pages continue up to the response's number of pages, even when that is in quotes")
    func pages() throws {
        #expect(try next(pageRequest(page), #"{"meta":{"pages":2}}"#, count: 3) == "2/3")
        #expect(try next(pageRequest(page), #"{"pages":"2"}"#, count: 3) == "2/3")
        #expect(try next(pageRequest(page, "2/10"), #"{"pages":2}"#) == nil)
        #expect(try next(pageRequest(page, "2/10"), #"{"pages":9}"#, count: 0) == nil, "an empty page is the end")
    }

    @Test(
        "without a page count, pages continue until the total, even with fewer per page than requested"
    )
    func pageTotal() throws {
        #expect(try next(pageRequest(page), count: 4, total: 9) == "2/4")
        #expect(try next(pageRequest(page, "2/4"), count: 4, total: 9) == "3/8")
        #expect(try next(pageRequest(page, "3/8"), count: 1, total: 9) == nil)
        #expect(try next(pageRequest(page, "2"), total: 20) == nil, "a number alone counts full pages before it")
    }

    @Test("without a page count or a total, pages continue until a short page")
    func pageShort() throws {
        #expect(try next(pageRequest(page)) == "2/10")
        #expect(try next(pageRequest(page), count: 9) == nil)
    }

    @Test("an offset advances by the records received, until the total, a short page or an empty one")
    func offset() throws {
        let style = ListPlan.Style.offset(parameter: "skip")
        #expect(try next(pageRequest(style), count: 4, total: 9) == "4")
        #expect(try next(pageRequest(style, "4"), count: 5, total: 9) == nil)
        #expect(try next(pageRequest(style, "4"), count: 0, total: 9) == nil)
        #expect(try next(pageRequest(style, "10"), count: 10) == "20")
        #expect(try next(pageRequest(style, "10"), count: 9) == nil)
        #expect(try next(pageRequest(style, "\(Int.max)"), count: 10) == nil)
    }

    @Test("an empty page is not the last one where a mark says that there are more")
    func hidden() throws {
        for (style, position, expected) in [
            (page, "3/14", "4/14"), (.offset(parameter: "skip"), "14", "24"),
        ] as [(ListPlan.Style, String, String)] {
            var request = pageRequest(style, position)
            request.list.more = Place(paths: ["has_more"])
            #expect(try next(request, #"{"has_more":true,"pages":1}"#, count: 0, total: 14) == expected)
            #expect(try next(request, #"{"has_more":false,"pages":9}"#, count: 0, total: 90) == nil)
        }
    }

    @Test(
        "a mark that says that there are more pages is a boolean, or the number of records that are left",
        arguments: [
            ("true", true), ("false", false), ("57", true), ("1", true), ("0", false), (#""57""#, true),
        ])
    func more(_ mark: String, _ goesOn: Bool) throws {
        for style in [cursor, page, .offset(parameter: "skip")] {
            var request = pageRequest(style)
            request.list.more = Place(paths: ["pending"])
            let next = try next(request, #"{"next":"c","pending":\#(mark)}"#, count: 3)
            #expect((next != nil) == goesOn, "\(style)")
        }
    }

    @Test("a cursor of 0 ends the list on an empty page, where others go on", arguments: ["0", #""0""#])
    func zero(_ cursor: String) throws {
        #expect(try next(pageRequest(self.cursor, "9"), #"{"next":\#(cursor)}"#, count: 0) == nil)
        #expect(try next(pageRequest(self.cursor, "9"), #"{"next":\#(cursor)}"#, count: 3) == "0")
    }

    @Test("a cursor is text or a number, and only its absence or false ends the list")
    func cursors() throws {
        #expect(try next(pageRequest(cursor), #"{"next":"ab"}"#) == "ab")
        #expect(try next(pageRequest(cursor), #"{"next":12345678901234567890}"#) == "12345678901234567890")
        #expect(try next(pageRequest(cursor), #"{"next":"ab"}"#, count: 0) == "ab")
        for body in ["{}", #"{"next":null}"#, #"{"next":""}"#, #"{"next":false}"#] {
            #expect(try next(pageRequest(cursor), body) == nil)
        }
    }

    @Test("a header names the next page; empty or absent, it ends the list")
    func headers() throws {
        #expect(try next(pageRequest(header), headers: [HTTPHeader("next-page", "3")], count: 0) == "3")
        #expect(try next(pageRequest(header), headers: [HTTPHeader("Next-Page", "")]) == nil)
        #expect(try next(pageRequest(header)) == nil)
    }

    @Test("an address is reduced to path and query below the base")
    func pageRequestes() throws {
        let link = HTTPHeader("Link", #"<https://api.example.org/v2/orders?c=1>; rel="next""#)
        #expect(try next(pageRequest(.link), headers: [link], count: 0) == "/orders?c=1")
        #expect(
            try next(pageRequest(.link, "/a/b?c=1"), headers: [HTTPHeader("Link", "<?c=2>; rel=next")]) == "/a/b?c=2")
        #expect(try next(pageRequest(.link)) == nil)
        #expect(try next(pageRequest(nextURL), #"{"next":"/v2/orders?c=1"}"#, count: 0) == "/orders?c=1")
        #expect(try next(pageRequest(nextURL), #"{"next":null}"#) == nil)
        #expect(try next(pageRequest(nextURL), #"{"next":""}"#) == nil)
        #expect(try next(pageRequest(nextURL), #"{"next":false}"#) == nil)
    }

    @Test("a next page at http:// is asked for at the base, as a proxy with TLS is in front of the upstream")
    func behindProxy() throws {
        let body = #"{"next":"http://api.example.org/v2/orders?page=2"}"#
        #expect(try next(pageRequest(nextURL), body) == "/orders?page=2")
        let link = HTTPHeader("Link", #"<http://api.example.org/v2/orders?page=2>; rel="next""#)
        #expect(try next(pageRequest(.link), headers: [link]) == "/orders?page=2")
    }

    @Test("an address on another host is rejected, and the message says what to do")
    func elsewhere() {
        for (style, body, headers) in [
            (nextURL, #"{"next":"https://evil.org/v2/orders"}"#, []),
            (.link, "{}", [HTTPHeader("Link", "<//evil.org/v2/orders>; rel=next")]),
        ] {
            #expect {
                try next(pageRequest(style), body, headers: headers)
            } throws: { error in
                guard case .malformed(let message) = error as? UpstreamError else { return false }
                return message.contains("evil.org") && message.contains("base_url")
            }
        }
    }

    @Test(
        "where an answer may not be quoted, only scheme and host of a next page elsewhere are shown",
        arguments: [
            ("https://evil.org/v2/4711?code=4711#4711", "https://evil.org/…"), ("//evil.org/4711", "an address"),
            ("https://4711@evil.org/v2", "an address"), ("4711:4711", "an address"), ("/4711", "an address"),
        ])
    func unquotedElsewhere(_ address: String, _ shown: String) throws {
        var request = pageRequest(nextURL)
        request.mayQuoteAnswer = false
        let body: JSONText = .object(["next": .string(address)])
        let error = #expect(throws: UpstreamError.self) {
            try NextPage(after: request, base: base).position(in: HTTPResponse(status: 200), body, count: 1, total: nil)
        }
        let message = try #require(error).message
        #expect(message.contains("is at \(shown), which") && !message.contains("4711"), "\(message)")
    }

    @Test("a next page of an unexpected type is rejected")
    func wrongKind() {
        for (style, body) in [(cursor, #"{"next":{"a":1}}"#), (cursor, #"{"next":true}"#), (nextURL, #"{"next":3}"#)] {
            #expect(throws: UpstreamError.self) { try next(pageRequest(style), body) }
        }
        #expect(throws: UpstreamError.self) {
            try next(pageRequest(.link), headers: [HTTPHeader("Link", "orders; rel=next")])
        }
    }

    @Test("an unpaged list has no next page")
    func single() throws {
        #expect(try next(pageRequest(.single, size: nil), total: 100) == nil)
    }
}
