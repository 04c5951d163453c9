import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("The queue for a standby")
struct StandbyQueueTests {
    private static let now = RescueFixture.now

    private func send(_ store: CacheStore, _ outcome: PushOutcome) async throws {
        let change = try #require(try store.readyChanges(limit: 1, at: Self.now).first)
        #expect(try await store.begin(change, at: Self.now))
        try await store.finish(change.id, outcome, at: Self.now)
    }

    // MARK: News

    @Test("without a place in the log, everything that is queued comes, with its idempotency keys")
    func whole() async throws {
        let fixture = try await RescueFixture()
        let news = try fixture.cache.store.standbyNews(since: nil)
        #expect(news.isWhole && news.gone.isEmpty)
        #expect(news.entries.map(\.key) == (try fixture.queue().map(\.key)))
    }

    @Test("afterwards only what is new, edited or gone comes")
    func steps() async throws {
        let fixture = try await RescueFixture()
        let store = fixture.cache.store
        let first = try store.standbyNews(since: nil)
        #expect(try store.standbyNews(since: first.position).entries.isEmpty)
        try await store.update("orders", key: "b", body: .object(["notes": "x"]), at: Self.now)
        let second = try store.standbyNews(since: first.position)
        #expect(!second.isWhole && second.entries.map(\.id) == [4] && second.gone.isEmpty)
        try await store.update("orders", key: "b", body: .object(["status": "ready"]), at: Self.now)
        let third = try store.standbyNews(since: second.position)
        #expect(third.entries.map(\.id) == [4])
        #expect(third.entries.map(\.key) == second.entries.map(\.key) && third.entries != second.entries)
        try await fixture.sendFirst()
        let fourth = try store.standbyNews(since: third.position)
        #expect(fourth.gone == [1] && fourth.entries.isEmpty)
    }

