import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import Upstream

@Suite("The age of an answer")
struct AnswerAgeTests {
    @Test(
        "an answer that a gateway has kept has an age, to the second above",
        arguments: [(nil, nil), ("0", 1), ("30", 31), ("?", 1), ("-1", 1)] as [(String?, Int64?)])
    func age(header: String?, seconds: Int64?) {
        let response = HTTPResponse(status: 200, headers: header.map { [HTTPHeader("age", $0)] } ?? [])
        #expect(response.age == seconds.map { .seconds($0) })
    }

    @Test(
        "who is signed in, or a record, is repeated by a gateway if the answer has an age above zero",
        arguments: [(nil, false), ("0", false), ("1", true), ("3600", true)] as [(String?, Bool)])
    func account(header: String?, isRepeated: Bool) async throws {
        let schema = try EntitySchema(
            yaml: """
                schema: test
                upstream: { base_url: "http://localhost", account: { path: /me, id: id } }
                entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders } } }
                """, file: "test.yaml")
        let transport = ScriptedTransport { _ in
            var response = HTTPResponse.json(200, #"{"id":"me"}"#)
            if let header { response.headers.append(HTTPHeader("Age", header)) }
            return response
        }
        let upstream = HTTPUpstream(plan: schema.upstream, transport: transport)
        #expect(try await upstream.account()?.isRepeated == isRepeated)
        let orders = try #require(schema["orders"])
        #expect(try await upstream.record(of: orders, known: .object(["id": "me"]))?.isRepeated == isRepeated)
    }
}
