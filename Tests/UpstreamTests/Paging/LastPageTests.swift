import EntitySchema
import JSONText
import Synchronization
import TestSupport
import Testing

@testable import Upstream

@Suite("A list whose upstream answers 404 after the last page")
struct LastPageTests {
    /// Reads the list to its end; returns how many records it has. `answer` gets the page's number and the request's.
    private func read(
        _ pagination: String, size: Int = 2, from position: String? = nil,
        _ answer: @escaping @Sendable (_ page: Int, _ request: Int) -> HTTPResponse
    ) async throws -> (records: Int, requests: Int) {
        let yaml = """
            schema: s
            upstream: { base_url: "https://shop.example", pagination: { \(pagination), page_size: \(size) } }
            entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders } } }
            """
        let schema = try EntitySchema(yaml: yaml, file: "s.yaml")
        let count = Counter()
        let transport = ScriptedTransport { request in
            let number = request.url.firstMatch(of: #/(page|skip)=([0-9]+)/#).flatMap { match in
                Int(match.2).map { match.1 == "page" ? $0 : $0 / 2 + 1 }
            }
            return answer(number ?? 0, count.next())
        }
        let upstream = HTTPUpstream(plan: schema.upstream, transport: transport)
        var request = try #require(schema["orders"]?.pull?.request(of: "orders", at: position))
        var records = 0
        repeat {
            let page = try await upstream.page(request)
            records += page.count
            request.position = page.next
        } while request.position != nil
        return (records, transport.requests.count)
    }

    private static let full = HTTPResponse.json(200, #"[{"id":"a"},{"id":"b"}]"#)
    private static let missing = HTTPResponse.json(404, #"{"detail":"Invalid page."}"#)

    @Test("ends there", arguments: ["style: page", "style: offset, offset: skip"])
    func ends(_ pagination: String) async throws {
        let read = try await read(pagination) { page, _ in page < 3 ? Self.full : Self.missing }
        #expect(read.records == 4)
        #expect(read.requests == 5, "the page before, and this one again")
    }

    @Test("ends there also where pages have an unknown length")
    func unknownLength() async throws {
        let read = try await read("style: page, size: none", size: 1) { page, _ in page < 4 ? Self.full : Self.missing }
        #expect(read.records == 6)
    }

    @Test("does not end there if the 404 was one of a gateway, which answers no more so")
    func once() async throws {
        let read = try await read("style: page") { page, request in
            page < 4 && request != 3 ? Self.full : Self.missing
        }
        #expect(read.records == 6)
    }

    @Test("fails if the page before is not served either, or no longer full")
    func unwell() async throws {
        for other in [Self.missing, HTTPResponse.json(200, #"[{"id":"a"}]"#)] {
            await #expect(throws: UpstreamError.self) {
                try await read("style: page") { _, request in
                    request < 3 ? Self.full : request == 3 ? Self.missing : other
                }
            }
        }
    }

    @Test("fails where a total says that there is more, at the first page, and where a list may be cut")
    func others() async throws {
        let total = HTTPResponse.json(200, #"[{"id":"a"},{"id":"b"}]"#, [HTTPHeader("X-Total", "9")])
        await #expect(throws: UpstreamError.self) {
            try await read("style: page, total: { header: X-Total }") { page, _ in page < 3 ? total : Self.missing }
        }
        await #expect(throws: UpstreamError.self) { try await read("style: page") { _, _ in Self.missing } }
        await #expect(throws: UpstreamError.self) {
            try await read("style: page", from: "501/1000") { page, _ in page < 501 ? Self.full : Self.missing }
        }
    }
}

@Suite("A list that goes on behind its total")
struct BehindTotalTests {
    private static let size = 500

    /// Reads the list to its end; returns how many records it has, the totals that it named, and the last page.
    private func read(
        _ pagination: String, _ answer: @escaping @Sendable (_ page: Int) -> HTTPResponse
    ) async throws -> (records: Int, requests: Int, last: Page) {
        let yaml = """
            schema: s
            upstream: { base_url: "https://shop.example", pagination: { \(pagination), page_size: 500 } }
            entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders, records: rows } } }
            """
        let schema = try EntitySchema(yaml: yaml, file: "s.yaml")
        let transport = ScriptedTransport { request in
            let number = request.url.firstMatch(of: #/(page|skip)=([0-9]+)/#).flatMap { match in
                Int(match.2).map { match.1 == "page" ? $0 : $0 / 500 + 1 }
            }
            return answer(number ?? 0)
        }
        let upstream = HTTPUpstream(plan: schema.upstream, transport: transport)
        var request = try #require(schema["orders"]?.pull?.request(of: "orders"))
        var last = try await upstream.page(request)
        var records = last.count
        while let next = last.next {
            request.position = next
            last = try await upstream.page(request)
            records += last.count
        }
        return (records, transport.requests.count, last)
    }

