import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("Pulls with a list of its own for what changed")
struct ChangesListTests {
    private static let since = "since: { param: since, field: updated_at, overlap: 10s }"
    private static let both = "\(since), changes: { path: /changed }"

    /// Serves pages of both lists; the list at `cut` fails at its second page. `total` is that of everything.
    private func serve(
        _ test: TestPull, _ all: [String], _ changed: [String] = [], cutting cut: String? = nil, total: Int? = nil
    ) throws {
        let all = try all.map { try JSONText(parsing: $0) }
        let changed = try changed.map { try JSONText(parsing: $0) }
        test.upstream.forget()
        test.upstream.answering { request in
            if request.path == cut, request.position == "2" { return .failure(.unclear(status: 500, "oops")) }
            let isOfChanges = request.path == "/changed"
            return .success(
                PagedUpstream.page(isOfChanges ? changed : all, request.position, isOfChanges ? nil : total))
        }
    }

    private func asked(_ test: TestPull) -> [String] {
        test.upstream.requests.map { "\($0.path) \($0.position ?? "1")" }
    }

    private func record(_ id: String, _ day: Int) -> String { #"{"id":"\#(id)","updated_at":"2026-01-0\#(day)"}"# }

    private func list(_ records: String...) -> String { "[\(records.joined(separator: ","))]" }

    /// A last page with a token.
    private func page(_ record: String, mark: String) throws -> Page {
        var page = Page(records: try JSONText(parsing: list(record)), count: 1)
        page.delta = mark
        return page
    }

    /// A cache with the orders a and b, whose last pull was whole.
    private func filled(_ pull: String = both) async throws -> TestPull {
        let test = try TestPull(pull)
        try serve(test, [list(record("a", 1), record("b", 2))])
        try await test.pull()
        #expect(asked(test) == ["/orders 1"])
        return test
    }

    // MARK: Which list

    @Test("a first and a full pull ask for everything, and the others for what changed since the watermark")
    func lists() async throws {
        let test = try await filled()
        try serve(test, [list(record("a", 1), record("b", 2))], [list(record("b", 3), record("c", 3))])
        try await test.pull()
        #expect(asked(test) == ["/changed 1"])
        #expect(test.upstream.requests.first?.since?.value == "2026-01-01T23:59:50.000Z")
        #expect(try test.keys() == ["a", "b", "c"])
        #expect(try test.cursor.watermark == "2026-01-03T00:00:00.000Z")
        try serve(test, [list(record("a", 1), record("b", 3), record("c", 3))])
        try await test.pull(full: true)
        #expect(asked(test) == ["/orders 1"])
        #expect(test.upstream.requests.first?.since == nil)
    }

    @Test(
        "a list of changes that brings news and may be cut is followed by that of everything",
        arguments: [(9, false), (10, true)])
    func cut(_ count: Int, _ isCut: Bool) async throws {
        let test = try await filled("\(Self.both), pagination: { style: single }")
        let changed = (1...count).map { record("c\($0)", 3) }
        try serve(test, [], ["[\(changed.joined(separator: ","))]"])
        try await test.pull()
        #expect(asked(test) == ["/changed 1"])
        #expect((try test.cursor.lastFullAt == nil) == isCut)
    }

    @Test("without a change time in the cache, everything is asked for again")
    func noWatermark() async throws {
        let test = try TestPull(Self.both)
        try serve(test, ["[]"])
        try await test.pull()
        try await test.pull()
        #expect(asked(test) == ["/orders 1", "/orders 1"])
    }

    @Test("what only the list of changes has is stored, and what it lacks is not deleted")
    func keeps() async throws {
        let test = try await filled()
        try serve(test, ["[]"], [list(record("c", 3)), "[]"])
        #expect(try await test.pull().deleted == 0)
        #expect(asked(test) == ["/changed 1", "/changed 2"])
        #expect(try test.keys() == ["a", "b", "c"])
        #expect(try test.cursor.heldDeletions == 0)
    }

    @Test("a record that the list of changes marks as deleted is deleted")
    func marks() async throws {
        let test = try await filled()
        try serve(test, [], [#"[{"id":"b","deleted_at":"2026-01-03","updated_at":"2026-01-03"}]"#])
        try await test.pull()
        #expect(try test.keys() == ["a"])
    }

    @Test("only the list of everything shows that a record is gone")
    func sweeps() async throws {
        let test = try await filled()
        try serve(test, [list(record("a", 1))])
        try test.upstream.serveSingles(of: list(record("a", 1)))
        #expect(try await test.pull(full: true).deleted == 1)
        #expect(try test.keys() == ["a"])
    }

    @Test("a token of the list of everything is sent to that of changes, and each gives out the next one")
    func tokens() async throws {
        let test = try TestPull("since: { token: mark, param: after }, changes: { path: /changed }")
        let (all, changed) = (try page(record("a", 1), mark: "t1"), try page(record("b", 2), mark: "t2"))
        test.upstream.answering { .success($0.path == "/orders" ? all : changed) }
        try await test.pull()
        try await test.pull()
        #expect(asked(test) == ["/orders 1", "/changed 1"])
        #expect(test.upstream.requests.map(\.since?.value) == [nil, "t1"])
        #expect(try test.cursor.delta == "t2")
        #expect(try test.keys() == ["a", "b"])
    }

    @Test("a token that is no longer known makes the same pull ask for everything")
    func unknownToken() async throws {
        let test = try TestPull("since: { token: mark, param: after }, changes: { path: /changed }")
        let all = try page(record("a", 1), mark: "t1")
        test.upstream.answering { request in
            request.path == "/orders" ? .success(all) : .failure(.gone(status: 410, "expired"))
        }
        try await test.pull()
        try await test.pull()
        #expect(asked(test) == ["/orders 1", "/changed 1", "/orders 1"])
    }

    @Test("a token is not sent to another list of changes")
    func otherTokens() async throws {
        let pull = "since: { token: mark, param: after }, changes: { path: /changed }"
        let test = try TestPull(pull)
        let (all, changed) = (try page(record("a", 1), mark: "t1"), try page(record("b", 2), mark: "t2"))
        test.upstream.answering { _ in .success(all) }
        try await test.pull()
        let other = try TestPull(test, pull.replacing("/changed", with: "/news"))
        other.upstream.answering { .success($0.path == "/orders" ? all : changed) }
        for _ in 1...2 { try await other.pull() }
        #expect(asked(other) == ["/orders 1", "/news 1"])
    }

    @Test("newest first, only the list of changes is read until it is known")
    func newest() async throws {
        let test = try await filled("mode: newest_first, changed_at: updated_at, changes: { path: /changed }")
        try serve(test, [], [list(record("c", 3), record("b", 2)), list(record("a", 1))])
        try await test.pull()
        #expect(asked(test) == ["/changed 1", "/changed 2"])
        #expect(try test.keys() == ["a", "b", "c"])
    }

    @Test("how the list of everything always disagrees with itself excuses no other list")
    func gaps() async throws {
        let test = try TestPull(Self.both)
        try serve(test, [list(record("a", 1), record("b", 2))], total: 3)
        for _ in 1...3 { try await test.pull(full: true) }
        #expect(try test.cursor.listGap?.hasPrefix("3 ") == true)
        test.upstream.forget()
        let changed = try JSONText(parsing: list(record("b", 3)))
        test.upstream.answering { _ in .success(Page(records: changed, count: 1, total: 2)) }
        try await test.pull()
        #expect(asked(test) == ["/changed 1", "/changed 1"])
    }

    // MARK: Interruptions

    @Test("a pull that was interrupted goes on in its own list")
    func resumes() async throws {
        let test = try await filled()
        let changed = [list(record("c", 3)), list(record("d", 3))]
        try serve(test, [], changed, cutting: "/changed")
        await #expect(throws: UpstreamError.self) { try await test.pull() }
        #expect(try test.cursor.pull?.list == .changes && test.cursor.pull?.position == "2")
        let again = try TestPull(test, Self.both)
        try serve(again, [], changed)
        try await again.pull()
        // The rows of its first part may have slid.
        #expect(asked(again) == ["/changed 2", "/changed 1", "/changed 2"])
        #expect(try again.keys() == ["a", "b", "c", "d"])
    }

    @Test("a first pull that was interrupted goes on in the list of everything")
    func resumesFirst() async throws {
        let test = try TestPull(Self.both)
        let all = [list(record("a", 1)), list(record("b", 2))]
        try serve(test, all, cutting: "/orders")
        await #expect(throws: UpstreamError.self) { try await test.pull() }
        #expect(try test.cursor.pull?.list == .everything)
        let again = try TestPull(test, Self.both)
        try serve(again, all)
        try await again.pull()
        #expect(asked(again) == ["/orders 2"])
        #expect(try again.keys() == ["a", "b"])
    }

    @Test("a full pull that is due drops the position in the list of changes")
    func fullAfterChanges() async throws {
        let test = try await filled()
        try serve(test, [], [list(record("c", 3)), list(record("d", 3))], cutting: "/changed")
        await #expect(throws: UpstreamError.self) { try await test.pull() }
        try serve(test, [list(record("a", 1), record("b", 2)), list(record("c", 3), record("d", 3))])
        try await test.pull(full: true)
        #expect(asked(test) == ["/orders 1", "/orders 2"])
    }

    @Test(
        "a schema that gains or loses the list of changes sends no position of before",
        arguments: [(since, both), (both, since)])
    func otherSchema(_ before: String, _ after: String) async throws {
        let test = try await filled(before)
        let pages = [list(record("c", 3)), list(record("d", 3))]
        let path = before == Self.both ? "/changed" : "/orders"
        try serve(test, pages, pages, cutting: path)
        await #expect(throws: UpstreamError.self) { try await test.pull() }
        #expect(try test.cursor.pull?.position == "2")
        let restarted = try TestPull(test, after)
        try serve(restarted, pages, pages)
        try await restarted.pull()
        let other = after == Self.both ? "/changed" : "/orders"
        #expect(asked(restarted) == ["\(other) 1", "\(other) 2"])
        #expect(restarted.upstream.requests.first?.since?.value == "2026-01-01T23:59:50.000Z")
        #expect(try restarted.keys() == ["a", "b", "c", "d"])
    }

    @Test(
        "a first pull begins again, too: the list of before may be that of changes now",
        arguments: [(since, both), (both, since)])
    func otherSchemaAtFirst(_ before: String, _ after: String) async throws {
        let test = try TestPull(before)
        let all = [list(record("a", 1)), list(record("b", 2))]
        try serve(test, all, cutting: "/orders")
        await #expect(throws: UpstreamError.self) { try await test.pull() }
        let restarted = try TestPull(test, after)
        try serve(restarted, all)
        try await restarted.pull()
        #expect(asked(restarted) == ["/orders 1", "/orders 2"])
        #expect(try restarted.keys() == ["a", "b"])
    }
}
