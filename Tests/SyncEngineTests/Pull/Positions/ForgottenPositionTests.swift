import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("Positions that an upstream has forgotten")
struct ForgottenPositionTests {
    private let pages = [#"[{"id":"a"},{"id":"b"}]"#, #"[{"id":"c"},{"id":"d"}]"#, #"[{"id":"e"}]"#]

    /// A pull that failed at the third page, how long ago, and whether that was noted.
    private func interrupted(
        _ pagination: String, isNoted: Bool = true, after time: Duration = .seconds(3600)
    ) async throws -> TestPull {
        let test = try TestPull("pagination: { style: \(pagination) }")
        try serve(test, failingAt3: .unclear(status: 500, "oops"))
        await #expect(throws: UpstreamError.self) { try await test.pull() }
        #expect(try test.cursor.pull?.position == "3")
        if isNoted { try await test.store.changeCursor(of: "orders") { $0.error = "oops" } }
        test.upstream.forget()
        test.clock.advance(by: time)
        return test
    }

    /// Fails at the third page, at first.
    private func serve(_ test: TestPull, failingAt3 error: UpstreamError) throws {
        let pages = try pages.map { try JSONText(parsing: $0) }
        let isFirst = Flag()
        test.upstream.answering { request in
            if request.position == "3", isFirst.take() { return .failure(error) }
            return .success(PagedUpstream.page(pages, request.position))
        }
    }

    @Test(
        "that it gave out itself, and where it fails again, are dropped",
        arguments: ["cursor, next: next", "next_url, next: next", "link", "header, header: Next"],
        [UpstreamError.unclear(status: 500, "oops"), .barred(status: 403, "no")])
    func dropped(_ pagination: String, _ error: UpstreamError) async throws {
        let test = try await interrupted(pagination)
        try serve(test, failingAt3: error)
        try await test.pull()
        #expect(test.upstream.positions == ["3", nil, "2", "3"])
        #expect(try test.keys() == ["a", "b", "c", "d", "e"])
    }

    @Test(
        "are kept where pages are counted, or named by a record",
        arguments: ["page", "offset", "cursor, next: { last: id }"])
    func counted(_ pagination: String) async throws {
        let test = try await interrupted(pagination)
        try serve(test, failingAt3: .unclear(status: 500, "oops"))
        await #expect(throws: UpstreamError.self) { try await test.pull() }
        #expect(test.upstream.positions == ["3"])
        #expect(try test.cursor.pull?.position == "3")
    }

    @Test("are kept when it fails for the first time")
    func first() async throws {
        let test = try await interrupted("cursor, next: next", isNoted: false)
        try serve(test, failingAt3: .unclear(status: 500, "oops"))
        await #expect(throws: UpstreamError.self) { try await test.pull() }
        #expect(test.upstream.positions == ["3"])
    }

    @Test("are kept for an hour: a page that cannot be served does not bring all pages before it each time")
    func young() async throws {
        let test = try await interrupted("cursor, next: next", after: .seconds(3599))
        try serve(test, failingAt3: .unclear(status: 500, "oops"))
        await #expect(throws: UpstreamError.self) { try await test.pull() }
        #expect(test.upstream.positions == ["3"])
    }

    @Test(
        "are kept while there is no answer of its own",
        arguments: [
            UpstreamError.unclear(status: nil, "timeout"), .unclear(status: 504, "timeout"), .offline("no route"),
            .barred(status: 503, "busy"),
        ])
    func outage(_ error: UpstreamError) async throws {
        let test = try await interrupted("cursor, next: next")
        try serve(test, failingAt3: error)
        await #expect(throws: UpstreamError.self) { try await test.pull() }
        #expect(test.upstream.positions == ["3"])
    }

    @Test("are kept while the first page fails too")
    func failingList() async throws {
        let test = try await interrupted("cursor, next: next")
        test.upstream.answering { _ in .failure(.unclear(status: 500, "oops")) }
        await #expect(throws: UpstreamError.self) { try await test.pull() }
        #expect(test.upstream.positions == ["3", nil])
        #expect(try test.cursor.pull?.position == "3")
    }
}
