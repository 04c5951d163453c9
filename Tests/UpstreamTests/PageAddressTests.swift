import JSONText
import Testing

@testable import EntitySchema
@testable import Upstream

@Suite("Where a page stands")
struct PageAddressTests {
    private let base = BaseAddress("https://api.example.org/v2")

    private func address(
        _ style: ListPlan.Style, _ position: String? = nil, size: String? = "limit", query: [QueryItem] = []
    ) -> PageAddress {
        let list = ListPlan(style: style, size: size, pageSize: 10, total: nil, records: .itself)
        return PageAddress(PageRequest(path: "/orders", query: query, list: list, position: position), base: base)
    }

    private func next(
        _ address: PageAddress, _ body: String = "{}", headers: [HTTPHeader] = [], count: Int = 10, total: Int? = nil
    ) throws -> String? {
        try address.next(
            after: HTTPResponse(status: 200, headers: headers), JSONText(parsing: body), count: count, total: total)
    }

    private let page = ListPlan.Style.page(parameter: "page", pages: Place(paths: ["meta.pages", "pages"]))
    private let cursor = ListPlan.Style.cursor(parameter: "after", next: Place(paths: ["next"]))
    private let header = ListPlan.Style.header(name: "Next-Page", parameter: "page")
    private let nextURL = ListPlan.Style.nextURL(Place(paths: ["next"]))

    @Test("the address has the position, the schema's parameters, the time and the size")
    func path() throws {
        let list = ListPlan(style: page, size: "per", pageSize: 10, total: nil, records: .itself)
        let request = PageRequest(
            path: "/orders", query: [QueryItem(name: "with", value: "a&b")],
            since: QueryItem(name: "after", value: "2026-01-01T00:00:00Z"), list: list, position: "3/20")
        let expected = "/orders?page=3&with=a%26b&after=2026-01-01T00%3A00%3A00Z&per=10"
        #expect(PageAddress(request, base: base).path == expected)
    }

