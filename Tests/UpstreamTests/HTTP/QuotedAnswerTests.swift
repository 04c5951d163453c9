import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import Upstream

/// An answer with a good status can be wrong in ways that an error quotes.
@Suite("An error about a good answer")
struct QuotedAnswerTests {
    private static let token = "s3cret-t0ken-of-mine"

    private struct FixedToken: Credentials {
        func current() async throws(UpstreamError) -> String? { QuotedAnswerTests.token }
        func renew(refused: String?) async throws(UpstreamError) -> Bool { false }
    }

    private let schema: EntitySchema

    init() throws {
        schema = try EntitySchema(
            yaml: """
                schema: s
                upstream:
                  base_url: https://shop.example
                  records: data
                  account: { path: /me, id: id }
                entities:
                  orders:
                    fields: { id: { type: string } }
                    pull: { path: /orders, record: { path: "/orders/{id}", at: data }, pagination: { style: cursor, next: next } }
                  links:
                    fields: { id: { type: string } }
                    pull: { path: /links, pagination: { style: link } }
                """, file: "s.yaml")
    }

    private func upstream(_ body: String, _ headers: [HTTPHeader] = []) -> HTTPUpstream {
        let transport = ScriptedTransport { _ in HTTPResponse.json(200, body, headers) }
        return HTTPUpstream(
            plan: schema.upstream, transport: transport, token: FixedToken(), now: { Timestamp(milliseconds: 0) })
    }

    private func expectScrubbed(_ error: UpstreamError?) throws {
        let message = try #require(error).message
        #expect(message.contains("…") && !message.contains(Self.token), "\(message)")
    }

    @Test(
        "a list's cursor, next page and members are quoted without the token",
        arguments: [
            ("orders", #"{"data":[],"next":{"x":"\#(token)"}}"#),
            ("orders", #"{"data":[{"\#(token)":1,"\#(token)":2}]}"#),
            ("links", #"{"data":[]}"#),
        ])
    func lists(_ entity: String, _ body: String) async throws {
        let list = try #require(schema[entity]?.pull?.list)
        let link = HTTPHeader("Link", "<https://elsewhere.example/\(Self.token)>; rel=next")
        let error = await #expect(throws: UpstreamError.self) {
            try await upstream(body, [link]).page(PageRequest(path: "/\(entity)", list: list))
        }
        try expectScrubbed(error)
    }

    @Test(
        "names no member and no path of an answer that may have secrets of any record",
        arguments: [
            ("orders", #"{"data":[{"4711":1,"4711":2}]}"#), ("orders", #"{"data":[],"next":{"4711":1}}"#),
            ("links", #"{"data":[]}"#),
        ])
    func unquoted(_ entity: String, _ body: String) async throws {
        let list = try #require(schema[entity]?.pull?.list)
        var request = PageRequest(path: "/\(entity)", list: list)
        request.mayQuoteAnswer = false
        let link = HTTPHeader("Link", "<https://elsewhere.example/4711>; rel=next")
        let asked = request
        let error = await #expect(throws: UpstreamError.self) { try await upstream(body, [link]).page(asked) }
        let message = try #require(error).message
        #expect(!message.contains("4711"), "\(message)")
    }

    @Test("so are the members of a record and of the account")
    func single() async throws {
        let upstream = upstream(#"{"\#(Self.token)":1,"\#(Self.token)":2}"#)
        let orders = try #require(schema["orders"])
        try expectScrubbed(
            await #expect(throws: UpstreamError.self) {
                try await upstream.record(of: orders, known: .object(["id": "1"]))
            })
        try expectScrubbed(await #expect(throws: UpstreamError.self) { try await upstream.account() })
    }
}
