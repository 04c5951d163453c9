import EntitySchema
import JSONText
import Synchronization
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("Single records read besides the list")
struct SingleReadTests {
    private static func detail(_ trigger: String) -> String {
        "detail: { read: single, when_changed: \(trigger), into: { messages: thread.messages } }"
    }

    private func test(_ trigger: String = "any") async throws -> TestPull {
        let test = try TestPull(Self.detail(trigger))
        try test.upstream.serve([#"[{"id":"a","updated_at":"2026-01-01"},{"id":"b","updated_at":"2026-01-01"}]"#])
        try test.upstream.serveSingles(
            of:
                #"[{"id":"a","notes":"N","updated_at":"2026-01-01","thread":{"messages":[{"id":"m"},{"id":"n"}]}},{"id":"b","updated_at":"2026-01-01","thread":{"messages":[]}}]"#
        )
        try await test.pull()
        test.clock.advance(by: .seconds(1))
        try await test.pullDetails()
        test.clock.advance(by: .seconds(1))
        return test
    }

    private func order(_ test: TestPull) throws -> JSONText? {
        try test.store.record("orders", key: "a").map { try JSONText($0) }
    }

    @Test(
        "what lists do not show, and the children in the record, are read once for each record",
        arguments: ["any", "updated_at"])
    func once(trigger: String) async throws {
        let test = try await test(trigger)
        #expect(try order(test)?["notes"] == "N")
        #expect(try test.keys("messages") == ["m", "n"])
        let parent = try test.store.record("messages", key: "m").map { try JSONText($0) }?["order_id"]
        #expect(parent == "a")
        let read = test.upstream.reads.count
        // The first pull has read one, to learn that the upstream serves single records.
        #expect(read == 3)
        for _ in 1...2 {
            try await test.pull()
            try await test.pullDetails()
        }
        #expect(test.upstream.reads.count == read, "nothing has changed")
        #expect(try order(test)?["notes"] == "N", "the list does not erase what it does not show")
    }

    @Test("what was read before the upstream asks to wait is kept, so that the next pull goes on behind it")
    func limited() async throws {
        let test = try TestPull(Self.detail("any"))
        let orders = JSONText.array((1...9).map { .object(["id": .string("o\($0)")]) })
        try test.upstream.serve([orders.text])
        let count = Counter()
        test.upstream.serveSingles { _, key in
            guard !count.next().isMultiple(of: 4) else { return .failure(.throttled(.seconds(2), "too many requests")) }
            return .success(#"{"id":"\#(key)","notes":"N","thread":{"messages":[]}}"#)
        }
        try await test.pull()
        await #expect(throws: UpstreamError.self) { try await test.pullDetails() }
        for _ in 1...9 { try? await test.pullDetails() }
        #expect(try test.store.parents(of: "orders", after: 0, all: false, limit: 9).isEmpty)
    }

    @Test("what is under way when the upstream asks to wait is kept, if it is answered after that")
    func underWay() async throws {
        let test = try TestPull(Self.detail("any"))
        try test.upstream.serve([#"[{"id":"a"},{"id":"b"}]"#])
        try await test.pull()
        test.upstream.serveSingles { _, key in
            guard key == "a" else { return .failure(.throttled(.seconds(2), "too many requests")) }
            guard !Task.isCancelled else { return .failure(.cancelled) }
            return .success(#"{"id":"a","notes":"N","thread":{"messages":[]}}"#)
        }
        test.upstream.onRecord { [upstream = test.upstream] key in
            guard key == "a" else { return }
            while !upstream.reads.contains("b") { await Task.yield() }
            for _ in 1...1000 { await Task.yield() }
        }
        await #expect(throws: UpstreamError.self) { try await test.pullDetails() }
        #expect(try order(test)?["notes"] == "N")
    }

    @Test("what a record no longer has is gone, also if the upstream asks to wait right after it was read")
    func goneBeforeLimit() async throws {
        let test = try await test("updated_at")
        try test.upstream.serve([#"[{"id":"a","updated_at":"2026-02-01"},{"id":"b","updated_at":"2026-02-01"}]"#])
        let count = Counter()
        test.upstream.serveSingles { _, key in
            if key == "a" {
                return .success(#"{"id":"a","updated_at":"2026-02-01","thread":{"messages":[{"id":"n"}]}}"#)
            }
            guard count.next() > 1 else { return .failure(.throttled(.seconds(2), "too many requests")) }
            return .success(#"{"id":"b","updated_at":"2026-02-01","thread":{"messages":[]}}"#)
        }
        try await test.pull()
        await #expect(throws: UpstreamError.self) { try await test.pullDetails() }
        try await test.pullDetails()
        #expect(try test.keys("messages") == ["n"])
    }

    @Test("a record is read again when the list shows a change, and keeps no children that are gone twice")
    func again() async throws {
        for trigger in ["any", "updated_at"] {
            let test = try await test(trigger)
            try test.upstream.serve([#"[{"id":"a","updated_at":"2026-02-01"},{"id":"b","updated_at":"2026-01-01"}]"#])
            try test.upstream.serveSingles(
                of: #"[{"id":"a","notes":"M","updated_at":"2026-02-01","thread":{"messages":[{"id":"n"}]}},{"id":"b"}]"#
            )
            let before = test.upstream.reads.count
            try await test.pull()
            try await test.pullDetails()
            #expect(try order(test)?["notes"] == "M")
            #expect(try test.keys("messages") == ["n"])
            // The one that changed, and its second reading before the message was deleted.
            #expect(test.upstream.reads.count == before + 2)
        }
    }

    @Test("a change that the list does not show comes with a full sync, not before", arguments: ["any", "updated_at"])
    func unlisted(trigger: String) async throws {
        let test = try await test(trigger)
        func text() throws -> String? {
            try test.store.record("messages", key: "m").map { try JSONText($0) }?["text"]?.plain
        }
        try test.upstream.serveSingles(
            of:
                #"[{"id":"a","notes":"M","updated_at":"2026-01-01","thread":{"messages":[{"id":"m","text":"new"},{"id":"n"}]}},{"id":"b","updated_at":"2026-01-01","thread":{"messages":[]}}]"#
        )
        try await test.pull()
        try await test.pullDetails()
        #expect(try order(test)?["notes"] == "N")
        #expect(try text() != "new")
        try await test.pullDetails(all: true)
        #expect(try order(test)?["notes"] == "M")
        #expect(try text() == "new")
    }

    @Test("whenever a full pull is due, a thirtieth of the records is read again, one after the other")
    func round() async throws {
        let test = try TestPull(Self.detail("any"))
        let records = (10..<70).map { #"{"id":"\#($0)","updated_at":"2026-01-01","thread":{"messages":[]}}"# }
        try test.upstream.serve(["[\(records.joined(separator: ","))]"])
        try test.upstream.serveSingles(of: "[\(records.joined(separator: ","))]")
        try await test.pull()
        try await test.pullDetails()
        let orders = try #require(test.schema["orders"])
        let fetch = try #require(orders.pull?.fetch)
        let details = DetailPuller(puller: test.puller(), entity: orders, fetch: fetch, parallel: 1)
        var before = test.upstream.reads.count
        try await details.readAgain { _ in true }
        #expect(test.upstream.reads.count == before, "all were just read")
        for _ in 1...31 {
            try await details.readAgain { $0 != test.clock.timestamp }
            test.clock.advance(by: .seconds(1))
            try await details.readAgain { $0 != test.clock.timestamp }
            #expect(test.upstream.reads.count == before + 2)
            before += 2
        }
        let again = test.upstream.reads.suffix(62)
        #expect(Set(again.prefix(60)).count == 60, "each record has its turn")
        #expect(Array(again.suffix(2)) == Array(again.prefix(2)), "and then again")
    }

    /// How many of six orders have what their single records say, by the order that was being asked for.
    private final class Written: Sendable {
        private let counts = Mutex<[String: Int]>([:])

        func note(_ store: CacheStore, _ key: String) {
            let records = (1...6).compactMap { try? store.record("orders", key: "\($0)") }.compactMap {
                try? JSONText($0)
            }
            counts.withLock { $0[key] = records.count { $0["notes"]?.string != nil } }
        }

        subscript(key: String) -> Int? { counts.withLock { $0[key] } }
    }

    @Test("large records are written before many others are read, and each is read once")
    func large() async throws {
        let test = try TestPull(Self.detail("any"))
        let keys = (1...6).map(String.init)
        try test.upstream.serve(["[\(keys.map { #"{"id":"\#($0)"}"# }.joined(separator: ","))]"])
        let text = String(repeating: "x", count: 1000)
        let written = Written()
        test.upstream.serveSingles { [store = test.store] _, key in
            written.note(store, key)
            return .success(#"{"id":"\#(key)","notes":"\#(text)","thread":{"messages":[]}}"#)
        }
        try await test.pull()
        let before = test.upstream.reads.count
        let orders = try #require(test.schema["orders"])
        let fetch = try #require(orders.pull?.fetch)
        let details = DetailPuller(puller: test.puller(), entity: orders, fetch: fetch, parallel: 1, mostBytes: 500)
        try await details.pull(all: false)
        #expect(Array(test.upstream.reads.dropFirst(before)) == keys)
        // One is written while the next is read.
        #expect(written["3"] ?? 0 >= 1 && written["6"] ?? 0 >= 4)
        written.note(test.store, "end")
        #expect(written["end"] == 6)
    }

    @Test("a list and a single record that spell the same value differently do not undo each other")
    func spelling() async throws {
        let test = try TestPull(Self.detail("any")) {
            $0.replacing("notes: { type: string }", with: "notes: { type: boolean }")
        }
        try test.upstream.serve([#"[{"id":"a","notes":false}]"#])
        try test.upstream.serveSingles(of: #"[{"id":"a","notes":0,"text":"x","thread":{"messages":[]}}]"#)
        var positions: [Int64] = []
        for _ in 1...4 {
            try await test.pull()
            test.clock.advance(by: .seconds(1))
            try await test.pullDetails()
            test.clock.advance(by: .seconds(1))
            positions.append(try test.store.position())
        }
        #expect(Set(positions).count == 1 && test.upstream.reads.count == 2, "\(positions) \(test.upstream.reads)")
    }

    @Test("a record that is not there keeps its children and is asked for again")
    func gone() async throws {
        let test = try await test()
        try test.upstream.serve([#"[{"id":"a","updated_at":"2026-02-01"},{"id":"b","updated_at":"2026-02-01"}]"#])
        try test.upstream.serveSingles(of: "[]")
        try await test.pull()
        try await test.pullDetails()
        #expect(try test.keys("messages") == ["m", "n"])
        #expect(try test.store.parents(of: "orders", after: 0, all: false, limit: 9).map(\.key) == ["a", "b"])
    }

    @Test("a change time that the single record has elsewhere is the same field")
    func movedTime() async throws {
        let test = try TestPull("changed_at: updated_at, \(Self.detail("updated_at"))") {
            $0.replacing("updated_at: { type: time }", with: "updated_at: { type: time, from: dates.updated_at }")
        }
        try test.upstream.serve([#"[{"id":"a","updated_at":"2026-01-01T00:00:00Z"}]"#])
        try test.upstream.serveSingles(
            of: #"[{"id":"a","dates":{"updated_at":"2026-01-02T00:00:00Z"},"thread":{"messages":[]}}]"#)
        try await test.pull()
        try await test.pullDetails()
        let record = try #require(try order(test))
        #expect(test.schema["orders"]?.changeTime(of: record)?.description == "2026-01-02T00:00:00.000Z")
    }
}
