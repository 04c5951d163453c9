import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore

@Suite("The deletion sweep after a full pull")
struct DeletionSweepTests {
    private func see(_ records: String, _ seen: inout SeenRecords, _ cache: TestCache) async throws {
        seen.insert(
            try await cache.store.apply(
                PulledPage(entity: "orders", records: records, knownUpTo: seen.knownUpTo), at: TestCache.now))
    }

    @Test("gaps are the runs of records not seen, up to the last one that existed")
    func gaps() {
        var seen = SeenRecords(knownUpTo: 200, position: 0)
        var outcome = PageOutcome()
        outcome.known = Array(3...150) + [152, 199, 201]
        outcome.knownUpTo = 200
        seen.insert(outcome)
        var gaps: [ClosedRange<Int64>] = []
        var start: Int64 = 0
        while let gap = seen.gap(from: start) {
            gaps.append(gap)
            start = gap.upperBound + 1
        }
        #expect(gaps == [1...2, 151...151, 153...198, 200...200])
        #expect(seen.contains(64) && !seen.contains(151) && !seen.contains(201))
    }

    @Test("the greatest number that there is takes no more room than another")
    func greatestNumber() {
        var seen = SeenRecords(knownUpTo: .max, position: 0)
        var outcome = PageOutcome()
        outcome.known = [1, 5000, .max - 1]
        outcome.knownUpTo = .max
        seen.insert(outcome)
        var gaps: [ClosedRange<Int64>] = []
        var start: Int64 = 1
        while let gap = seen.gap(from: start) {
            gaps.append(gap)
            start = gap.upperBound + 1
        }
        #expect(gaps == [2...4999, 5001...(Int64.max - 2)])
        #expect(seen.contains(.max - 1) && !seen.contains(.max))
    }

    @Test("an entity without records has no gaps")
    func empty() {
        #expect(SeenRecords(knownUpTo: 0, position: 0).gap(from: 1) == nil)
    }

