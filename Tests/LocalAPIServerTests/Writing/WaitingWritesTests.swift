import EntitySchema
import JSONText
import SQLiteStore
import SocketServer
import TestSupport
import Testing

@testable import CacheStore
@testable import LocalAPIServer

@Suite("Writes that wait for the upstream")
struct WaitingWritesTests {
    /// Makes and settles the next attempt once a caller waits for it.
    private static func finish(_ api: TestAPI, waiters: Int = 1, _ outcome: PushOutcome) async throws {
        while api.store.signal.waiterCount < waiters { await Task.yield() }
        let change = try #require(api.store.readyChanges(limit: 1, at: TestAPI.now).first)
        #expect(try await api.store.begin(change, at: TestAPI.now))
        try await api.store.finish(change.id, outcome, at: TestAPI.now)
    }

    private static let refusal = PushFailure(.refused, status: 422, message: "no")

    @Test("an edit is answered with the confirmed record")
    func confirmed() async throws {
        let api = try await TestAPI.filled()
        async let answer = api.call("PATCH", "/v1/orders/a?wait=pushed&timeout=60", body: #"{"status":"open"}"#)
        try await Self.finish(
            api, .acknowledged(record: JSONText(parsing: #"{"id":"a","status":"open","total":1.00}"#)))
        #expect(await answer.status == 200)
        #expect(await answer.json["total"]?.text == "1.00")
        #expect(await answer.json["_sync"]?["state"] == "synced")
    }

    @Test("a creation is answered with the upstream's key, and a deletion with 204")
    func createdAndDeleted() async throws {
        let api = try TestAPI(deletes: true)
        async let created = api.call("POST", "/v1/orders?wait=pushed", body: #"{"status":"open"}"#)
        try await Self.finish(api, .acknowledged(record: JSONText(parsing: #"{"id":"srv","status":"open"}"#)))
        #expect(await created.status == 201)
        #expect(await created.json["id"] == "srv")
        #expect(await created.header("Location") == "/v1/orders/srv")
        async let deleted = api.call("DELETE", "/v1/orders/srv?wait=pushed")
        try await Self.finish(api, .acknowledged(record: nil))
        #expect(await deleted.status == 204)
    }

    @Test("after the timeout the answer is 202 with the position in the queue", arguments: ["PATCH", "POST", "DELETE"])
    func timeUp(_ method: String) async throws {
        let fast = try TestAPI(clock: FastClock(), deletes: true)
        let records = #"[{"id":"a","status":"ready"},{"id":"b"}]"#
        _ = try await fast.store.apply(PulledPage(entity: "orders", records: records), at: TestAPI.now)
        _ = await fast.call("PATCH", "/v1/orders/b", body: #"{"status":"open"}"#)
        let target = method == "POST" ? "/v1/orders" : "/v1/orders/a"
        let body = method == "DELETE" ? "" : #"{"status":"open"}"#
        let answer = await fast.call(method, "\(target)?wait=pushed&timeout=60", body: body)
        #expect(answer.status == 202)
        let push = try #require(answer.json["_sync"]?["push"])
        #expect(push["state"] == "pending" && push["position"]?.integer == 2)
        let change = try #require(try fast.store.pending(PendingQuery(limit: 9)).changes.last?["id"]?.integer)
        #expect(push["changes"]?.elements.map(\.integer) == [change])
        #expect((answer.header("Location") != nil) == (method == "POST"))
    }

    @Test("a failed change is reported at once, and so is one behind it")
    func failed() async throws {
        let api = try await TestAPI.filled()
        async let answer = api.call("PATCH", "/v1/orders/a?wait=pushed&timeout=60", body: #"{"status":"open"}"#)
        try await Self.finish(api, .failed(Self.refusal))
        #expect(await answer.status == 202)
        #expect(await answer.json["_sync"]?["push"]?["state"] == "failed")
        #expect(await answer.json["_sync"]?["error"]?["message"] == "no")
        let behind = await api.call("PATCH", "/v1/orders/a?wait=pushed&timeout=60", body: #"{"total":5.00}"#)
        #expect(behind.status == 202)
        #expect(behind.json["_sync"]?["push"]?["state"] == "blocked")
    }

    @Test("a write that corrects a refused change reports that change")
    func corrected() async throws {
        let api = try await TestAPI.filled()
        _ = await api.call("PATCH", "/v1/orders/a", body: #"{"total":1.00}"#)
        let refused = try #require(api.store.readyChanges(limit: 1, at: TestAPI.now).first)
        #expect(try await api.store.begin(refused, at: TestAPI.now))
        async let answer = api.call("PATCH", "/v1/orders/a?wait=pushed&timeout=60", body: #"{"total":2.00}"#)
        while api.store.signal.waiterCount < 1 { await Task.yield() }
        try await api.store.finish(refused.id, .failed(Self.refusal), at: TestAPI.now)
        try await Self.finish(api, .failed(Self.refusal))
        let push = await answer.json["_sync"]?["push"]
        #expect(push?["state"] == "failed")
        #expect(push?["changes"]?.elements.map(\.integer) == [Int(refused.id)])
    }

    @Test("a change that loses to the server's version is reported as a conflict")
    func lost() async throws {
        let api = try await TestAPI.filled(conflict: "server_wins")
        async let answer = api.call("PATCH", "/v1/orders/a?wait=pushed&timeout=60", body: #"{"status":"open"}"#)
        while api.store.signal.waiterCount < 1 { await Task.yield() }
        _ = try await api.store.apply(
            PulledPage(entity: "orders", records: #"[{"id":"a","status":"lost"}]"#), at: TestAPI.now)
        #expect(await answer.status == 202)
        #expect(await answer.json["_sync"]?["push"]?["state"] == "conflict")
        #expect(await answer.json["status"] == "lost")
    }

    @Test("a discarded change is reported as discarded")
    func discarded() async throws {
        let api = try await TestAPI.filled()
        async let answer = api.call("PATCH", "/v1/orders/a?wait=pushed&timeout=60", body: #"{"status":"open"}"#)
        while api.store.signal.waiterCount < 1 { await Task.yield() }
        let change = try #require(api.store.readyChanges(limit: 1, at: TestAPI.now).first)
        try await api.store.discard(change.id, cascade: false, at: TestAPI.now)
        #expect(await answer.status == 202)
        #expect(await answer.json["_sync"]?["push"]?["state"] == "discarded")
    }

    @Test("two edits sent as one request are both confirmed by it")
    func folded() async throws {
        let api = try await TestAPI.filled()
        async let one = api.call("PATCH", "/v1/orders/a?wait=pushed&timeout=60", body: #"{"status":"open"}"#)
        while api.store.signal.waiterCount < 1 { await Task.yield() }
        async let other = api.call("PATCH", "/v1/orders/a?wait=pushed&timeout=60", body: #"{"total":7.00}"#)
        while try api.store.pending(PendingQuery(limit: 9)).changes.first?["fields"]?.elements.count != 2 {
            await Task.yield()
        }
        #expect(try api.store.pendingCount().pending == 1)
        try await Self.finish(
            api, waiters: 2, .acknowledged(record: JSONText(parsing: #"{"id":"a","status":"open","total":7.00}"#)))
        #expect(await one.status == 200)
        #expect(await other.status == 200)
        #expect(await other.json["_sync"]?["state"] == "synced")
    }

    @Test("a write that changes nothing waits for the earlier change of the same fields")
    func nothingNew() async throws {
        let api = try await TestAPI.filled()
        _ = await api.call("PATCH", "/v1/orders/a", body: #"{"status":"open"}"#)
        async let same = api.call("PATCH", "/v1/orders/a?wait=pushed&timeout=60", body: #"{"status":"open"}"#)
        try await Self.finish(api, .acknowledged(record: nil))
        #expect(await same.status == 200)
        let again = await api.call("PATCH", "/v1/orders/a?wait=pushed&timeout=60", body: #"{"status":"open"}"#)
        #expect(again.status == 200)
    }

    @Test("a repeat waits for the change of the first request and reports its outcome", arguments: ["PATCH", "POST"])
    func repeated(_ method: String) async throws {
        let api = try TestAPI(clock: FastClock())
        let key: [String: String?] = ["Idempotency-Key": "k1"]
        _ = try await api.store.apply(
            PulledPage(entity: "orders", records: #"[{"id":"a","status":"ready"}]"#), at: TestAPI.now)
        let target = (method == "POST" ? "/v1/orders" : "/v1/orders/a") + "?wait=pushed&timeout=60"
        let body = #"{"status":"open"}"#
        let first = await api.call(method, target, body: body, headers: key)
        #expect(first.status == 202)
        let change = try #require(api.store.readyChanges(limit: 1, at: TestAPI.now).first)
        let second = await api.call(method, target, body: body, headers: key)
        #expect(second.status == 202)
        #expect(second.json["_sync"]?["push"]?["changes"]?.elements.map(\.integer) == [Int(change.id)])
        #expect(try await api.store.begin(change, at: TestAPI.now))
        try await api.store.finish(
            change.id, .acknowledged(record: JSONText(parsing: #"{"id":"srv","status":"open"}"#)), at: TestAPI.now)
        let last = await api.call(method, target, body: body, headers: key)
        #expect(last.status == (method == "POST" ? 201 : 200))
        #expect(last.json["_sync"]?["state"] == "synced")
        #expect(last.header("Location") == (method == "POST" ? "/v1/orders/srv" : nil))
        #expect(last.header("ETag") != nil)
        #expect(try api.store.pendingCount().pending == 0)
    }

    @Test("a repeat reports when the outcome of the first request's change is no longer known")
    func repeatedTooLate() async throws {
        let api = try await TestAPI.filled()
        let key: [String: String?] = ["Idempotency-Key": "k1"]
        let target = "/v1/orders/a?wait=pushed&timeout=60"
        async let first = api.call("PATCH", target, body: #"{"status":"open"}"#, headers: key)
        try await Self.finish(api, .acknowledged(record: nil))
        #expect(await first.status == 200)
        // The log's last entry is never pruned, so make another one the last.
        _ = await api.call("PATCH", "/v1/orders/b", body: #"{"total":1.00}"#)
        let later = TestAPI.now + .seconds(60)
        let limits = LogLimits(age: .seconds(30), count: 100)
        while try await api.store.pruneLog(to: limits, at: later) > 0 {}
        #expect(await api.call("PATCH", target, body: #"{"status":"open"}"#, headers: key).status == 410)
    }

    @Test("an edit is confirmed although an older one of the same field was discarded")
    func olderDiscarded() async throws {
        let api = try await TestAPI.filled()
        _ = await api.call("PATCH", "/v1/orders/a", body: #"{"total":1.00}"#)
        let older = try #require(api.store.readyChanges(limit: 1, at: TestAPI.now).first)
        #expect(try await api.store.begin(older, at: TestAPI.now))
        try await api.store.finish(
            older.id, .waiting(Self.refusal, at: TestAPI.now + .seconds(60), counted: true), at: TestAPI.now)
        async let answer = api.call("PATCH", "/v1/orders/a?wait=pushed&timeout=60", body: #"{"total":2.00}"#)
        while api.store.signal.waiterCount < 1 { await Task.yield() }
        try await api.store.discard(older.id, cascade: false, at: TestAPI.now)
        try await Self.finish(api, .acknowledged(record: nil))
        #expect(await answer.status == 200)
        #expect(await answer.json["total"]?.text == "2.00")
    }

    @Test(
        "an invalid wait is refused before anything is written",
        arguments: [
            "wait=sent", "wait=pushed&timeout=0", "wait=pushed&timeout=61", "timeout=5",
        ])
    func refused(_ query: String) async throws {
        let api = try await TestAPI.filled()
        #expect(await api.call("PATCH", "/v1/orders/a?\(query)", body: #"{"status":"open"}"#).status == 400)
        #expect(try api.store.pendingCount().pending == 0)
    }

    @Test(
        "a caller lets commits pass while it takes long to find out what became of the write", .timeLimit(.minutes(10)))
    func pauses() async throws {
        let clock = SkippingClock()
        clock.stop()
        let asked = Counter()
        let schema = try EntitySchema(yaml: TestAPI.shop, file: "shop.yaml")
        let api = try TestAPI(
            store: CacheStore.temporary(schema), clock: clock, uptime: { .milliseconds(20) * asked.next() })
        let call = Task { await api.call("POST", "/v1/orders?wait=pushed&timeout=60", body: #"{"status":"open"}"#) }
        // One of the sleeps is the timeout.
        while clock.sleeps.count < 2 { await Task.yield() }
        #expect(Set(clock.sleeps) == [.seconds(60), .milliseconds(40)])
        #expect(api.store.signal.waiterCount == 0)
        call.cancel()
        _ = await call.value
    }

    @Test("the history of a record lists its events")
    func history() async throws {
        let api = try await TestAPI.filled()
        _ = await api.call("PATCH", "/v1/orders/a", body: #"{"status":"open"}"#)
        let answer = await api.call("GET", "/v1/orders/a/history")
        #expect(answer.status == 200)
        #expect(answer.json["data"]?.elements.map { $0["kind"]?.string } == ["upserted", "queued"])
        #expect(await api.call("GET", "/v1/orders/missing/history").status == 404)
        #expect(await api.call("POST", "/v1/orders/a/history", body: "{}").header("Allow") == "GET, HEAD, OPTIONS")
    }
}
