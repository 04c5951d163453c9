import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import repairminder_sync

@Suite("What a probe says about keys in other places")
struct KeyProbeTests {
    private struct Answer: HTTPTransport {
        let text: String

        func send(_ request: HTTPRequest) -> HTTPResponse {
            HTTPResponse(
                status: 200, headers: [HTTPHeader("Content-Type", "application/json")], body: Array(text.utf8))
        }
    }

    private func findings(_ key: String, _ list: String, pull: String = "") async throws -> [Finding] {
        let yaml = """
            schema: far
            upstream: { base_url: "http://far" }
            entities:
              notes:
                key: \(key)
                fields: { id: { type: string }, text: { type: string } }
                pull: { path: /notes, record: none\(pull) }
            """
        let schema = try EntitySchema(yaml: yaml, file: "far.yaml")
        let now = try #require(Timestamp(iso8601: "2026-03-01T00:00:00Z"))
        let transport = WatchedTransport(Answer(text: list))
        let upstream = HTTPUpstream(plan: schema.upstream, transport: transport, now: { now })
        return await UpstreamProbe(schema: schema, upstream: upstream, transport: transport, now: now).findings()
    }

    @Test(
        "where records have none at the top, the place is named that each of them has",
        arguments: [
            (#"[{"sys":{"id":"a"},"text":"x"},{"sys":{"id":"b"},"text":"y"}]"#, "key: { field: id, from: sys.id }"),
            (
                #"[{"url":"/notes/1","text":"x"},{"url":"/notes/2","text":"y"}]"#,
                #"key: { field: id, from: { link: "url" } }"#
            ),
        ])
    func elsewhere(_ list: String, _ advice: String) async throws {
        let found = try await findings("id", list)
        #expect(
            found.contains { $0.level == .error && $0.advice?.contains(advice) == true }, "\(found.map(\.text))")
    }

    @Test("a schema that fits has nothing else to say")
    func fits() async throws {
        let list = #"[{"sys":{"id":"a"},"text":"x"},{"sys":{"id":"b"},"text":"y"}]"#
        let found = try await findings("{ field: id, from: sys.id }", list)
        #expect(found.allSatisfy { $0.level == .ok }, "\(found.map(\.text))")
        #expect(!found.contains { $0.text.contains("kept beside") })
    }

    @Test("a member of the key's name that the records have themselves is reported")
    func displaced() async throws {
        let list = #"[{"id":1,"sys":{"id":"a"},"text":"x"},{"id":2,"sys":{"id":"b"},"text":"y"}]"#
        let found = try await findings("{ field: id, from: sys.id }", list)
        #expect(
            found.contains { $0.level == .warning && $0.message.contains("a member id of their own") },
            "\(found.map(\.text))")
    }

    @Test("an object with a record in each member is named, also where the key is in another place")
    func members() async throws {
        let list = #"{"x":{"sys":{"id":"a"}},"y":{"sys":{"id":"b"}}}"#
        let found = try await findings("{ field: id, from: sys.id }", list)
        #expect(found.contains { $0.text.contains(#"records: "*""#) }, "\(found.map(\.text))")
    }
}
