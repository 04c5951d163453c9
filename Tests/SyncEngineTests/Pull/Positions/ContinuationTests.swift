import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore
@testable import SyncEngine
@testable import Upstream

@Suite("Lists that another call continues, and scrolls")
struct ContinuationTests {
    private static let yaml = """
        schema: shop
        upstream: { base_url: "http://shop", error_message: error_summary }
        entities:
          files:
            key: path
            fields: { path: { type: string }, kind: { type: string, from: '".tag"' } }
            pull:
              call: POST /list
              body: { path: "" }
              records: entries
              record: none
              since: { token: cursor, expired: 409 }
              changes: { call: POST /list/continue, body: { cursor: "{$delta}" } }
              deleted: { kind: deleted }
              pagination:
                style: cursor
                next: cursor
                more: has_more
                size: none
                continue: { call: POST /list/continue, body: { cursor: "{$cursor}" } }
        """

    /// As Dropbox answers: entries in the order of what happened, two on a page, and a cursor that also goes on behind the last.
    private func server(_ entries: [(path: String, kind: String)]) -> ShapedServer {
        let records = entries.enumerated().map { index, entry in
            ("\(index)", JSONText.object(["path": .string(entry.path), ".tag": .string(entry.kind)]))
        }
        return ShapedServer(Dictionary(uniqueKeysWithValues: records)) { call, entries in
            let start = call.path == "/list" ? 0 : call.body["cursor"]?.string.flatMap { Int($0.dropFirst()) }
            guard let start else { return (409, .object(["error_summary": "reset/.."])) }
            let end = min(start + 2, entries.count)
            let page = (start..<end).compactMap { entries["\($0)"] }
            return (
                200,
                .object([
                    "entries": .array(page), "cursor": .string("c\(end)"), "has_more": .boolean(end < entries.count),
                ])
            )
        }
    }

    @Test("a list is read on with the cursor alone, and so is what changed since")
    func dropbox() async throws {
        let server = server([("/a", "file"), ("/b", "file"), ("/c", "file")])
        let plan = try EntitySchema(yaml: Self.yaml, file: "shop.yaml").upstream
        let test = try TestEngine(remote: HTTPUpstream(plan: plan, transport: server), schema: Self.yaml)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            #expect(try test.store.cursor(of: "files").delta == "c3")
            for (index, (path, kind)) in [("/d", "file"), ("/e", "file"), ("/b", "deleted")].enumerated() {
                server.records["\(3 + index)"] = .object(["path": .string(path), ".tag": .string(kind)])
            }
            try await test.engine.sync(SyncRequest())
            #expect(try test.store.cursor(of: "files").delta == "c6")
            let here = try ["/a", "/b", "/c", "/d", "/e"].filter { try test.record($0, "files") != nil }
            #expect(here == ["/a", "/c", "/d", "/e"])
        }
        let lists = server.calls.filter { $0.path.hasPrefix("/list") }
        #expect(
            Set(lists.map { "\($0.path) \($0.body.text)" }) == [
                #"/list {"path":""}"#, #"/list/continue {"cursor":"c2"}"#,
                #"/list/continue {"cursor":"c3"}"#, #"/list/continue {"cursor":"c5"}"#,
            ])
    }

    // MARK: Scrolls

    /// Serves one page after the other under the cursor "s", until it fails at a page, or an empty page ends the list.
    private func scroll(_ test: TestPull, failsAt failing: Int? = nil) throws {
        let pages = try [#"[{"id":"a"},{"id":"b"}]"#, #"[{"id":"c"},{"id":"d"}]"#, #"[{"id":"e"}]"#, "[]"].map {
            try JSONText(parsing: $0)
        }
        let counter = Counter()
        test.upstream.forget()
        test.upstream.answering { request in
            let number = request.position == nil ? 0 : counter.next()
            guard number != failing, number < pages.count else { return .failure(.unclear(status: 500, "oops")) }
            let count = pages[number].elementCount
            return .success(Page(records: pages[number], count: count, next: count == 0 ? nil : "s"))
        }
    }

    private static let scroll = "pagination: { style: cursor, next: id, scroll: true }"

    @Test("a scroll, whose cursor stays, is read to its end")
    func scrolls() async throws {
        let test = try TestPull(Self.scroll)
        try scroll(test)
        try await test.pull()
        #expect(test.upstream.positions == [nil, "s", "s", "s"])
        #expect(try test.keys() == ["a", "b", "c", "d", "e"])
        #expect(try test.cursor.pull == nil)
    }

    @Test("an interrupted scroll begins again: it has moved on past pages that were not written")
    func interrupted() async throws {
        let test = try TestPull(Self.scroll)
        try scroll(test, failsAt: 2)
        await #expect(throws: UpstreamError.self) { try await test.pull() }
        #expect(try test.cursor.pull?.position == "s")
        try scroll(test)
        try await test.pull()
        #expect(test.upstream.positions == [nil, "s", "s", "s"])
        #expect(try test.keys() == ["a", "b", "c", "d", "e"])
    }

    @Test("a list whose cursor stays fails with what to write, unless the schema says that it is a scroll")
    func unsaid() async throws {
        let test = try TestPull("pagination: { style: cursor, next: id }")
        try scroll(test)
        await #expect {
            try await test.pull()
        } throws: { error in
            (error as? UpstreamError)?.message.contains("set pagination.scroll: true") == true
        }
    }
}