    @Test("unseen records are deleted, with their cascades; seen records stay, by number or by text")
    func deletes() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":1},{"id":"b"},{"id":"c"}]"#)
        _ = try await cache.pull("messages", #"[{"id":"m","order_id":"c"},{"id":"n","order_id":"b"}]"#)
        var seen = try cache.store.startDeletionSweep(of: "orders")
        try await see(#"[{"id":1},{"id":"b","notes":"new"}]"#, &seen, cache)
        #expect(try cache.store.countUnseen(of: "orders", seen, at: TestCache.now) == 1)
        #expect(try await cache.store.deleteUnseen(of: "orders", seen, at: TestCache.now) == 1)
        #expect(try cache.store.rowCounts() == ["orders": 2, "messages": 1])
        #expect(try cache.record("messages", "m") == nil)
    }

    @Test("an unseen record that was just created stays, and shows that another full pull must decide")
    func unseenCreation() async throws {
        let cache = try TestCache()
        let record = JSONText.object(["id": "a"])
        _ = try await cache.store.create("orders", body: record, at: TestCache.now)
        try await cache.send(.acknowledged(record: record))
        let unseen = try cache.store.startDeletionSweep(of: "orders")
        var seen = unseen
        try await see(#"[{"id":"a"}]"#, &seen, cache)
        let settled = TestCache.now + .seconds(61)
        #expect(try cache.store.countUnseen(of: "orders", unseen, at: TestCache.now) == 0)
        #expect(try cache.store.hasUnseenCreation(of: "orders", unseen, at: TestCache.now))
        #expect(try !cache.store.hasUnseenCreation(of: "orders", seen, at: TestCache.now))
        #expect(try !cache.store.hasUnseenCreation(of: "orders", unseen, at: settled))
    }

    @Test("records that arrived during the pull stay")
    func newer() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"},{"id":"b"}]"#)
        var seen = try cache.store.startDeletionSweep(of: "orders")
        try await see(#"[{"id":"a"}]"#, &seen, cache)
        _ = try await cache.pull("orders", #"[{"id":"c"}]"#)
        #expect(try await cache.store.deleteUnseen(of: "orders", seen, at: TestCache.now) == 1)
        #expect(try Set(cache.keys(ListQuery(entity: "orders"))) == ["a", "c"])
    }

    @Test("a record that reuses the row of one deleted during the pull stays")
    func reusedPlace() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"},{"id":"b"}]"#)
        var seen = try cache.store.startDeletionSweep(of: "orders")
        _ = try await cache.pull("orders", #"[{"id":"b","deleted_at":"2026-01-01"}]"#)
        try await see(#"[{"id":"a"}]"#, &seen, cache)
        _ = try await cache.pull("orders", #"[{"id":"c"}]"#)
        #expect(try await cache.store.deleteUnseen(of: "orders", seen, at: TestCache.now) == 0)
        #expect(try cache.record("orders", "c") != nil)
    }

    @Test("a record whose change was acknowledged after the pull began stays")
    func acknowledged() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"}]"#)
        try await cache.store.update("orders", key: "a", body: JSONText(parsing: #"{"notes":"n"}"#), at: TestCache.now)
        let seen = try cache.store.startDeletionSweep(of: "orders")
        try await cache.send(answer: #"{"id":"a","notes":"n"}"#)
        #expect(try cache.store.countUnseen(of: "orders", seen, at: TestCache.now) == 0)
        #expect(try await cache.store.deleteUnseen(of: "orders", seen, at: TestCache.now) == 0)
        let later = try cache.store.startDeletionSweep(of: "orders")
        #expect(try cache.store.countUnseen(of: "orders", later, at: TestCache.now) == 1)
    }

    @Test("queued creations and deletions stay; a queued change of a record that is gone is a conflict")
    func queued() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"},{"id":"b"},{"id":"c"}]"#)
        try await cache.store.update("orders", key: "a", body: JSONText(parsing: #"{"notes":"n"}"#), at: TestCache.now)
        try await cache.store.delete("orders", key: "b", at: TestCache.now)
        _ = try await cache.store.create("orders", body: JSONText(parsing: #"{"id":"d"}"#), at: TestCache.now)
        let seen = try cache.store.startDeletionSweep(of: "orders")
        #expect(try cache.store.countUnseen(of: "orders", seen, at: TestCache.now) == 2)
        _ = try await cache.store.deleteUnseen(of: "orders", seen, at: TestCache.now)
        #expect(
            try cache.store.conflicts(before: nil, open: false, limit: 9).conflicts.map { $0["record_id"]?.string } == [
                "a"
            ])
        #expect(try cache.record("orders", "c") == nil)
        #expect(try cache.record("orders", "d") != nil)
        #expect(try cache.store.pendingCount().pending == 2)
    }

    @Test("the sweep also deletes more than one batch")
    func manyBatches() async throws {
        let cache = try TestCache()
        let records = (0..<1203).map { JSONText.object(["id": .string("k\($0)")]) }
        _ = try await cache.pull("orders", JSONText.array(records).text)
        var seen = try cache.store.startDeletionSweep(of: "orders")
        try await see(#"[{"id":"k0"},{"id":"k700"},{"id":"k1202"}]"#, &seen, cache)
        #expect(try await cache.store.deleteUnseen(of: "orders", seen, at: TestCache.now) == 1200)
        #expect(try Set(cache.keys(ListQuery(entity: "orders"))) == ["k0", "k700", "k1202"])
        #expect(try cache.store.rowCounts()["orders"] == 3)
    }

    @Test("with a second sweep only those go that both did not see; an edited record stays with its change")
    func twice() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"},{"id":"b"},{"id":"c"},{"id":"d"}]"#)
        try await cache.store.update("orders", key: "d", body: JSONText(parsing: #"{"notes":"n"}"#), at: TestCache.now)
        var first = try cache.store.startDeletionSweep(of: "orders")
        try await see(#"[{"id":"a"}]"#, &first, cache)
        #expect(try await cache.store.deleteUnseen(of: "orders", first, onlyMissing: true, at: TestCache.now) == 0)
        #expect(try cache.store.hasMissing(of: "orders"))
        var second = try cache.store.startDeletionSweep(of: "orders")
        try await see(#"[{"id":"b"}]"#, &second, cache)
        #expect(try await cache.store.deleteUnseen(of: "orders", second, onlyMissing: true, at: TestCache.now) == 1)
        #expect(try Set(cache.keys(ListQuery(entity: "orders"))) == ["a", "b", "d"])
        #expect(try cache.store.pendingCount().pending == 1)
        try await cache.store.forgetMissing(of: "orders", at: TestCache.now)
        #expect(try !cache.store.hasMissing(of: "orders"))
    }

    @Test("#4 a failed change is kept until a person decides, whatever the policy, when its record seems to be gone")
    func failed() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"},{"id":"b"}]"#)
        try await cache.store.update("orders", key: "a", body: JSONText(parsing: #"{"notes":"n"}"#), at: TestCache.now)
        try await cache.send(.failed(PushFailure(.refused, message: "no")))
        #expect(
            try await cache.store.delete(["a", "b"], of: "orders", position: .max, at: TestCache.now) == 1)
        #expect(try cache.record("orders", "a")?["notes"] == "n")
        #expect(try cache.store.pendingCount().failed == 1)
        let open = try cache.store.conflicts(before: nil, open: true, limit: 9).conflicts
        #expect(open.map { $0["record_id"]?.string } == ["a"])
    }

    @Test("a record that is missing in two places is missing once")
    func missingTwice() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"},{"id":"b"}]"#)
        let now = TestCache.now
        #expect(try await cache.store.noteMissing(["a", "b", "a"], of: "orders", upTo: now, at: now) == [])
        let later = now + .seconds(60)
        let again = try await cache.store.noteMissing(["a", "a"], of: "orders", upTo: later, at: later)
        #expect(again == ["a"])
    }

    @Test("a record that was missing while the clock was years ahead is missing from now on")
    func missingAhead() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"}]"#)
        let now = TestCache.now
        func again(after delay: Duration) async throws -> [String] {
            let time = now + delay
            return try await cache.store.noteMissing(["a"], of: "orders", upTo: time - .seconds(60), at: time)
        }
        #expect(try await again(after: .seconds(3650 * 86_400)) == [])
        #expect(try await again(after: .zero) == [])
        #expect(try await again(after: .seconds(60)) == ["a"])
    }

    @Test("a record is not missing while answers may be older than its acknowledged change")
    func missingAfterChange() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"},{"id":"b"}]"#)
        let now = TestCache.now
        #expect(try await cache.store.noteMissing(["a", "b"], of: "orders", upTo: now, at: now) == [])
        try await cache.store.update("orders", key: "a", body: JSONText(parsing: #"{"notes":"n"}"#), at: now)
        try await cache.send(answer: nil)
        func again(after delay: Duration) async throws -> [String] {
            try await cache.store.noteMissing(["a", "b"], of: "orders", upTo: now + delay, at: now + delay)
        }
        #expect(try await again(after: .seconds(2)) == ["b"])
        #expect(try await again(after: .seconds(61)) == ["b"], "the first time that counts")
        #expect(try await again(after: .seconds(62)) == ["a", "b"])
    }

    @Test("a record whose creation was acknowledged a moment ago is not missing yet")
    func justCreated() async throws {
        let cache = try TestCache()
        _ = try await cache.store.create("orders", body: JSONText(parsing: #"{"id":"a"}"#), at: TestCache.now)
        try await cache.send(answer: #"{"id":"a"}"#)
        let seen = try cache.store.startDeletionSweep(of: "orders")
        #expect(try cache.store.countUnseen(of: "orders", seen, at: TestCache.now) == 0)
        #expect(try cache.store.isNew("orders", key: "a", at: TestCache.now))
        let later = TestCache.now + .seconds(61)
        #expect(try cache.store.countUnseen(of: "orders", seen, at: later) == 1)
        #expect(try !cache.store.isNew("orders", key: "a", at: later))
    }

    @Test("a record whose deletion failed is asked for like any other, and goes with its change when it is gone")
    func failedDeletion() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"},{"id":"b"}]"#)
        try await cache.store.delete("orders", key: "a", at: TestCache.now)
        try await cache.send(.failed(PushFailure(.unclear, message: "no answer")))
        let seen = try cache.store.startDeletionSweep(of: "orders")
        #expect(
            try cache.store.unseen(of: "orders", seen, limit: 9, at: TestCache.now).map(\.key) == ["a", "b"])
        _ = try await cache.store.delete(["a"], of: "orders", position: .max, at: TestCache.now)
        #expect(try cache.store.pendingCount().failed == 0)
        #expect(try cache.store.remote(of: "orders", key: "a") == nil)
    }
}