    @Test("the first page is asked for as the style has it")
    func first() {
        #expect(address(page).path == "/orders?page=1&limit=10")
        #expect(address(.offset(parameter: "skip")).path == "/orders?skip=0&limit=10")
        for style in [cursor, header, .link, nextURL] { #expect(address(style).path == "/orders?limit=10") }
        #expect(address(.single, size: nil).path == "/orders")
    }

    @Test("a later page is asked for with what the one before gave")
    func later() {
        #expect(address(.offset(parameter: "skip"), "20").path == "/orders?skip=20&limit=10")
        #expect(address(cursor, "a/b=").path == "/orders?after=a%2Fb%3D&limit=10")
        #expect(address(header, "2").path == "/orders?page=2&limit=10")
        #expect(address(.link, "/x?y=1").path == "/x?y=1")
        #expect(address(nextURL, "/x?y=1").path == "/x?y=1")
    }

    @Test("a position of another style is the first page", arguments: ["", "x", "@evil.org/", "-1", ".evil.org"])
    func otherStyle(_ position: String) {
        #expect(address(page, position).path == "/orders?page=1&limit=10")
        #expect(address(.offset(parameter: "skip"), position).path == "/orders?skip=0&limit=10")
        #expect(address(.link, position).path == "/orders?limit=10")
        #expect(address(nextURL, position).path == "/orders?limit=10")
    }

    @Test("pages go on as long as the answer's number of pages says, a number in quotes too")
    func pages() throws {
        #expect(try next(address(page), #"{"meta":{"pages":2}}"#, count: 3) == "2/3")
        #expect(try next(address(page), #"{"pages":"2"}"#, count: 3) == "2/3")
        #expect(try next(address(page, "2/10"), #"{"pages":2}"#) == nil)
        #expect(try next(address(page, "2/10"), #"{"pages":9}"#, count: 0) == nil, "an empty page is the end")
    }

    @Test("without it as long as records are missing, even where the upstream gives fewer a page than asked")
    func pageTotal() throws {
        #expect(try next(address(page), count: 4, total: 9) == "2/4")
        #expect(try next(address(page, "2/4"), count: 4, total: 9) == "3/8")
        #expect(try next(address(page, "3/8"), count: 1, total: 9) == nil)
        #expect(try next(address(page, "2"), total: 20) == nil, "a number alone counts full pages before it")
    }

    @Test("without either until a page is short")
    func pageShort() throws {
        #expect(try next(address(page)) == "2/10")
        #expect(try next(address(page), count: 9) == nil)
    }

    @Test("an offset moves by what came, until the total, a short page or an empty one")
    func offset() throws {
        let style = ListPlan.Style.offset(parameter: "skip")
        #expect(try next(address(style), count: 4, total: 9) == "4")
        #expect(try next(address(style, "4"), count: 5, total: 9) == nil)
        #expect(try next(address(style, "4"), count: 0, total: 9) == nil)
        #expect(try next(address(style, "10"), count: 10) == "20")
        #expect(try next(address(style, "10"), count: 9) == nil)
        #expect(try next(address(style, "\(Int.max)"), count: 10) == nil)
    }

    @Test("a cursor is text or a number, and its absence alone is the end")
    func cursors() throws {
        #expect(try next(address(cursor), #"{"next":"ab"}"#) == "ab")
        #expect(try next(address(cursor), #"{"next":12345678901234567890}"#) == "12345678901234567890")
        #expect(try next(address(cursor), #"{"next":"ab"}"#, count: 0) == "ab")
        for body in ["{}", #"{"next":null}"#, #"{"next":""}"#] { #expect(try next(address(cursor), body) == nil) }
    }

    @Test("a header names the next page; empty or absent it is the end")
    func headers() throws {
        #expect(try next(address(header), headers: [HTTPHeader("next-page", "3")], count: 0) == "3")
        #expect(try next(address(header), headers: [HTTPHeader("Next-Page", "")]) == nil)
        #expect(try next(address(header)) == nil)
    }

    @Test("an address is kept as path and query below the base")
    func addresses() throws {
        let link = HTTPHeader("Link", #"<https://api.example.org/v2/orders?c=1>; rel="next""#)
        #expect(try next(address(.link), headers: [link], count: 0) == "/orders?c=1")
        #expect(try next(address(.link, "/a/b?c=1"), headers: [HTTPHeader("Link", "<?c=2>; rel=next")]) == "/a/b?c=2")
        #expect(try next(address(.link)) == nil)
        #expect(try next(address(nextURL), #"{"next":"/v2/orders?c=1"}"#, count: 0) == "/orders?c=1")
        #expect(try next(address(nextURL), #"{"next":null}"#) == nil)
        #expect(try next(address(nextURL), #"{"next":""}"#) == nil)
    }

    @Test("an address elsewhere is refused, and the message says what to do")
    func elsewhere() {
        for (style, body, headers) in [
            (nextURL, #"{"next":"https://evil.org/v2/orders"}"#, []),
            (.link, "{}", [HTTPHeader("Link", "<//evil.org/v2/orders>; rel=next")]),
        ] {
            #expect {
                try next(address(style), body, headers: headers)
            } throws: { error in
                guard case .malformed(let message) = error as? UpstreamError else { return false }
                return message.contains("evil.org") && message.contains("base_url")
            }
        }
    }

    @Test("a next page of another kind than expected is refused")
    func wrongKind() {
        for (style, body) in [(cursor, #"{"next":{"a":1}}"#), (cursor, #"{"next":true}"#), (nextURL, #"{"next":3}"#)] {
            #expect(throws: UpstreamError.self) { try next(address(style), body) }
        }
        #expect(throws: UpstreamError.self) {
            try next(address(.link), headers: [HTTPHeader("Link", "orders; rel=next")])
        }
    }

    @Test("everything in one answer has no next page")
    func single() throws {
        #expect(try next(address(.single, size: nil), total: 100) == nil)
    }
}
