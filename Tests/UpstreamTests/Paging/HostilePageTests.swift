import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import Upstream

/// Whatever an upstream sends, a page is accepted as a whole or not at all.
@Suite("Invalid pages", .timeLimit(.minutes(10)))
struct HostilePageTests {
    private let schema: EntitySchema
    private let list: ListPlan

    init() throws {
        schema = try EntitySchema(
            yaml: """
                schema: s
                upstream:
                  base_url: https://shop.example
                  records: data
                  pagination: { style: cursor, next: next, total: total }
                entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders } } }
                """, file: "s.yaml")
        list = try #require(schema["orders"]?.pull?.list)
    }

    private func page(of upstream: HTTPUpstream) async -> Result<Page, UpstreamError> {
        do throws(UpstreamError) {
            return .success(try await upstream.page(PageRequest(path: "/orders", list: list)))
        } catch {
            return .failure(error)
        }
    }

    private func page(_ body: [UInt8]) async -> Result<Page, UpstreamError> {
        let transport = ScriptedTransport { _ in HTTPResponse(status: 200, body: body) }
        return await page(
            of: HTTPUpstream(plan: schema.upstream, transport: transport, now: { Timestamp(milliseconds: 0) }))
    }

    private func expectMalformed(_ result: Result<Page, UpstreamError>, _ comment: Comment? = nil) {
        #expect(result.failure?.wordless == .malformed(""), comment)
        let message = result.failure?.message ?? ""
        #expect(message.contains("/orders") || message.contains("127.0.0.1"), comment)
    }

    private static let good = #"{"data":[{"id":"1","n":{"a":[1,{"b":"c"}]}},{"id":"2"}],"next":"x","total":"2"}"#

    @Test("a valid page is accepted, even with a total in quotes")
    func good() async throws {
        let page = try await page(Array(Self.good.utf8)).get()
        #expect(page.count == 2 && page.total == 2 && page.next == "x")
    }

    @Test("a page truncated anywhere is rejected")
    func cutOff() async {
        for count in 0..<Self.good.utf8.count {
            expectMalformed(await page(Array(Self.good.utf8.prefix(count))), "cut after \(count) bytes")
        }
    }

    @Test(
        "a page without its list is rejected",
        arguments: [
            "", "null", "[]", "{}", "7", #""data""#, #"{"data":null}"#, #"{"data":{}}"#, #"{"data":"[]"}"#,
            #"{"data":{"0":{"id":"1"}}}"#, "nothing",
        ])
    func wrongType(_ body: String) async {
        expectMalformed(await page(Array(body.utf8)))
    }

    @Test("#18 a byte order mark is skipped")
    func byteOrderMark() async throws {
        let page = try await page(Array("\u{FEFF}\(Self.good)".utf8)).get()
        #expect(page.count == 2 && page.records.elements.first?["id"] == "1")
    }