    /// The page with this number of a list of so many records.
    private static func page(_ number: Int, of records: Int, total: Int) -> HTTPResponse {
        let first = (number - 1) * size
        let rows = (first..<max(first, min(first + size, records))).map { #"{"id":"\#($0)"}"# }
        let pages = (total + size - 1) / size
        return .json(200, #"{"rows":[\#(rows.joined(separator: ","))],"total":\#(total),"pages":\#(pages)}"#)
    }

    private static let counted = [
        "style: page, total: total", "style: page, pages: pages", "style: offset, offset: skip, total: total",
    ]

    @Test("is read to its end, and the total does not count", arguments: counted)
    func goesOn(_ pagination: String) async throws {
        let read = try await read(pagination) { Self.page($0, of: 2200, total: 1000) }
        #expect(read.records == 2200)
        #expect(read.last.total == nil)
    }

    @Test("is read to its end if the total is an estimate that is too low", arguments: [counted[0], counted[2]])
    func estimate(_ pagination: String) async throws {
        let read = try await read(pagination) { Self.page($0, of: 2200, total: 700) }
        #expect(read.records == 2200)
        #expect(read.last.total == nil)
        let short = try await self.read(pagination) { Self.page($0, of: 900, total: 700) }
        #expect(short.records == 900 && short.requests == 2)
        #expect(short.last.total == 700)
    }

    @Test("is read to its end if the total counts the page alone", arguments: [counted[0], counted[2]])
    func pageTotal(_ pagination: String) async throws {
        let read = try await read(pagination) { Self.page($0, of: 1200, total: $0 < 3 ? 500 : 200) }
        #expect(read.records == 1200)
        #expect(read.last.total == nil)
    }

    @Test("of exactly one page is in doubt while nothing shows where it ends", arguments: [counted[0], counted[2]])
    func onePage(_ pagination: String) async throws {
        let missing = HTTPResponse.json(404, #"{"detail":"Invalid page."}"#)
        let partial = HTTPResponse.json(200, #"{"rows":[],"total":500,"timed_out":true}"#)
        let refused = HTTPResponse.json(400, #"{"code":"invalid_page_number"}"#)
        let answers = [
            (Self.page(2, of: 500, total: 500), true), (missing, true), (Self.first, false), (partial, false),
            (refused, false),
        ]
        for (behind, isKnown) in answers {
            let read = try await read(pagination) { $0 < 2 ? Self.first : behind }
            #expect(read.records == 500)
            #expect(read.last.next == nil)
            #expect((read.last.behindTotal == nil) == isKnown)
            #expect(!read.last.refusesMore)
        }
    }

    private static let first = page(1, of: 500, total: 500)

    @Test("ends there if nothing is behind it, however the upstream says so", arguments: counted)
    func ends(_ pagination: String) async throws {
        let missing = HTTPResponse.json(404, #"{"detail":"Invalid page."}"#)
        for behind in [Self.page(3, of: 1000, total: 1000), Self.page(2, of: 1000, total: 1000), missing] {
            let read = try await read(pagination) { $0 < 3 ? Self.page($0, of: 1000, total: 1000) : behind }
            #expect(read.records == 1000)
            #expect(read.requests == 3)
            #expect(!read.last.refusesMore)
        }
    }

    @Test("ends there if the upstream begins again behind it", arguments: counted)
    func beginsAgain(_ pagination: String) async throws {
        let read = try await read(pagination) { Self.page(($0 - 1) % 2 + 1, of: 1000, total: 1000) }
        #expect(read.records == 1000)
        #expect(read.last.next == nil && !read.last.refusesMore)
    }

    @Test(
        "may have more records if the page behind it is refused, also as a failure",
        arguments: [200, 400, 403, 500, 503])
    func refuses(_ status: Int) async throws {
        let refusal = HTTPResponse.json(status, #"{"error":"Result window is too large"}"#)
        let read = try await read(Self.counted[2]) { $0 < 3 ? Self.page($0, of: 1000, total: 1000) : refusal }
        #expect(read.records == 1000)
        #expect(read.last.refusesMore)
    }

    @Test("lacks records if the page behind it asks to wait or says so, and fails if this one asks to wait as well")
    func waits() async throws {
        let wait = HTTPResponse.json(429, #"{"error":"slow down"}"#, [HTTPHeader("Retry-After", "1")])
        let partial = HTTPResponse.json(200, #"{"rows":[],"total":1000,"timed_out":true}"#)
        for (behind, words) in [(wait, "a wait for the page behind its total"), (partial, "timed_out")] {
            for records in [500, 1000] {
                let pages = records / Self.size
                let read = try await read(Self.counted[0]) {
                    $0 <= pages ? Self.page($0, of: records, total: records) : behind
                }
                #expect(read.records == records)
                #expect(read.last.next == nil && read.last.partial == words)
            }
        }
        let asked = Mutex(0)
        await #expect(throws: UpstreamError.self) {
            try await read(Self.counted[0]) { number in
                let isFirst = asked.withLock { count in
                    count += 1
                    return count == 1
                }
                return isFirst ? Self.page(number, of: 500, total: 500) : wait
            }
        }
    }

    @Test("ends there if the page behind it is a web page with 404")
    func webPage() async throws {
        let missing = HTTPResponse(
            status: 404, headers: [HTTPHeader("Content-Type", "text/html")], body: Array("<html>Not found</html>".utf8))
        let read = try await read(Self.counted[0]) { $0 < 3 ? Self.page($0, of: 1000, total: 1000) : missing }
        #expect(read.records == 1000)
        #expect(read.last.next == nil && !read.last.refusesMore)
    }

    @Test("fails if the page before the refused one is not served any more either")
    func failsBefore() async throws {
        let seconds = Mutex(0)
        await #expect(throws: UpstreamError.self) {
            try await read(Self.counted[0]) { number in
                let isAgain =
                    number == 2
                    && seconds.withLock { count in
                        count += 1; return count > 1
                    }
                return number < 3 && !isAgain
                    ? Self.page(number, of: 1000, total: 1000) : .json(503, #"{"error":"down"}"#)
            }
        }
    }

    @Test("lacks records if a page is empty after full ones and before the end that it counts", arguments: counted)
    func emptyPage(_ pagination: String) async throws {
        func partial(full: Int, total: Int, size: Int = Self.size) async throws -> String? {
            try await read(pagination) { number in
                number <= full
                    ? Self.page(number, of: full * size, total: total) : Self.page(number, of: 0, total: total)
            }.last.partial
        }
        #expect(try await partial(full: 1, total: 1200) == "an empty page before its end")
        #expect(try await partial(full: 3, total: 2200) == "an empty page before its end")
        #expect(try await partial(full: 2, total: 2200) == nil, "the upstream may show no more than 1000")
        #expect(try await partial(full: 1, total: 1200, size: 300) == nil, "the others may be hidden")
        #expect(try await partial(full: 1, total: 500) == nil)
        let isCountedInPages = pagination.contains("pages:")
        #expect(try await (partial(full: 3, total: 2000) == nil) == isCountedInPages, "servers count one page too many")
    }

    @Test("lacks none if a page of unknown length is empty before the end that it counts: the others may be hidden")
    func unknownLength() async throws {
        let pagination = "style: page, size: none, page_size: 1, total: total"
        let schema = try EntitySchema(
            yaml: """
                schema: s
                upstream: { base_url: "https://shop.example", pagination: { \(pagination) } }
                entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders, records: rows } } }
                """, file: "s.yaml")
        let transport = ScriptedTransport { request in
            let rows = request.url.contains("page=2") ? "" : #"{"id":"a"},{"id":"b"}"#
            return .json(200, #"{"rows":[\#(rows)],"total":9}"#)
        }
        let upstream = HTTPUpstream(plan: schema.upstream, transport: transport)
        var request = try #require(schema["orders"]?.pull?.request(of: "orders"))
        request.position = try await upstream.page(request).next
        #expect(request.position != nil)
        let last = try await upstream.page(request)
        #expect(last.count == 0 && last.next == nil && last.partial == nil)
    }

    @Test("is asked for no further if its total is an ordinary one")
    func ordinary() async throws {
        #expect(try await read(Self.counted[0]) { Self.page($0, of: 1500, total: 1500) }.requests == 3)
        #expect(try await read(Self.counted[0]) { Self.page($0, of: 999, total: 999) }.requests == 2)
    }
}
