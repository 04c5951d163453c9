import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("Resuming pulls")
struct PositionTests {
    private let pages = [#"[{"id":"a"},{"id":"b"}]"#, #"[{"id":"c"},{"id":"d"}]"#, #"[{"id":"e"}]"#]

    /// Serves the first pages and fails at the position "3".
    private func cutOff(_ test: TestPull) async throws {
        let pages = try pages.map { try JSONText(parsing: $0) }
        test.upstream.answering { request in
            if request.position == "3" { return .failure(.unclear(status: 500, "oops")) }
            return .success(PagedUpstream.page(pages, request.position))
        }
        await #expect(throws: UpstreamError.self) { try await test.pull() }
        #expect(try test.cursor.pull?.position == "3")
        test.upstream.forget()
    }

    @Test("an interrupted pull resumes at the position that the upstream gave")
    func resumes() async throws {
        let test = try TestPull()
        try await cutOff(test)
        try test.upstream.serve(pages)
        try await test.pull()
        #expect(test.upstream.positions == ["3"])
        #expect(try test.keys() == ["a", "b", "c", "d", "e"])
        #expect(try test.cursor.pull == nil)
    }

    @Test(
        "after an interrupted first pull everything is read again, unless no deletion can have moved what followed",
        arguments: [
            ("{ style: page }", true), ("{ style: offset }", true), ("{ style: next_url, next: next }", true),
            ("{ style: cursor, next: next }", false), ("{ style: cursor, next: { last: id } }", false),
        ])
    func followed(_ pagination: String, isRead: Bool) async throws {
        let test = try TestPull("since: { param: since, field: updated_at }, pagination: \(pagination)")
        try await cutOff(test)
        try test.upstream.serve(pages)
        try await test.pull()
        #expect(try (test.cursor.lastFullAt == nil) == isRead)
        test.upstream.forget()
        try await test.pull(full: test.cursor.lastFullAt == nil)
        #expect(try test.cursor.lastFullAt != nil)
    }

    @Test(
        "a position that the upstream no longer accepts is dropped, and the pull starts over",
        arguments: [
            UpstreamError.refused(status: 400, "bad cursor"), .gone(status: 410, "expired"), .malformed("no list"),
            .changed(status: 409, "reset"),
        ])
    func startsOver(error: UpstreamError) async throws {
        let test = try TestPull()
        try await cutOff(test)
        try test.upstream.serve(pages, after: .failure(error), at: "3")
        try await test.pull()
        #expect(test.upstream.positions == ["3", nil, "2", "3"])
        #expect(try test.keys() == ["a", "b", "c", "d", "e"])
    }

    @Test("a position with nothing behind it is no end: the record that it names may have been deleted")
    func namesDeleted() async throws {
        let test = try TestPull(
            "since: { param: since, field: updated_at }, pagination: { style: cursor, next: { last: id } }")
        try await cutOff(test)
        try test.upstream.serve(pages, after: .success(Page(records: .array([]), count: 0)), at: "3")
        try await test.pull()
        #expect(test.upstream.positions == ["3", nil, "2", "3"])
        #expect(try test.keys() == ["a", "b", "c", "d", "e"])
    }

    @Test("a list does not end where the record that the next page is asked by was deleted meanwhile")
    func deletedMeanwhile() async throws {
        let test = try TestPull("pagination: { style: cursor, next: { last: id } }")
        let isFirst = Flag()
        test.upstream.answering { request in
            let ids = isFirst.take() ? ["a", "b", "c", "d", "e"] : ["a", "c", "d", "e"]
            var rest = ids[...]
            if let last = request.position { rest = ids.firstIndex(of: last).map { ids[($0 + 1)...] } ?? [] }
            let shown = rest.prefix(2).map { JSONText.object(["id": .string($0)]) }
            let next = shown.count == 2 ? shown.last?["id"]?.plain : nil
            return .success(Page(records: .array(shown), count: shown.count, next: next))
        }
        try await test.pull()
        #expect(test.upstream.positions.prefix(6) == [nil, "b", nil, "c", "e", "c"])
        #expect(try test.keys().isSuperset(of: ["a", "c", "d", "e"]))
    }

    @Test("a position that the upstream replaces by another one is no end of the pull, and deletes nothing")
    func replaced() async throws {
        let test = try TestPull()
        try test.upstream.serve(pages)
        try await test.pull()
        test.upstream.forget()
        let lists = try pages.map { try JSONText(parsing: $0) }
        let rest = JSONText.array(lists[1].elements + lists[2].elements)
        test.upstream.answering { request in
            switch request.position {
            case nil: return .success(PagedUpstream.page(lists, nil))
            case "2":
                var page = Page(records: .array([JSONText]()), count: 0, next: "rest")
                page.isRenewed = true
                return .success(page)
            default: return .success(Page(records: rest, count: 3))
            }
        }
        try await test.pull(full: true)
        #expect(test.upstream.positions == [nil, "2", "rest"])
        #expect(try test.keys() == ["a", "b", "c", "d", "e"])
        #expect(try test.cursor.pull == nil)
    }

    @Test("a pull starts over only once, and keeps its position when the upstream merely failed")
    func failsOnce() async throws {
        let test = try TestPull()
        try await cutOff(test)
        test.upstream.answering { _ in .failure(.refused(status: 400, "no")) }
        await #expect(throws: UpstreamError.refused(status: 400, "no")) { try await test.pull() }
        #expect(test.upstream.positions == ["3", nil])
        test.upstream.forget()
        test.upstream.answering { _ in .failure(.unclear(status: 503, "later")) }
        await #expect(throws: UpstreamError.self) { try await test.pull() }
        #expect(test.upstream.positions == ["3"])
    }

    @Test("an interrupted incremental pull is followed by a whole one: rows may have slid past the interruption")
    func slides() async throws {
        let test = try TestPull()
        try test.upstream.serve([#"[{"id":"a","updated_at":"2026-01-01"}]"#])
        try await test.pull()
        let watermark = try test.cursor.watermark
        try await cutOff(test)
        try test.upstream.serve([
            #"[{"id":"b"},{"id":"c"}]"#, #"[{"id":"d"},{"id":"e"}]"#, #"[{"id":"a","updated_at":"2026-02-01"}]"#,
        ])
        try await test.pull()
        #expect(test.upstream.positions == ["3", nil, "2", "3"])
        #expect(Set(test.upstream.requests.dropFirst().map(\.since)).count == 1)
        #expect(try test.keys() == ["a", "b", "c", "d", "e"])
        #expect(try test.cursor.watermark != watermark)
    }

    // MARK: Loops

    private func expectLoop(_ test: TestPull, _ words: String, asking atMost: Int) async throws {
        let watermark = try test.cursor.watermark
        test.upstream.forget()
        let error = await #expect(throws: UpstreamError.self) { try await test.pull(full: true) }
        #expect(error?.wordless == .malformed(""))
        #expect(error?.message.contains(words) == true && error?.message.contains("pagination in the schema") == true)
        #expect(test.upstream.requests.count <= atMost)
        #expect(try test.cursor.watermark == watermark)
        #expect(try test.cursor.pull == nil)
    }

    @Test("a next page that was requested before ends the pull", arguments: [1, 2, 3])
    func cursorLoops(length: Int) async throws {
        let test = try TestPull()
        try test.upstream.serve([#"[{"id":"a","updated_at":"2026-01-01"}]"#])
        try await test.pull()
        let records = Counter()
        test.upstream.answering { request in
            let number = request.position.flatMap { Int($0) } ?? 0
            return .success(
                Page(
                    records: .array([.object(["id": .integer(records.next())])]), count: 1,
                    next: "\((number + 1) % length)"
                ))
        }
        try await expectLoop(test, "named before", asking: length + 3)
    }

    @Test("the same page under new positions ends the pull")
    func samePage() async throws {
        let test = try TestPull()
        let positions = Counter()
        let records = try JSONText(parsing: #"[{"id":"a"},{"id":"b"}]"#)
        test.upstream.answering { _ in .success(Page(records: records, count: 2, next: "p\(positions.next())")) }
        try await expectLoop(test, "the same page twice", asking: 4)
    }

    /// Each answer has these records with values of its own.
    private func serveChanging(_ pages: [[String]], _ test: TestPull) {
        let counter = Counter()
        test.upstream.answering { request in
            let number = request.position.flatMap { Int($0) } ?? 1
            let records = pages[min(number, pages.count) - 1].map { key in
                JSONText.object(["id": .string(key), "served": .integer(counter.next())])
            }
            let isLast = pages.count > 1 && number == pages.count
            return .success(
                Page(records: .array(records), count: records.count, next: isLast ? nil : "\(number + 1)"))
        }
    }

    @Test("the same records with other values on each page end the pull")
    func changingPage() async throws {
        let test = try TestPull()
        serveChanging([["a", "b"]], test)
        try await expectLoop(test, "the same records on page after page", asking: 4)
    }

    @Test("one record alone on more than 100 pages in a row, each time with other values, ends the pull")
    func changingRecord() async throws {
        let test = try TestPull()
        serveChanging([["a"]], test)
        try await expectLoop(test, "the same records on page after page", asking: 102)
    }

    @Test("records that come alone again and again, each time with other values, end the pull", arguments: [2, 5])
    func changingTurns(_ count: Int) async throws {
        let test = try TestPull()
        serveChanging((0..<200).map { ["\($0 % count)"] }, test)
        try await expectLoop(test, "the same records on page after page", asking: 101 + count)
    }

    @Test("more than 100 pages in a row with records of earlier pages, each time together with others, end the pull")
    func changingPairs() async throws {
        let test = try TestPull()
        let keys = (0..<20).map { "\($0)" }
        let pairs = keys.indices.flatMap { first in keys[..<first].map { [$0, keys[first]] } }
        serveChanging([keys] + pairs, test)
        try await expectLoop(test, "only records of earlier pages", asking: 120)
    }

    @Test("pages with records of earlier pages and a new one in between do not end the pull")
    func changingPairsWithNews() async throws {
        let test = try TestPull()
        let keys = (0..<150).map { "\($0)" }
        serveChanging(keys.indices.dropFirst(2).map { [keys[$0 % 2], keys[$0]] }, test)
        try await test.pull(full: true)
        #expect(try test.keys().count == 150)
    }

    @Test("one record alone on 100 pages in a row does not end the pull")
    func busyRecord() async throws {
        let test = try TestPull()
        serveChanging(Array(repeating: ["a"], count: 100) + [["b"]], test)
        try await test.pull(full: true)
        #expect(try test.keys() == ["a", "b"])
    }

    @Test("pages that share some records, or show the same ones twice or thrice, do not end the pull")
    func slidingPages() async throws {
        let test = try TestPull()
        let pages = [["a", "b"], ["a", "b"], ["a", "b"], ["b", "c"], ["c", "d"], ["d", "e"], ["e", "f"]]
        serveChanging(pages, test)
        try await test.pull(full: true)
        #expect(try test.keys() == ["a", "b", "c", "d", "e", "f"])
    }

    @Test("records without a key are no sign of a loop")
    func keyless() async throws {
        let test = try TestPull()
        let counter = Counter()
        test.upstream.answering { request in
            let number = request.position.flatMap { Int($0) } ?? 1
            let records = (1...2).map { _ in JSONText.object(["served": .integer(counter.next())]) }
            return .success(Page(records: .array(records), count: 2, next: number < 8 ? "\(number + 1)" : nil))
        }
        #expect(try await test.pull().setAside == 16)
    }

    @Test("more than 100 empty pages in a row end the pull, 100 do not")
    func emptyPages() async throws {
        let test = try TestPull()
        let positions = Counter()
        test.upstream.answering { _ in
            let number = positions.next()
            let isLast = number > 100
            return .success(
                Page(
                    records: .array(isLast ? [.object(["id": "a"])] : []), count: isLast ? 1 : 0,
                    next: isLast ? nil : "p\(number)"))
        }
        try await test.pull()
        #expect(try test.keys() == ["a"])
        test.upstream.answering { _ in .success(Page(records: .array([]), count: 0, next: "q\(positions.next())")) }
        try await expectLoop(test, "100 empty pages", asking: 103)
    }

    @Test("pages that differ in one byte, anywhere, are different pages")
    func almostSamePage() throws {
        var trail = PageTrail(of: try #require(TestPull().schema["orders"]?.pull).list, at: "/orders")
        let text = Array(#"[{"id":"abcdefgh","x":"ijklmnopqrstuv"}]"#.utf8)
        for index in text.indices where text[index] >= UInt8(ascii: "i") && text[index] <= UInt8(ascii: "w") {
            var bytes = text
            bytes[index] = UInt8(ascii: "0")
            guard let page = try? JSONText(bytes) else { continue }
            try trail.add(Page(records: page, count: 1), askedAt: nil)
        }
        let page = Page(records: try JSONText(text), count: 1)
        try trail.add(page, askedAt: nil)
        #expect(throws: UpstreamError.self) { try trail.add(page, askedAt: nil) }
    }

    @Test("an endless list of children fails only its parent")
    func detailLoops() async throws {
        let test = try TestPull(
            #"detail: { path: "/orders/{id}/messages", into: messages, when_changed: updated_at }"#)
        let orders = try JSONText(
            parsing: #"[{"id":"a","updated_at":"2026-01-01"},{"id":"b","updated_at":"2026-01-01"}]"#)
        test.upstream.answering { request in
            if request.path == "/orders" { return .success(Page(records: orders, count: 2)) }
            let isBad = request.path.contains("/a/")
            return .success(
                Page(
                    records: .array([.object(["id": .string(isBad ? "x" : "m")])]), count: 1, next: isBad ? "1" : nil))
        }
        try await test.pull()
        await #expect(throws: UpstreamError.self) { try await test.pullDetails() }
        #expect(try test.keys("messages") == ["m"])
        #expect(try test.store.parents(of: "orders", after: 0, all: false, limit: 9).map(\.key) == ["a"])
    }

    @Test("a list of children that goes on and on is refused before it fills the memory")
    func endlessChildren() async throws {
        let test = try TestPull(
            #"detail: { path: "/orders/{id}/messages", into: messages, when_changed: updated_at }"#)
        test.upstream.answering { request in
            let number = request.position.flatMap { Int($0) } ?? 1
            let records = [JSONText.object(["id": .integer(2 * number)]), .object(["id": .integer(2 * number + 1)])]
            return .success(Page(records: .array(records), count: 2, next: "\(number + 1)"))
        }
        let orders = try #require(test.schema["orders"])
        let detail = try #require(orders.pull?.details.first)
        let reader = ChildReader(parent: orders, detail: detail, mostChildren: 9)
        let upstream = test.upstream
        await #expect(throws: UpstreamError.self) {
            _ = try await reader.family(at: "/orders/a/messages", under: "a", from: upstream)
        }
        #expect(test.upstream.requests.count == 5)
    }

    @Test("the key that each child is given counts as a part of its list")
    func longKey() async throws {
        let test = try TestPull(
            #"detail: { path: "/orders/{id}/messages", into: messages, when_changed: updated_at }"#)
        test.upstream.answering { request in
            let number = request.position.flatMap { Int($0) } ?? 1
            let records = (0..<1000).map { JSONText.object(["id": .integer(1000 * number + $0)]) }
            return .success(Page(records: .array(records), count: 1000, next: "\(number + 1)"))
        }
        let orders = try #require(test.schema["orders"])
        let reader = ChildReader(parent: orders, detail: try #require(orders.pull?.details.first))
        let upstream = test.upstream
        await #expect(throws: UpstreamError.self) {
            _ = try await reader.family(
                at: "/orders/a/messages", under: .string(String(repeating: "k", count: 5000)), from: upstream)
        }
        #expect(test.upstream.requests.count == 7, "32 MiB of children with their keys")
    }
}
