import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import Upstream

@Suite("A list whose upstream answers 404 after the last page")
struct LastPageTests {
    /// Reads the list to its end; returns how many records it has. `answer` gets the page's number and the request's.
    private func read(
        _ pagination: String, from position: String? = nil,
        _ answer: @escaping @Sendable (_ page: Int, _ request: Int) -> HTTPResponse
    ) async throws -> (records: Int, requests: Int) {
        let yaml = """
            schema: s
            upstream: { base_url: "https://shop.example", pagination: { \(pagination), page_size: 2 } }
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