    @Test("#18 a record with a number that JSON does not have becomes its text, and the others stay")
    func notANumber() async throws {
        let odd = #"{"id":"2","n":[NaN,-Infinity],"t":"NaN"}"#
        let page = try await page(
            Array(
                #"{"data":[{"id":"1","t":"a \"NaN"},\#(odd),{"id":"3"}],"next":"x","total":"3","mean":Infinity}"#.utf8)
        ).get()
        #expect(page.count == 3 && page.total == 3 && page.next == "x")
        #expect(page.records.elements.map(\.kind) == [.object, .string, .object])
        #expect(page.records.elements[1].string == odd)
        #expect(page.records.elements[0].text == #"{"id":"1","t":"a \"NaN"}"#)
        expectMalformed(await self.page(Array(#"{"data":[{"id":"1","n":NaN},{"id":"2",}]}"#.utf8)))
        expectMalformed(await self.page(Array(#"{"data":[{"id":"1","n":nan}]}"#.utf8)))
    }

    @Test("a record with more than 128 combining marks in a row becomes its text, and the others stay")
    func manyMarks() async throws {
        func record(_ id: String, marks: Int) -> String {
            #"{"id":"\#(id)","t":"e\#(String(repeating: "\u{315}\u{316}", count: marks / 2))"}"#
        }
        let odd = record("2", marks: 130)
        let page = try await page(
            Array(#"{"data":[\#(record("1", marks: 128)),\#(odd),{"id":"3"}],"next":"x","total":3}"#.utf8)
        ).get()
        #expect(page.next == "x" && page.records.elements.map(\.kind) == [.object, .string, .object])
        #expect(page.records.elements[1].string.map { Array($0.utf8) } == Array(odd.utf8))
        expectMalformed(await self.page(Array(#"{"data":[\#(odd),{"id":"2",}]}"#.utf8)))
    }

    @Test("a page with such marks outside its records is rejected, even if a record has them too")
    func marksElsewhere() async {
        let text = #""e\#(String(repeating: "\u{315}\u{316}", count: 65))""#
        for rest in [#""next":\#(text)"#, #"\#(text):1"#, #""total":{"a":[\#(text)]}"#] {
            for list in [#"{"id":"1"}"#, #"{"id":"1","t":\#(text)}"#, ""] {
                expectMalformed(await page(Array(#"{"data":[\#(list)],\#(rest)}"#.utf8)))
                expectMalformed(await page(Array(#"{\#(rest),"data":[\#(list)]}"#.utf8)))
            }
        }
        expectMalformed(await page(Array(#"{"total":0,"x":\#(text)}"#.utf8)))
    }

    @Test("a record with such marks and a number that JSON does not have becomes its text")
    func marksAndNumbers() async throws {
        let marks = String(repeating: #"\u0315\ud834\udd65"#, count: 80)
        let odd = #"{"id":"2","n":NaN,"t":"e\#(marks)"}"#
        let page = try await page(Array(#"{"data":[{"id":"1","n":Infinity},\#(odd),{"id":"3"}]}"#.utf8)).get()
        #expect(page.records.elements.map(\.kind) == [.string, .string, .object])
        #expect(page.records.elements[1].string == odd)
    }

    @Test("a page of so many values that they would fill the memory is refused as a whole")
    func tooManyValues() async {
        // The object and its list are values too.
        let most = HTTPResponse.mostValues
        let elements = { (count: Int, one: String) in Array(repeating: one, count: count).joined(separator: ",") }
        for one in ["1", "NaN"] {
            expectMalformed(await page(Array(#"{"data":[\#(elements(most, one))]}"#.utf8)), "too many values")
        }
        let full = await page(Array(#"{"data":[\#(elements(most - 2, "1"))]}"#.utf8))
        #expect((try? full.get())?.count == most - 2)
    }

    @Test(
        "a web page instead of a list bars and deletes nothing", arguments: ["<html></html>", " \n<?xml version='1'?>"])
    func webPage(_ body: String) async {
        guard case .failure(.barred(200, let message, _)) = await page(Array(body.utf8)) else {
            Issue.record("taken, or rejected with another error")
            return
        }
        #expect(message == "/orders answered 200 with a web page where JSON belongs (no content type)")
    }

    @Test("a page with a duplicate member anywhere is rejected")
    func doubled() async {
        for body in [
            #"{"data":[{"id":"1","id":"2"}]}"#, #"{"data":[],"data":[{"id":"1"}]}"#, #"{"data":[],"x":{"y":1,"y":1}}"#,
            #"{"data":[{"id":"1"},{"id":"2","n":[{"a":1,"\u0061":2}]}]}"#,
        ] { expectMalformed(await page(Array(body.utf8))) }
    }

    @Test("a page nested 10,000 levels deep is rejected", arguments: ["[", #"{"a":"#])
    func deep(_ opening: String) async {
        let nested = String(repeating: opening, count: 10_000)
        expectMalformed(await page(Array(#"{"data":[{"id":"1","n":\#(nested)"#.utf8)))
        let closed = String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)
        expectMalformed(await page(Array(#"{"data":[{"id":"1","n":\#(closed)}]}"#.utf8)))
    }

    @Test(
        "a record with what no text has becomes its text, and the others stay",
        arguments: [[0xE9], [0xFF, 0xFE], [0x00], [0x0A], Array(#"\x41"#.utf8)] as [[UInt8]])
    func brokenText(_ bytes: [UInt8]) async throws {
        let odd = Array(#"{"id":"2","t":"a"#.utf8) + bytes + Array(#""}"#.utf8)
        let start = Array(#"{"data":[{"id":"1"},"#.utf8)
        let page = try await page(start + odd + Array(#",{"id":"3"}],"next":"x","total":3}"#.utf8)).get()
        #expect(page.count == 3 && page.next == "x")
        #expect(page.records.elements.map(\.kind) == [.object, .string, .object])
        #expect(page.records.elements[1].string == String(decoding: odd, as: UTF8.self))
    }

    @Test("a page with invalid UTF-8 outside its records is rejected")
    func notText() async {
        expectMalformed(await page(Array(#"{"data":[{"id":"1"}],"next":""#.utf8) + [0xFF, 0xFE] + Array(#""}"#.utf8)))
        expectMalformed(await page([UInt8](repeating: 0, count: 1000)))
    }

    // MARK: Over a socket

    private func page(from server: ScriptedServer, maximum: Int) async throws -> Result<Page, UpstreamError> {
        await page(
            of: HTTPUpstream(
                UpstreamAccess(
                    plan: schema.upstream, baseURL: server.url, transport: try CurlTransport(userAgent: "test"),
                    now: { Timestamp(milliseconds: 0) }), token: nil, maximumBody: maximum))
    }

    @Test("an endless page is aborted at the limit", arguments: ["", "Content-Length: 9999999999\r\n"])
    func endless(_ header: String) async throws {
        let block = Array(repeating: UInt8(ascii: " "), count: 65_536)
        let server = try ScriptedServer(
            [.receive, .send("HTTP/1.1 200 OK\r\n\(header)\r\n{\"data\":["), .flood(block)])
        expectMalformed(try await page(from: server, maximum: 1 << 20))
    }

    @Test("a compression bomb is aborted at the limit")
    func bomb() async throws {
        let bomb = Gzip.endlessZeros(copies: 40_000)
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bomb.count)\r\n\r\n"
        let server = try ScriptedServer([.receive, .send(Array(head.utf8) + bomb), .awaitClientLeaving])
        expectMalformed(try await page(from: server, maximum: 1 << 20))
    }

    @Test("a page truncated on the wire is unclear and is requested again")
    func cutOnWire() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(Self.good.utf8.count)\r\n\r\n"
        let server = try ScriptedServer([.receive, .send(head + Self.good.dropLast(5))])
        let error = try await page(from: server, maximum: 1 << 20).failure
        #expect(error?.wordless == .unclear(status: nil, ""))
    }

    @Test("the limit is 8 MiB unless configured")
    func limit() async {
        let transport = ScriptedTransport { _ in HTTPResponse.json(200, Self.good) }
        _ = await page(
            of: HTTPUpstream(plan: schema.upstream, transport: transport, now: { Timestamp(milliseconds: 0) }))
        #expect(transport.requests.map(\.maximumBody) == [8 << 20])
    }

    @Test("a next page's address of megabytes is refused, and nothing of it is quoted")
    func longAddress() async throws {
        let schema = try EntitySchema(
            yaml: """
                schema: s
                upstream:
                  base_url: https://shop.example
                  auth: { send: { query: api_key } }
                  records: data
                  pagination: { style: next_url, next: next }
                entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders } } }
                """, file: "s.yaml")
        let next = "https://shop.example/orders?api_key=t0ken" + String(repeating: "/a", count: 1 << 20)
        let transport = ScriptedTransport { _ in HTTPResponse.json(200, #"{"data":[{"id":"1"}],"next":"\#(next)"}"#) }
        let upstream = HTTPUpstream(plan: schema.upstream, transport: transport, now: { Timestamp(milliseconds: 0) })
        let list = try #require(schema["orders"]?.pull?.list)
        let error = await #expect(throws: UpstreamError.self) {
            _ = try await upstream.page(PageRequest(path: "/orders", list: list))
        }
        #expect(error?.message.contains("more than 64 KiB") == true)
        #expect(error?.message.contains("t0ken") == false)
    }
}