    @Test("a pull is no news")
    func pull() async throws {
        let fixture = try await RescueFixture()
        let position = try fixture.cache.store.standbyNews(since: nil).position
        _ = try await fixture.cache.pull("orders", #"[{"id":"c","status":"open"}]"#)
        let news = try fixture.cache.store.standbyNews(since: position)
        #expect(!news.isWhole && news.entries.isEmpty && news.gone.isEmpty && news.position > position)
    }

    @Test("an attempt is noted once, before it is made; failures that are retried are not")
    func attempts() async throws {
        let fixture = try await RescueFixture()
        let store = fixture.cache.store
        func text() throws -> String? { try store.standbyNews(since: nil).entries.first?.text }
        let untried = try text()
        let change = try #require(try store.readyChanges(limit: 1, at: Self.now).first)
        #expect(try await store.begin(change, at: Self.now))
        let begun = try text()
        #expect(begun != untried && begun?.contains(#""tried":1"#) == true)
        let failure = PushFailure(.timeout, message: "no answer")
        try await store.finish(change.id, .waiting(failure, at: Self.now, counted: true), at: Self.now)
        #expect(try text() == begun)
        try await send(store, .waiting(failure, at: Self.now, counted: true))
        #expect(try text() == begun)
    }

    @Test("once a record has the upstream's key, everything comes again, with that key")
    func renamed() async throws {
        let fixture = try await RescueFixture()
        let store = fixture.cache.store
        try await fixture.sendFirst()
        let position = try store.standbyNews(since: nil).position
        let answer = try JSONText(parsing: #"{"id":"o9","notes":"new"}"#)
        try await send(store, .acknowledged(record: answer))
        let news = try store.standbyNews(since: position)
        #expect(news.isWhole && news.entries.count == 1)
        #expect(news.entries.first?.text.contains("o9") == true)
    }

    // MARK: Taking over

    @Test("who takes over has the changes under their keys, shows them, and knows which may have been sent")
    func takeOver() async throws {
        let fixture = try await RescueFixture()
        _ = try await fixture.cache.begun()
        let texts = try fixture.cache.store.standbyNews(since: nil).entries.map(\.text)
        let other = try TestCache()
        _ = try await other.pull("orders", #"[{"id":"a","status":"open","total":1},{"id":"b","status":"open"}]"#)
        try await other.store.takeOver(texts.reversed(), keepsAll: false, at: RescueFixture.later)
        let queue = try RescueFixture.queue(other.store)
        #expect(queue.map(\.key) == (try fixture.queue().map(\.key)))
        #expect(queue.map(\.tried) == [true, false, false])
        #expect(try other.record("orders", "a")?["status"] == "ready")
        #expect(try other.store.rowCounts()["messages"] == 1)
        #expect(try other.store.readyChanges(limit: 9, at: RescueFixture.later).map(\.entity) == ["orders", "orders"])
    }

    @Test("a change that the former holder has edited since replaces the one that was taken over before")
    func edited() async throws {
        let fixture = try await RescueFixture()
        let store = fixture.cache.store
        let other = try TestCache()
        try await other.store.takeOver(
            try store.standbyNews(since: nil).entries.map(\.text), keepsAll: false, at: Self.now)
        try await store.update("orders", key: "a", body: .object(["notes": "later"]), at: Self.now)
        try await fixture.cache.store.discard(2, cascade: true, at: Self.now)
        try await other.store.takeOver(
            try store.standbyNews(since: nil).entries.map(\.text), keepsAll: false, at: Self.now)
        #expect(try RescueFixture.queue(other.store).map(\.key) == (try fixture.queue().map(\.key)))
        #expect(try other.record("orders", "a")?["notes"] == "later")
    }

    @Test(
        "an edit of a version that the other daemon has not read yet is no conflict there, also after it has",
        arguments: ["server_wins", "manual", "last_write_wins"], ["2026-11-21T09:00:00Z", "2026-11-21T10:00:00Z", nil])
    func olderVersion(policy: String, time: String?) async throws {
        let newer = #"{"id":"a","notes":"new","total":2,"updated_at":"2026-11-21T10:00:00Z"}"#
        let (holder, other) = try await Self.pair(
            newer, #"{"id":"a","notes":"old","total":1,"updated_at":\#(time.map { "\"\($0)\"" } ?? "null")}"#, policy)
        try await Self.takeOver(from: holder, by: other)
        #expect(try other.record("orders", "a")?["total"] == 1)
        for _ in 1...2 {
            #expect(try RescueFixture.queue(other.store).map(\.key) == RescueFixture.queue(holder.store).map(\.key))
            #expect(try Self.conflicts(of: other).isEmpty)
            #expect(try other.record("orders", "a")?["notes"] == "edited")
            _ = try await other.pull("orders", "[\(newer)]")
        }
        #expect(try other.record("orders", "a")?["total"] == 2)
    }

    @Test("a version that only the daemon taking over has read is a conflict with an edit of an older one")
    func newerVersion() async throws {
        let (holder, other) = try await Self.pair(
            #"{"id":"a","notes":"old","updated_at":"2026-11-21T09:00:00Z"}"#,
            #"{"id":"a","notes":"new","updated_at":"2026-11-21T10:00:00Z"}"#, "server_wins")
        try await Self.takeOver(from: holder, by: other)
        #expect(try RescueFixture.queue(other.store).isEmpty)
        #expect(try other.record("orders", "a")?["notes"] == "new")
    }

    @Test("the daemon that takes over knows what was sent before a correction, and takes it for no edit by others")
    func corrected() async throws {
        let old = #"{"id":"a","notes":"old","updated_at":"2026-11-21T09:00:00Z"}"#
        let set = #"{"id":"a","notes":"edited","updated_at":"2026-11-21T10:50:00Z"}"#
        let (holder, other) = try await Self.pair(old, set, "server_wins")
        try await send(holder.store, .waiting(PushFailure(.timeout, message: "no answer"), at: Self.now, counted: true))
        try await holder.store.correct(1, setting: .object(["notes": "corrected"]), at: Self.now)
        try await Self.takeOver(from: holder, by: other)
        #expect(try Self.conflicts(of: other).isEmpty)
        #expect(try other.record("orders", "a")?["notes"] == "corrected")
    }

    @Test("the daemon that takes over knows when a change was first sent")
    func firstAttempt() async throws {
        let fixture = try await RescueFixture()
        _ = try await fixture.cache.begun()
        let other = try TestCache()
        try await Self.takeOver(from: fixture.cache, by: other)
        let change = try #require(try other.store.readyChanges(limit: 1, at: RescueFixture.later).first)
        #expect(change.firstAttemptAt == Self.now)
    }

    @Test(
        "an old creation is repeated by the daemon that takes over if it was first sent less than a day ago",
        arguments: [(2, "queued"), (25, "failed")])
    func oldCreation(hoursAgo: Int, state: String) async throws {
        let yaml = TestCache.shop.replacing(
            "  pagination:", with: "  idempotency_header: Idempotency-Key\n  pagination:")
        let (holder, other) = (try TestCache(schema: yaml), try TestCache(schema: yaml))
        _ = try await holder.make("orders", #"{"notes":"new"}"#)
        _ = try await holder.begun(at: Self.now + .seconds(3600 * (30 - hoursAgo)))
        let texts = try holder.store.standbyNews(since: nil).entries.map(\.text)
        try await other.store.takeOver(texts, keepsAll: false, at: Self.now + .seconds(3600 * 30))
        let change = try #require(try other.store.pending(PendingQuery(limit: 1)).changes.first)
        #expect(change["state"]?.string == state)
    }

    @Test(
        "without a change time, a version is newer than the edit if the daemon that takes over has pulled it since",
        arguments: [(-60, 0), (30, 1)])
    func untimed(pulledAfter seconds: Int, conflicts: Int) async throws {
        let (holder, other) = try await Self.pair(#"{"id":"a","notes":"old"}"#, #"{"id":"a","notes":"new"}"#, "manual")
        var cursor = try other.store.cursor(of: "orders")
        cursor.lastSyncedAt = Self.now + .seconds(seconds)
        try await other.store.setCursor(of: "orders", to: cursor)
        try await Self.takeOver(from: holder, by: other)
        #expect(try Self.conflicts(of: other).count == conflicts)
    }

    @Test("a long change still fits into etcd after a pull has brought other long values of its fields")
    func longValues() async throws {
        func order(_ letter: String, _ hour: Int) -> String {
            let notes = String(repeating: letter, count: 450_000)
            return #"{"id":"a","notes":"\#(notes)","updated_at":"2026-11-21T\#(hour):00:00Z"}"#
        }
        let holder = try await TestCache.with(orders: "[\(order("x", 10))]", conflict: "manual")
        let edit = JSONText.object(["notes": .string(String(repeating: "y", count: 450_000))])
        try await holder.store.update("orders", key: "a", body: edit, at: Self.now)
        _ = try await holder.pull("orders", "[\(order("z", 11))]")
        #expect(try Self.conflicts(of: holder).count == 1)
        let entries = try holder.store.standbyNews(since: nil).entries
        #expect(entries.count == 1 && entries.allSatisfy { $0.text.utf8.count < 1_300_000 })
        let other = try await TestCache.with(orders: "[\(order("x", 10))]", conflict: "manual")
        try await Self.takeOver(from: holder, by: other)
        #expect(try RescueFixture.queue(other.store).count == 1)
    }

    @Test("a conflict that waits for a person with one daemon waits with the one that takes over, too")
    func openConflict() async throws {
        let old = #"{"id":"a","notes":"old","updated_at":"2026-11-21T09:00:00Z"}"#
        let (holder, other) = try await Self.pair(old, old, "manual")
        _ = try await holder.pull("orders", #"[{"id":"a","notes":"new","updated_at":"2026-11-21T10:00:00Z"}]"#)
        #expect(try Self.conflicts(of: holder).map { $0["server"] } == ["new"])
        try await Self.takeOver(from: holder, by: other)
        #expect(try Self.conflicts(of: other).map { $0["server"] } == ["new"])
    }

    /// Two daemons with these versions of an order, of which the first one has a queued edit.
    private static func pair(
        _ one: String, _ other: String, _ policy: String
    ) async throws -> (holder: TestCache, other: TestCache) {
        let holder = try await TestCache.with(orders: "[\(one)]", conflict: policy)
        try await holder.store.update("orders", key: "a", body: .object(["notes": "edited"]), at: now)
        return (holder, try await TestCache.with(orders: "[\(other)]", conflict: policy))
    }

    private static func conflicts(of cache: TestCache) throws -> [JSONText] {
        try cache.store.conflicts(before: nil, open: false, limit: 9).conflicts
    }

    private static func takeOver(from holder: TestCache, by other: TestCache) async throws {
        let texts = try holder.store.standbyNews(since: nil).entries.map(\.text)
        try await other.store.takeOver(texts, keepsAll: false, at: RescueFixture.later)
    }

    @Test("what a daemon whose clock is ahead has queued comes before what is queued later, also for the next daemon")
    func clockAhead() async throws {
        let (first, second, third) = (try TestCache(), try TestCache(), try TestCache())
        let ahead = Self.now + .seconds(300)
        let order = try await first.store.create("orders", body: .object(["notes": "new"]), at: ahead)
        let change = try #require(try first.store.readyChanges(limit: 1, at: ahead).first)
        #expect(try await first.store.begin(change, at: ahead))
        try await Self.takeOver(from: first, by: second)
        try await second.store.update("orders", key: order, body: .object(["notes": "later"]), at: RescueFixture.later)
        // The third one's first numbers are taken, so that the changes get others.
        _ = try await third.store.create("orders", body: .object(["notes": "dropped"]), at: Self.now)
        try await Self.share(third.store)
        try await Self.takeOver(from: second, by: third)
        let queue = try third.store.snapshot(QueueSnapshot.init).changes
        #expect(queue.map(\.operation) == ["create", "update"])
        #expect(try third.record("orders", order)?["notes"] == "later")
    }

    @Test("changes that only this daemon has go, and their records show the server's values again")
    func own() async throws {
        let fixture = try await RescueFixture()
        try await Self.share(fixture.cache.store)
        try await fixture.cache.store.takeOver([], keepsAll: false, at: RescueFixture.later)
        #expect(try fixture.queue().isEmpty)
        #expect(try fixture.cache.record("orders", "a")?["status"] == "open")
        #expect(try fixture.cache.store.rowCounts()["orders"] == 2)
    }

    private static func share(_ store: CacheStore) async throws {
        try await store.beginSharing()
        try await store.noteShared()
    }

    @Test("those from before the queue was stored in etcd stay, until it is; also when a takeover has to be repeated")
    func kept() async throws {
        let fixture = try await RescueFixture()
        let (store, keys) = (fixture.cache.store, try fixture.queue().map(\.key))
        try await store.beginSharing()
        try await store.update("orders", key: "b", body: .object(["notes": "not acknowledged"]), at: Self.now)
        for _ in 1...3 {
            try await store.takeOver([], keepsAll: false, at: RescueFixture.later)
            #expect(try fixture.queue().map(\.key) == keys)
        }
        #expect(try fixture.cache.record("orders", "a")?["status"] == "ready")
        try await store.noteShared()
        try await store.takeOver([], keepsAll: false, at: RescueFixture.later)
        #expect(try fixture.queue().isEmpty)
    }

    @Test("those from a time when the daemon stood alone stay, and only those")
    func alone() async throws {
        let fixture = try await RescueFixture()
        let store = fixture.cache.store
        try await Self.share(store)
        for _ in 1...2 { try await store.endSharing() }
        try await store.update("orders", key: "b", body: .object(["notes": "x"]), at: Self.now)
        try await store.endSharing()
        try await store.beginSharing()
        try await store.takeOver([], keepsAll: false, at: RescueFixture.later)
        #expect(try fixture.cache.record("orders", "b")?["notes"] == "x")
        #expect(try fixture.cache.record("orders", "a")?["status"] == "open")
        #expect(try fixture.queue().count == 1)
    }

    @Test("those that were imported stay")
    func imported() async throws {
        let fixture = try await RescueFixture()
        let other = try TestCache()
        _ = try await other.pull("orders", #"[{"id":"a","status":"open","total":1},{"id":"b","status":"open"}]"#)
        try await other.store.update("orders", key: "b", body: .object(["notes": "x"]), at: Self.now)
        try await Self.share(other.store)
        let queue = try ExportedQueue(ofDatabaseAt: fixture.path)
        #expect(try await other.store.take(queue, at: Self.now).added == 3)
        try await other.store.takeOver([], keepsAll: false, at: RescueFixture.later)
        #expect(try RescueFixture.queue(other.store).map(\.key) == (try fixture.queue().map(\.key)))
    }

    @Test("one that is here and there counts once, as it is there")
    func both() async throws {
        let fixture = try await RescueFixture()
        let texts = try fixture.cache.store.standbyNews(since: nil).entries.map(\.text)
        try await fixture.cache.store.takeOver(texts, keepsAll: true, at: RescueFixture.later)
        #expect(try fixture.queue().count == 3)
    }

    @Test("a file that was put back to an older state takes back what it lacks, and nothing that it has settled")
    func takeBack() async throws {
        let fixture = try await RescueFixture()
        let folder = try TemporaryFolder()
        try DatabaseCopy.make(of: fixture.path, at: folder.path("cache.db"))
        let older = try TestCache(in: folder)
        try await fixture.cache.store.update("orders", key: "b", body: .object(["notes": "x"]), at: Self.now)
        let texts = try fixture.cache.store.standbyNews(since: nil).entries.map(\.text)
        try await send(older.store, .acknowledged(record: nil))
        #expect(try await older.store.takeBack(texts, at: RescueFixture.later) == 1)
        #expect(try RescueFixture.queue(older.store).map(\.key) == (try fixture.queue().dropFirst().map(\.key)))
        #expect(try older.record("orders", "b")?["notes"] == "x")
        #expect(try await older.store.takeBack(texts, at: RescueFixture.later) == 0)
    }

    @Test("a text that is no change is refused, and nothing is changed", arguments: ["", "{}", #"{"id":1}"#])
    func wrong(text: String) async throws {
        let fixture = try await RescueFixture()
        let good = try fixture.cache.store.standbyNews(since: nil).entries.map(\.text)
        let before = try fixture.queue().map(\.id)
        await #expect(throws: CacheError.self) {
            try await fixture.cache.store.takeOver(good + [text], keepsAll: false, at: RescueFixture.later)
        }
        #expect(try fixture.queue().map(\.id) == before)
    }
}
