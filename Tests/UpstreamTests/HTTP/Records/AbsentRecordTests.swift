import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import Upstream

@Suite("An answer that says that there is no such record")
struct AbsentRecordTests {
    /// The keys of the record in `answer`, or nil if the upstream has none; `shared` is the place of all records.
    private func read(_ answer: HTTPResponse, at place: String?, shared: String? = nil) async throws -> [String]? {
        let at = place.map { ", at: \($0)" } ?? ""
        let schema = try EntitySchema(
            yaml: """
                schema: s
                upstream: { base_url: "https://shop.example"\(shared.map { ", record: \($0)" } ?? "") }
                entities:
                  orders:
                    fields: { id: { type: integer } }
                    pull: { path: /orders, record: { path: "/orders?id=eq.{id}"\(at) } }
                """, file: "s.yaml")
        let upstream = HTTPUpstream(plan: schema.upstream, transport: ScriptedTransport { _ in answer })
        let orders = try #require(schema["orders"])
        return try await upstream.record(of: orders, known: .object(["id": 5])).map { $0.record.members.map(\.key) }
    }

    @Test(
        "404, no content, null at its place, and a list without it",
        arguments: [
            (404, "{}", nil), (410, "{}", nil), (204, "", nil), (204, "", "data.0"),
            (200, #"{"data":{"order":null}}"#, "data.order"), (200, "[]", "'0'"),
            (200, #"{"data":[]}"#, "data.0"), (200, #"{"data":[]}"#, "[order, data.-1]"),
        ] as [(Int, String, String?)])
    func absent(_ status: Int, _ body: String, _ place: String?) async throws {
        #expect(try await read(.json(status, body), at: place) == nil)
    }

    @Test(
        "an empty list or object, or false, at its place, as programs in PHP write null",
        arguments: [#"{"data":[]}"#, #"{"data":{}}"#, #"{"success":true,"data":false}"#])
    func blank(_ body: String) async throws {
        #expect(try await read(.json(200, body), at: "data") == nil)
        #expect(try await read(.json(200, body), at: nil, shared: "data") == nil)
    }

    @Test("where single records are not served, the read says so and is no failure", arguments: [405, 501])
    func unserved(_ status: Int) async throws {
        let error = await #expect(throws: UpstreamError.self) { try await read(.json(status, "{}"), at: nil) }
        #expect(error == .refused(status: status, "GET /orders answered \(status)"))
        #expect(error?.isUnknownMethod == true)
    }

    @Test("a list without it at the place that all entities share")
    func inherited() async throws {
        #expect(try await read(.json(200, "[]"), at: nil, shared: "'0'") == nil)
        #expect(try await read(.json(200, #"[{"id":5}]"#), at: nil, shared: "'0'") == ["id"])
    }

    @Test("null at the place that all entities share, unless the answer is a record with a member of that name")
    func inheritedNull() async throws {
        #expect(try await read(.json(200, #"{"item":null}"#), at: nil, shared: "item") == nil)
        #expect(try await read(.json(200, #"{"id":5,"item":null}"#), at: nil, shared: "item") == ["id", "item"])
    }

    @Test(
        "what could be anything else is no absence",
        arguments: [
            ("{}", "data.order"), (#"{"data":null}"#, "data.0"), (#"{"data":{}}"#, "data.0"), ("[]", "data"),
            (#"[{"name":"x"}]"#, "'0'"), ("[]", "rows.name"), ("{}", "[]"), (#"{"data":""}"#, "data"),
            (#"{"data":[{"name":"x"}]}"#, "data"), (#"{"data":{"name":"x"}}"#, "data"),
        ])
    func unclear(_ body: String, _ place: String) async {
        await #expect(throws: UpstreamError.self) { try await read(.json(200, body), at: place) }
    }
}
