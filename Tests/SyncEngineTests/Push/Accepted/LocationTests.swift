import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

/// Which record a `Location` names, in the answer to a creation that has no record.
@Suite("A creation answered with an address")
struct LocationTests {
    private func test(_ yaml: String = TestEngine.shop) async throws -> TestEngine {
        try await .with(orders: #"[{"id":"a","notes":"n","total":1}]"#, yaml)
    }

    @Test("#18 a creation answered with its address is read there, and has its key at once")
    func location() async throws {
        let test = try await test()
        let key = try await test.create()
        test.upstream.answerLocations(times: 1)
        try await test.send()
        #expect(try test.store.pendingCount().pending == 0)
        #expect(test.upstream.pushes.count == 1)
        #expect(try test.record("server-1")?["notes"] == "new")
        #expect(try test.record(key)?["id"] == "server-1", "the old key leads to the record")
    }

    @Test("a creation answered with the address of a job, or of another record, does not become what is there")
    func anotherLocation() async throws {
        for (location, lookUp) in [
            ("/api/jobs/a", true), ("/api/jobs/a", false), ("/api/jobs/z", true), ("/orders/a", true),
        ] {
            let test = try await test(lookUp ? TestEngine.shopWithLookUp : TestEngine.shop)
            try test.upstream.set("/orders", #"[{"id":"a","notes":"n"},{"id":"z","notes":"theirs"}]"#)
            let key = try await test.create()
            test.upstream.answerLocations(location, times: 1)
            for _ in 1...2 { try await test.send(after: .seconds(1)) }
            #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
            #expect(try test.record("a")?["notes"] == "n" && test.record("z") == nil)
            #expect(try test.record(key)?["id"] == "server-1", "found by its values, or by its key in a repeat")
            #expect(test.upstream.records("/orders").count == 3)
        }
    }

    @Test("a creation answered with the address of its record is that one, though a pull was faster")
    func pulledLocation() async throws {
        let test = try await test()
        let key = try await test.create()
        test.upstream.answerLocations(times: 1)
        test.upstream.onPush { [store = test.store, now = test.clock.timestamp] in
            _ = try? await store.apply(
                PulledPage(entity: "orders", records: #"[{"id":"server-1","notes":"new","total":3}]"#), at: now)
        }
        try await test.send()
        #expect(try test.store.pendingCount().pending == 0)
        #expect(test.upstream.pushes.count == 1)
        #expect(try test.record(key)?["id"] == "server-1" && test.store.rowCounts()["orders"] == 2)
    }

    @Test("where single records are not served, it is the record of that address, unless that was known before")
    func unservedLocation() async throws {
        for (location, named) in [(nil, true), ("/orders/a", false)] as [(String?, Bool)] {
            let test = try await test(TestEngine.shopWithLookUp)
            let key = try await test.create()
            test.upstream.failRecords(.refused(status: 405, "GET /orders/server-1 answered 405"))
            test.upstream.answerLocations(location, times: 1)
            test.upstream.failList("/orders", .unclear(status: 502, "GET /orders answered 502"))
            try await test.send()
            #expect(try (test.store.pendingCount().pending == 0) == named)
            #expect(try (test.record(key)?["id"] == "server-1") == named)
            #expect(try test.record("a")?["notes"] == "n" && test.upstream.pushes.count == 1)
        }
    }

    @Test("nor is it that record while another creation is being sent, as the address may be of that one")
    func besidesAnother() async throws {
        let test = try await test(TestEngine.shopWithLookUp)
        let now = test.clock.timestamp
        _ = try await test.create()
        _ = try await test.create(#"{"notes":"other"}"#)
        let changes = try test.store.readyChanges(limit: 2, at: now)
        let (new, other) = (try #require(changes.first), try #require(changes.last))
        #expect(try await test.store.begin(other, at: now))
        test.upstream.failRecords(.refused(status: 405, "GET /orders/server-1 answered 405"))
        test.upstream.failList("/orders", .unclear(status: 502, "GET /orders answered 502"))
        test.upstream.answerLocations(times: 1)
        var pusher = test.pusher(at: now, callableSince: now)
        pusher.passage = PushPassage(underWay: { [other.id] })
        _ = try await pusher.send(new)
        #expect(try test.error() == "accepted" && test.record("server-1") == nil)
    }

    @Test("a lost creation that only hidden members would show is left to a person where single records are not served")
    func hiddenWithoutSingles() async throws {
        let test = try await test(TestEngine.shopWithLookUp)
        _ = try await test.create()
        test.upstream.failRecords(.refused(status: 405, "GET /orders/b answered 405"))
        test.upstream.fail(.unclear(status: 502, "POST /orders answered 502"))
        try await test.send()
        try test.upstream.set("/orders", #"[{"id":"a"},{"id":"b"}]"#)
        for _ in 1...3 { try await test.send(after: .seconds(90)) }
        #expect(try test.error() == "unclear" && test.store.pendingCount().failed == 1)
        #expect(test.upstream.pushes.count == 1)
    }
}
