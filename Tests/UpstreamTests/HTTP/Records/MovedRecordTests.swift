import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import Upstream

@Suite("A redirect in answer to a request for a record")
struct MovedRecordTests {
    /// The key of the record that is answered where `/orders/5` leads to this address, nil if there is none; and what was
    /// asked for.
    private func read(_ location: String) async throws -> (key: String?, asked: [String]) {
        let schema = try EntitySchema(
            yaml: """
                schema: s
                upstream: { base_url: "https://shop.example/v2" }
                entities:
                  orders:
                    fields: { id: { type: integer } }
                    pull: { path: /orders }
                """, file: "s.yaml")
        let transport = ScriptedTransport { request in
            switch request.url.split(separator: "/").last {
            case "5": HTTPResponse(status: 301, headers: [HTTPHeader("Location", location)])
            case "7": .json(200, #"{"id":7}"#)
            case "9": HTTPResponse(status: 301, headers: [HTTPHeader("Location", "/v2/orders/7")])
            default: .json(404, "{}")
            }
        }
        let upstream = HTTPUpstream(plan: schema.upstream, transport: transport)
        let orders = try #require(schema["orders"])
        let found = try await upstream.record(of: orders, known: .object(["id": 5]))
        return (found?.record["id"]?.plain, transport.requests.map(\.url))
    }

    @Test(
        "to another record is answered with that one, asked for at its own address",
        arguments: ["/v2/orders/7", "https://shop.example/v2/orders/7", "https://other.example/orders/7?x=1"])
    func moved(_ location: String) async throws {
        let (key, asked) = try await read(location)
        #expect(key == "7")
        #expect(asked == ["https://shop.example/v2/orders/5", "https://shop.example/v2/orders/7"])
    }

    @Test("to one that is gone says that there is none")
    func gone() async throws {
        #expect(try await read("/v2/orders/8").key == nil)
    }

    @Test(
        "to anything else is not followed, nor are two in a row",
        arguments: ["/v2/login", "/v2/orders/5/", "/v2/customers/7", "https://a.example/?to=/orders/7", "/v2/orders/9"])
    func other(_ location: String) async throws {
        let error = await #expect(throws: UpstreamError.self) { try await read(location) }
        guard case .barred(status: 301, _, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
