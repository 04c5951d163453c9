import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import Upstream

/// An upstream that gives out the next page at another address than the first, for the cursor of the page before.
@Suite("Pages that another call gives out")
struct ContinuationTests {
    private func upstream(
        _ paging: String, _ answer: @escaping @Sendable (HTTPRequest) throws(TransportError) -> HTTPResponse
    ) throws -> (plan: PullPlan, upstream: HTTPUpstream, transport: ScriptedTransport) {
        let schema = try EntitySchema(
            yaml: """
                schema: s
                upstream: { base_url: "https://files.example/2", records: entries, error_message: error_summary }
                entities:
                  files:
                    fields: { id: { type: string } }
                    pull: { call: POST /list, body: { path: "" }, pagination: { style: cursor, size: none, \(paging) } }
                """, file: "s.yaml")
        let transport = ScriptedTransport { (request) throws(TransportError) in try answer(request) }
        let upstream = HTTPUpstream(plan: schema.upstream, transport: transport, token: nil)
        return (try #require(schema["files"]?.pull), upstream, transport)
    }

    private static let call = #"continue: { call: POST /list/continue, body: { cursor: "{$cursor}" } }"#

    @Test("are read to the end, each with the cursor of the page before in its own type")
    func read() async throws {
        let (plan, upstream, transport) = try upstream("next: cursor, more: has_more, \(Self.call)") { request in
            switch request.json?["cursor"]?.text {
            case nil: .json(200, #"{"entries":[{"id":"a"}],"cursor":"A/1","has_more":true}"#)
            case #""A/1""#: .json(200, #"{"entries":[],"cursor":[7,"x"],"has_more":true}"#)
            default: .json(200, #"{"entries":[{"id":"b"}],"cursor":"end","has_more":false}"#)
            }
        }
        let first = try await upstream.page(plan.request(of: "files"))
        #expect(first.next == #""A/1""#)
        let second = try await upstream.page(plan.request(of: "files", at: first.next))
        #expect(second.count == 0 && second.next == #"[7,"x"]"#)
        let last = try await upstream.page(plan.request(of: "files", at: second.next))
        #expect(last.count == 1 && last.next == nil)
        #expect(
            transport.requests.map(\.url)
                == ["/list", "/list/continue", "/list/continue"].map { "https://files.example/2\($0)" })
        #expect(transport.requests.map { $0.json?["path"]?.text } == ["\"\"", nil, nil])
        #expect(transport.requests.allSatisfy { $0.method == "POST" && $0.isSafe })
    }

    @Test("an error of the other call names that call")
    func error() async throws {
        let (plan, upstream, _) = try upstream("next: cursor, \(Self.call)") { _ in
            .json(409, #"{"error_summary":"reset/.."}"#)
        }
        await #expect(
            throws: UpstreamError.changed(status: 409, "POST /list/continue answered 409: reset/..")
        ) { try await upstream.page(plan.request(of: "files", at: #""old""#)) }
    }

    @Test("a scroll ends with an empty page, although its cursor stays", arguments: [true, false])
    func scroll(_ isScroll: Bool) async throws {
        let (plan, upstream, _) = try upstream("next: id, scroll: \(isScroll), \(Self.call)") { request in
            .json(200, #"{"entries":\#(request.url.hasSuffix("continue") ? "[]" : #"[{"id":"a"}]"#),"id":"s"}"#)
        }
        let first = try await upstream.page(plan.request(of: "files"))
        #expect(first.next == #""s""#)
        let second = try await upstream.page(plan.request(of: "files", at: first.next))
        #expect(second.next == (isScroll ? nil : #""s""#))
    }

    @Test("a scroll that says whether there is more goes on behind an empty page, and ends with a full one")
    func scrollWithMore() async throws {
        for (entries, more) in [("[]", true), (#"[{"id":"a"}]"#, false)] {
            let (plan, upstream, _) = try upstream("next: id, more: more, scroll: true, \(Self.call)") { _ in
                .json(200, #"{"entries":\#(entries),"id":"s","more":\#(more)}"#)
            }
            let page = try await upstream.page(plan.request(of: "files", at: #""s""#))
            #expect(page.next == (more ? #""s""# : nil))
        }
    }

    @Test("a page of a scroll is asked for once, even if the kept connection was dead", arguments: [true, false])
    func dead(_ isScroll: Bool) async throws {
        let (plan, upstream, transport) = try upstream("next: id, scroll: \(isScroll), \(Self.call)") {
            (_) throws(TransportError) in throw .dropped("the connection ended")
        }
        let cases: [(position: String?, times: Int)] = [(nil, 2), (#""s""#, isScroll ? 1 : 2)]
        for (position, times) in cases {
            let before = transport.requests.count
            await #expect(throws: UpstreamError.unclear(status: nil, "the connection ended")) {
                try await upstream.page(plan.request(of: "files", at: position))
            }
            #expect(transport.requests.count == before + times)
            #expect(transport.requests.last?.isSentOnce == (times == 1))
        }
    }

    @Test("a cursor that would lead from its path to another place is refused", arguments: ["..", ".", "a/../b"])
    func steps(_ cursor: String) async throws {
        for (call, isInPath) in [(#"continue: { call: "POST /at/{$cursor}" }"#, true), (Self.call, false)] {
            let (plan, upstream, _) = try upstream("next: cursor, \(call)") { _ in
                .json(200, #"{"entries":[{"id":"a"}],"cursor":"\#(cursor)"}"#)
            }
            guard isInPath else {
                #expect(try await upstream.page(plan.request(of: "files")).next == #""\#(cursor)""#)
                continue
            }
            await #expect(
                throws: UpstreamError.malformed(
                    #"/list answered "\#(cursor)" at cursor, where a cursor is expected; correct pagination.next "#
                        + "in the schema")
            ) { try await upstream.page(plan.request(of: "files")) }
        }
    }
}
