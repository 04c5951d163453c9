import EntitySchema
import JSONText
import SchemaDrift
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("Pulls since a token")
struct DeltaTokenTests {
    private static let pull = "since: { token: next_token, param: token, expired: [403] }"

    private static func page(
        _ records: String, next: String? = nil, delta: String? = nil, passing: String? = nil
    ) throws -> Page {
        let records = try JSONText(parsing: records)
        var page = Page(records: records, count: records.elementCount, next: next)
        page.delta = delta
        page.passingDelta = passing
        return page
    }

    private func first(_ test: TestPull) async throws {
        let (one, two) = (
            try Self.page(#"[{"id":"a"},{"id":"b"}]"#, next: "2"), try Self.page(#"[{"id":"c"}]"#, delta: "t1")
        )
        test.upstream.answering { .success($0.position == nil ? one : two) }
        try await test.pull()
    }

    @Test("the token of the last page is kept, and the next pull brings only what changed since")
    func changes() async throws {
        let test = try TestPull(Self.pull)
        try await first(test)
        #expect(try test.cursor.delta == "t1")
        test.upstream.forget()
        let changes = try Self.page(
            #"[{"id":"b","deleted_at":"2026-01-01T00:00:00Z"},{"id":"d"},{"id":"d","notes":"x"}]"#, delta: "t2")
        test.upstream.answering { _ in .success(changes) }
        try await test.pull()
        #expect(test.upstream.requests.map(\.since?.value) == ["t1"])
        #expect(try test.keys() == ["a", "c", "d"])
        #expect(try test.cursor.delta == "t2")
    }

    @Test("the token stays while a page says that it lacks records, and moves once none does")
    func lackingRecords() async throws {
        let test = try TestPull(Self.pull)
        try await first(test)
        let changes = try Self.page(#"[{"id":"d"}]"#, delta: "t2")
        test.upstream.answering { _ in
            var page = changes
            page.partial = "timed_out"
            return .success(page)
        }
        try await test.pull()
        #expect(try test.keys() == ["a", "b", "c", "d"])
        #expect(try test.cursor.delta == "t1")
        test.upstream.answering { _ in .success(changes) }
        try await test.pull()
        #expect(try test.cursor.delta == "t2")
    }

    @Test("after an empty last page without a token, that of the page before counts", arguments: [false, true])
    func emptyLastPage(isFirstPull: Bool) async throws {
        let test = try TestPull(Self.pull)
        if !isFirstPull { try await first(test) }
        let full = try Self.page(#"[{"id":"a"},{"id":"b"}]"#, next: "2", passing: "t7")
        let empty = try Self.page("[]")
        test.upstream.answering { .success($0.position == nil ? full : empty) }
        #expect(try await test.pull().problem == nil)
        #expect(try test.cursor.delta == "t7")
    }

    @Test("a last page with records but no token says nothing, even if the page before had one")
    func lastPageWithoutToken() async throws {
        let test = try TestPull(Self.pull)
        let full = try Self.page(#"[{"id":"a"},{"id":"b"}]"#, next: "2", passing: "t7")
        let rest = try Self.page(#"[{"id":"c"}]"#)
        test.upstream.answering { .success($0.position == nil ? full : rest) }
        #expect(try await test.pull().problem?.contains("nothing at next_token") == true)
        #expect(try test.cursor.delta == nil)
    }

    @Test("a list that is empty has no token, and that is no mistake")
    func emptyList() async throws {
        let test = try TestPull(Self.pull)
        try test.upstream.serve(["[]"])
        #expect(try await test.pull().problem == nil)
        #expect(try test.cursor.delta == nil)
    }

    @Test("where changes come with the changed members alone, the others stay; a whole list still takes them away")
    func partial() async throws {
        let test = try TestPull("since: { token: next_token, param: token, partial: true }")
        let all = try Self.page(
            #"[{"id":"a","notes":"n","more":{"x":1}},{"id":"b","notes":"m","more":2}]"#, delta: "t1")
        test.upstream.answering { _ in .success(all) }
        try await test.pull()
        let changes = try Self.page(
            #"[{"id":"a","notes":null},{"id":"b","more":3},{"id":"c","notes":"new"}]"#, delta: "t2")
        test.upstream.answering { _ in .success(changes) }
        try await test.pull()
        #expect(try test.remote("a") == #"{"id":"a","notes":null,"more":{"x":1}}"#)
        #expect(try test.remote("b") == #"{"id":"b","notes":"m","more":3}"#)
        #expect(try test.remote("c") == #"{"id":"c","notes":"new"}"#)
        let fewer = try Self.page(
            #"[{"id":"a","notes":"n"},{"id":"b","more":3},{"id":"c","notes":"new"}]"#, delta: "t3")
        test.upstream.answering { _ in .success(fewer) }
        try await test.pull(full: true)
        #expect(try test.remote("a") == #"{"id":"a","notes":"n"}"#)
        #expect(try test.remote("b") == #"{"id":"b","more":3}"#)
    }

    @Test("a record that comes with its changed members alone, and that the cache lacks, is read by its key")
    func unknown() async throws {
        let test = try TestPull("since: { token: next_token, param: token, partial: true }")
        let all = try Self.page(#"[{"id":"a","notes":"n"}]"#, delta: "t1")
        test.upstream.answering { _ in .success(all) }
        try await test.pull()
        let whole = #"{"id":"b","notes":"kept","updated_at":"2026-01-01T00:00:00Z"}"#
        try test.upstream.serveSingles(of: "[\(whole)]")
        let changes = try Self.page(
            #"[{"id":"a","notes":"x"},{"id":"b","updated_at":"2026-01-02T00:00:00Z"},{"id":"c","notes":"y"},"#
                + #"{"id":"d","notes":"z","updated_at":null},{"id":"e","deleted_at":"2026-01-01T00:00:00Z"}]"#,
            delta: "t2")
        test.upstream.answering { _ in .success(changes) }
        try await test.pull()
        #expect(test.upstream.reads == ["b", "c"])
        #expect(try test.remote("b") == #"{"id":"b","notes":"kept","updated_at":"2026-01-02T00:00:00Z"}"#)
        #expect(try test.remote("c") == #"{"id":"c","notes":"y"}"#)
        #expect(try test.keys() == ["a", "b", "c", "d"])
    }

    @Test("a pull waits if such a record cannot be read because the upstream cannot be called")
    func unknownOffline() async throws {
        let test = try TestPull("since: { token: next_token, param: token, partial: true }")
        let all = try Self.page(#"[{"id":"a","notes":"n"}]"#, delta: "t1")
        test.upstream.answering { _ in .success(all) }
        try await test.pull()
        let changes = try Self.page(#"[{"id":"b","notes":"x"}]"#, delta: "t2")
        test.upstream.answering { _ in .success(changes) }
        test.upstream.serveSingles { _, _ in .failure(.offline("gone")) }
        await #expect(throws: UpstreamError.self) { try await test.pull() }
        #expect(try test.cursor.delta == "t1")
        #expect(try test.keys() == ["a"])
        test.upstream.serveSingles { _, _ in .failure(.refused(status: 400, "no")) }
        try await test.pull()
        #expect(try test.cursor.delta == "t2")
        #expect(try test.keys() == ["a", "b"])
    }

    @Test(
        "records that change and come without most of what they had are drift, until the schema says that they are partial"
    )
    func lacking() async throws {
        let test = try TestPull("since: { token: next_token, param: token }")
        let all = try Self.page(#"[{"id":"a","notes":"n","updated_at":"2026-01-01T00:00:00Z"}]"#, delta: "t1")
        test.upstream.answering { _ in .success(all) }
        try await test.pull()
        let cleared = try Self.page(#"[{"id":"a","updated_at":"2026-01-02T00:00:00Z"}]"#, delta: "t2")
        test.upstream.answering { _ in .success(cleared) }
        try await test.pull()
        #expect(try missing(test).isEmpty)
        test.upstream.answering { _ in .success(all) }
        try await test.pull()
        let changes = try Self.page(#"[{"id":"a","more":1}]"#, delta: "t3")
        test.upstream.answering { _ in .success(changes) }
        try await test.pull()
        #expect(try missing(test) == ["notes", "updated_at"])
        let partial = try TestPull(test, "since: { token: next_token, param: token, partial: true }")
        #expect(try missing(partial).isEmpty)
    }

    private func missing(_ test: TestPull) throws -> [String] {
        try test.store.drift(after: 0).found.filter { $0.kind == .missing }.map(\.field).sorted()
    }

    @Test("an interrupted pull keeps the token that it began with")
    func interrupted() async throws {
        let test = try TestPull(Self.pull)
        try await first(test)
        let begun = try Self.page(#"[{"id":"d"}]"#, next: "2", delta: nil)
        test.upstream.answering { request in
            request.position == nil ? .success(begun) : .failure(.unclear(status: 500, "oops"))
        }
        await #expect(throws: UpstreamError.self) { try await test.pull() }
        #expect(try test.cursor.delta == "t1")
        test.upstream.forget()
        let rest = try Self.page(#"[{"id":"e"}]"#, delta: "t2")
        test.upstream.answering { .success($0.position == nil ? begun : rest) }
        try await test.pull()
        #expect(test.upstream.requests.allSatisfy { $0.since?.value == "t1" })
        #expect(try test.keys() == ["a", "b", "c", "d", "e"])
        #expect(try test.cursor.delta == "t2")
    }

    @Test("an interrupted first pull has no token")
    func interruptedFirst() async throws {
        let test = try TestPull(Self.pull)
        let begun = try Self.page(#"[{"id":"a"}]"#, next: "2", delta: "early")
        test.upstream.answering { request in
            request.position == nil ? .success(begun) : .failure(.unclear(status: 500, "oops"))
        }
        await #expect(throws: UpstreamError.self) { try await test.pull() }
        #expect(try test.cursor.delta == nil)
    }

    @Test(
        "a token that is no longer known leads to a full pull at once",
        arguments: [
            UpstreamError.gone(status: 410, "expired"), .refused(status: 400, "bad token"),
            .barred(status: 403, "expired"), .refused(status: nil, "nothing was sent: its URL is too long"),
        ])
    func expired(_ error: UpstreamError) async throws {
        let test = try TestPull(Self.pull)
        try await first(test)
        test.upstream.forget()
        let all = try Self.page(#"[{"id":"a"},{"id":"b"},{"id":"c"},{"id":"e"}]"#, delta: "t9")
        test.upstream.answering { $0.since == nil ? .success(all) : .failure(error) }
        try await test.pull()
        #expect(test.upstream.requests.map(\.since?.value) == ["t1", nil])
        #expect(try test.keys() == ["a", "b", "c", "e"])
        #expect(try test.cursor.delta == "t9")
    }

    @Test("a token that expires during an interrupted pull leads to a full pull at once")
    func expiredMidway() async throws {
        let test = try TestPull(Self.pull)
        try await first(test)
        let begun = try Self.page(#"[{"id":"d"}]"#, next: "2")
        test.upstream.answering { request in
            request.position == nil ? .success(begun) : .failure(.unclear(status: 500, "oops"))
        }
        await #expect(throws: UpstreamError.self) { try await test.pull() }
        test.upstream.forget()
        let all = try Self.page(#"[{"id":"a"},{"id":"b"},{"id":"c"},{"id":"d"}]"#, delta: "t9")
        test.upstream.answering { $0.since == nil ? .success(all) : .failure(.barred(status: 403, "expired")) }
        try await test.pull()
        #expect(test.upstream.requests.map(\.since?.value) == ["t1", "t1", nil])
        #expect(try test.cursor.delta == "t9")
    }

    @Test(
        "the second failure in a row of a pull with a token says how to declare that it means the token",
        arguments: [
            UpstreamError.unclear(status: 500, "oops"), .barred(status: 402, "pay"), .changed(status: 409, "reset"),
        ])
    func suspected(_ error: UpstreamError) async throws {
        let test = try TestPull(Self.pull)
        try await first(test)
        test.upstream.answering { _ in .failure(error) }
        let once = await #expect(throws: UpstreamError.self) { try await test.pull() }
        #expect(once == error)
        var cursor = try test.cursor
        cursor.error = once?.message
        try await test.store.setCursor(of: "orders", to: cursor)
        let twice = await #expect(throws: UpstreamError.self) { try await test.pull() }
        let message = try #require(twice?.message)
        #expect(message.hasPrefix(error.message) && message.contains("pull.since.expired"), "\(message)")
    }

    @Test(
        "a failure that says nothing about the token keeps it",
        arguments: [UpstreamError.unclear(status: 500, "oops"), .barred(status: 402, "pay")])
    func failed(_ error: UpstreamError) async throws {
        let test = try TestPull(Self.pull)
        try await first(test)
        test.upstream.forget()
        test.upstream.answering { _ in .failure(error) }
        await #expect(throws: UpstreamError.self) { try await test.pull() }
        #expect(test.upstream.requests.count == 1)
        #expect(try test.cursor.delta == "t1")
    }

    @Test("a full list without a token is used, and said to be wrong")
    func missing() async throws {
        let test = try TestPull(Self.pull)
        try test.upstream.serve([#"[{"id":"a"}]"#])
        let summary = try await test.pull()
        #expect(summary.problem?.contains("nothing at next_token") == true)
        #expect(try test.keys() == ["a"])
    }

    @Test("a pull of changes without a new token goes on from the old one")
    func kept() async throws {
        let test = try TestPull(Self.pull)
        try await first(test)
        try test.upstream.serve(["[]"])
        #expect(try await test.pull().problem == nil)
        #expect(try test.cursor.delta == "t1")
    }

    @Test("a full pull asks without the token")
    func full() async throws {
        let test = try TestPull(Self.pull)
        try await first(test)
        test.upstream.forget()
        let all = try Self.page(#"[{"id":"a"},{"id":"b"},{"id":"c"}]"#, delta: "t5")
        test.upstream.answering { _ in .success(all) }
        try await test.pull(full: true)
        #expect(test.upstream.requests.map(\.since?.value) == [nil])
        #expect(try test.cursor.delta == "t5")
    }
}
