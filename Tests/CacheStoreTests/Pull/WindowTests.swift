import EntitySchema
import GRDB
import JSONText
import TestSupport
import Testing

@testable import CacheStore

@Suite("Records that a window includes")
struct WindowTests {
    private static let yaml = """
        schema: shop
        upstream:
          base_url: http://localhost
          pagination: { style: page }
          settle: 60s
        entities:
          clients:
            fields:
              id: { type: string }
              name: { type: string }
              is_active: { type: boolean }
            pull: { path: /clients, where: { is_active: true } }
            push:
              update: { call: "PATCH /clients/{id}" }
          orders:
            fields:
              id: { type: string }
              status: { type: enum, values: { open: Open, ready: Ready, done: Done } }
              client_id: { type: reference, to: clients }
              updated_at: { type: time }
            many:
              lines: { of: lines, by: order_id, on_delete: cascade }
            pull:
              path: /orders
              where: { status: [open, ready], updated_at.gte: "{$now-90d}" }
              detail: { path: "/orders/{id}/lines", into: lines, when_changed: updated_at }
            push:
              create: { call: POST /orders }
              update: { call: "PATCH /orders/{id}" }
              delete: { call: "DELETE /orders/{id}" }
          lines:
            fields:
              id: { type: string }
              order_id: { type: reference, to: orders, required: true }
              text: { type: string }
            push:
              update: { call: "PATCH /lines/{id}" }
          remarks:
            local: true
            fields:
              id: { type: string }
              order_id: { type: reference, to: orders }
        """

    func cache() throws -> TestCache { try TestCache(schema: Self.yaml) }

    private static let old = "2026-08-23T10:41:00.000Z"
    private static let recent = "2026-11-20T00:00:00.000Z"

    func order(_ id: String, _ status: String = "open", at time: String = recent, client: String? = nil)
        -> String
    {
        JSONText.object([
            "id": .string(id), "status": .string(status), "client_id": .string(client), "updated_at": .string(time),
        ]).text
    }

    @discardableResult
    func leave(_ cache: TestCache, at time: Timestamp = TestCache.now) async throws -> [String: Int] {
        try await cache.store.leaveWindows(at: time, serverNow: time)
    }

    private func keys(_ cache: TestCache, _ entity: String = "orders") throws -> [String] {
        try cache.store.pool.read { db in
            try String.fetchAll(db, sql: "SELECT _key FROM records_\(entity) ORDER BY _key")
        }
    }

    private func events(_ cache: TestCache) throws -> [String] {
        try cache.store.changes(since: 0, limit: 100).events.map {
            [$0.kind, $0.document["entity"]?.plain ?? "", $0.document["id"]?.plain ?? "", $0.document["reason"]?.plain]
                .compactMap(\.self).joined(separator: " ")
        }
    }

    // MARK: Pages

    @Test("a page's records outside of the window are left out, and those inside kept")
    func page() async throws {
        let cache = try cache()
        let page = "[\(order("a")),\(order("b", "done")),\(order("c", at: Self.old)),\(order("d", "ready"))]"
        let outcome = try await cache.pull("orders", page)
        #expect(try keys(cache) == ["a", "d"])
        #expect(outcome.outside == 2)
        #expect(outcome.written == 2)
        #expect(outcome.hadBefore == 0)
    }

    @Test("the upstream's clock decides where the window ends")
    func serverClock() async throws {
        let cache = try cache()
        var page = PulledPage(entity: "orders", records: "[\(order("c", at: Self.old))]")
        page.serverNow = TestCache.now - .seconds(120)
        _ = try await cache.store.apply(page, at: TestCache.now)
        #expect(try keys(cache) == ["c"])
    }

    @Test("a record that was read singly is served until the next pull, then leaves")
    func single() async throws {
        let cache = try cache()
        _ = try await cache.store.apply(
            PulledPage(entity: "orders", records: "[\(order("b", "done"))]", view: .single), at: TestCache.now)
        #expect(try cache.record("orders", "b")?["status"] == "done")
        #expect(try await leave(cache) == ["orders": 1])
        #expect(try cache.record("orders", "b") == nil)
    }

    // MARK: Leaving

    @Test("a record that is changed upstream leaves without a conflict, and the log says why")
    func changedUpstream() async throws {
        let cache = try cache()
        _ = try await cache.pull("orders", "[\(order("a")),\(order("b"))]")
        _ = try await cache.pull("orders", "[\(order("a", "done"))]")
        #expect(try await leave(cache) == ["orders": 1])
        #expect(try keys(cache) == ["b"])
        #expect(try cache.store.rowCounts()["orders"] == 1)
        #expect(try events(cache).last == "deleted orders a window")
        #expect(try cache.store.pendingCount().pending == 0)
        #expect(try cache.store.summary().openConflicts == 0)
    }

    @Test("a record leaves that gets a value which the window excludes", arguments: ["done", "[done, ready]"])
    func excluded(_ values: String) async throws {
        let cache = try TestCache(schema: Self.yaml.replacing("status: [open, ready],", with: "status.ne: \(values),"))
        _ = try await cache.pull("orders", "[\(order("a")),\(order("b"))]")
        _ = try await cache.pull("orders", "[\(order("a", "done"))]")
        #expect(try await leave(cache) == ["orders": 1])
        #expect(try keys(cache) == ["b"])
    }

    @Test("a record leaves at the first pull after its time")
    func timeMoves() async throws {
        let cache = try cache()
        let edge = (TestCache.now - .seconds(90 * 86_400)).description
        _ = try await cache.pull("orders", "[\(order("a", at: edge))]")
        #expect(try await leave(cache).isEmpty)
        #expect(try await leave(cache, at: TestCache.now + .seconds(1)) == ["orders": 1])
    }

    @Test("the greatest number of wrong times does not end the pull")
    func mostReturns() async throws {
        let cache = try cache()
        let orders = try #require(cache.store.schema["orders"])
        try await cache.store.setSetting("window-time:orders", to: "\(Int64.max) \(Int.max)")
        let before = try cache.store.windowDefinition(of: orders)
        try await cache.store.takeBackWindowTime(of: orders, at: TestCache.now)
        #expect(try cache.store.windowDefinition(of: orders) != before)
    }

    @Test("the window is another one once the time at which records left has turned out to be wrong")
    func timeReturns() async throws {
        let cache = try cache()
        let orders = try #require(cache.store.schema["orders"])
        let clients = try #require(cache.store.schema["clients"])
        _ = try await cache.pull("orders", "[\(order("a"))]")
        let before = try cache.store.windowDefinition(of: orders)
        try await leave(cache)
        try await cache.store.takeBackWindowTime(of: orders, at: TestCache.now - .seconds(86_400))
        #expect(try cache.store.windowDefinition(of: orders) == before, "nothing has left")
        let wrong = TestCache.now + .seconds(100 * 86_400)
        #expect(try await leave(cache, at: wrong) == ["orders": 1])
        try await cache.store.takeBackWindowTime(of: orders, at: wrong - .seconds(60))
        #expect(try cache.store.windowDefinition(of: orders) == before, "two measurements differ")
        try await cache.store.takeBackWindowTime(of: orders, at: TestCache.now)
        let after = try cache.store.windowDefinition(of: orders)
        #expect(after != before)
        try await cache.store.takeBackWindowTime(of: orders, at: TestCache.now)
        #expect(try cache.store.windowDefinition(of: orders) == after, "once")
        try await cache.store.noteWindowTime(wrong, of: clients)
        try await cache.store.takeBackWindowTime(of: clients, at: TestCache.now)
        #expect(try cache.store.windowDefinition(of: clients)?.contains("clock") == false, "it does not move with time")
    }

    @Test("a record with a queued change stays until it was acknowledged")
    func queued() async throws {
        let cache = try cache()
        _ = try await cache.pull("orders", "[\(order("a"))]")
        try await cache.change("orders", "a", #"{"status":"done"}"#)
        #expect(try await leave(cache).isEmpty)
        try await cache.send(.acknowledged(record: JSONText(parsing: order("a", "done"))))
        #expect(try await leave(cache, at: TestCache.now + .seconds(61)) == ["orders": 1])
        #expect(try keys(cache).isEmpty)
    }

    @Test("a record whose change failed stays")
    func failed() async throws {
        let cache = try cache()
        _ = try await cache.pull("orders", "[\(order("a"))]")
        try await cache.change("orders", "a", #"{"status":"ready"}"#)
        try await cache.send(.failed(PushFailure(.refused, status: 422, message: "no")))
        _ = try await cache.pull("orders", "[\(order("a", "done", at: Self.old))]")
        #expect(try await leave(cache, at: TestCache.now + .seconds(86_400)).isEmpty)
        #expect(try keys(cache) == ["a"])
    }

    @Test("a record created here outside of the window leaves once it has settled")
    func created() async throws {
        let cache = try cache()
        let key = try await cache.make("orders", #"{"status":"done","updated_at":"2026-11-21T00:00:00Z"}"#)
        #expect(try await leave(cache).isEmpty)
        try await cache.send(.acknowledged(record: JSONText(parsing: order(key, "done"))))
        #expect(try await leave(cache, at: TestCache.now + .seconds(59)).isEmpty)
        #expect(try await leave(cache, at: TestCache.now + .seconds(61)) == ["orders": 1])
    }

    @Test("children leave with their record, unless something of theirs is queued")
    func children() async throws {
        let cache = try cache()
        _ = try await cache.pull("orders", "[\(order("a")),\(order("b"))]")
        _ = try await cache.pull("lines", #"[{"id":"l1","order_id":"a"},{"id":"l2","order_id":"b","text":"x"}]"#)
        try await cache.change("lines", "l2", #"{"text":"y"}"#)
        _ = try await cache.pull("orders", "[\(order("a", "done")),\(order("b", "done"))]")
        #expect(try await leave(cache) == ["orders": 1])
        #expect(try keys(cache) == ["b"])
        #expect(try keys(cache, "lines") == ["l2"])
        #expect(try events(cache).contains("deleted lines l1 window"))
        try await cache.send(.acknowledged(record: JSONText(parsing: #"{"id":"l2","order_id":"b","text":"y"}"#)))
        #expect(try await leave(cache, at: TestCache.now + .seconds(61)) == ["orders": 1])
        #expect(try keys(cache, "lines").isEmpty)
    }

    @Test("a record that only this machine has keeps what it refers to")
    func localOnly() async throws {
        let cache = try cache()
        _ = try await cache.pull("orders", "[\(order("a"))]")
        _ = try await cache.make("remarks", #"{"order_id":"a"}"#)
        _ = try await cache.pull("orders", "[\(order("a", "done"))]")
        #expect(try await leave(cache).isEmpty)
    }

    @Test("a record stays while one that stays refers to it, and leaves after it")
    func referenced() async throws {
        let cache = try cache()
        _ = try await cache.pull("orders", "[\(order("a", client: "c"))]")
        let client = #"[{"id":"c","is_active":false},{"id":"d","is_active":false}]"#
        #expect(try await cache.pull("clients", client).outside == 1)
        #expect(try keys(cache, "clients") == ["c"])
        #expect(try await leave(cache).isEmpty)
        _ = try await cache.pull("orders", "[\(order("a", "done", client: "c"))]")
        #expect(try await leave(cache) == ["orders": 1, "clients": 1])
    }

    @Test("a record is kept by one that refers to it and belongs to another record")
    func referencedByChild() async throws {
        let owner = "      order_id: { type: reference, to: orders, required: true }\n"
        let cache = try TestCache(
            schema: Self.yaml.replacing(owner, with: owner + "      client_id: { type: reference, to: clients }\n"))
        _ = try await cache.pull("orders", "[\(order("a"))]")
        _ = try await cache.pull("lines", #"[{"id":"l","order_id":"a","client_id":"c"}]"#)
        #expect(try await cache.pull("clients", #"[{"id":"c","is_active":false}]"#).outside == 0)
        #expect(try await leave(cache).isEmpty)
        #expect(try keys(cache, "lines") == ["l"])
    }

    @Test("a record is kept by one of another entity that has the same key")
    func sameKey() async throws {
        let cache = try cache()
        _ = try await cache.pull("orders", "[\(order("5", client: "5"))]")
        #expect(try await cache.pull("clients", #"[{"id":"5","is_active":false}]"#).outside == 0)
        #expect(try await leave(cache).isEmpty)
        #expect(try keys(cache, "clients") == ["5"])
    }

    @Test("with keep: window a reference keeps nothing")
    func unreferenced() async throws {
        let cache = try TestCache(
            schema: Self.yaml.replacing("{ is_active: true } }", with: "{ is_active: true }, keep: window }"))
        _ = try await cache.pull("orders", "[\(order("a", client: "c"))]")
        #expect(try await cache.pull("clients", #"[{"id":"c","is_active":false}]"#).outside == 1)
        let clients = try #require(cache.store.schema["clients"])
        #expect(try cache.store.missingReferences(to: clients, limit: 9, at: TestCache.now).isEmpty)
    }

    @Test("what kept records refer to and the cache lacks is named until the upstream was asked")
    func missing() async throws {
        let cache = try cache()
        _ = try await cache.pull("orders", "[\(order("a", client: "c")),\(order("b", client: "d"))]")
        let clients = try #require(cache.store.schema["clients"])
        #expect(try cache.store.missingReferences(to: clients, limit: 9, at: TestCache.now) == ["c", "d"])
        try await cache.store.noteAbsent(["c"], of: "clients", at: TestCache.now)
        #expect(try cache.store.missingReferences(to: clients, limit: 9, at: TestCache.now) == ["d"])
        let tomorrow = TestCache.now + .seconds(86_401)
        #expect(try cache.store.missingReferences(to: clients, limit: 9, at: tomorrow) == ["c", "d"])
    }

    @Test("thousands leave in short transactions")
    func many() async throws {
        let cache = try cache()
        let page = (0..<1500).map { order("k\($0)") }.joined(separator: ",")
        _ = try await cache.pull("orders", "[\(page)]")
        let before = try cache.store.position()
        #expect(try await leave(cache, at: TestCache.now + .seconds(100 * 86_400)) == ["orders": 1500])
        let sizes = try await cache.store.pool.read { db in
            try Int.fetchAll(
                db, sql: "SELECT json_array_length(keys) FROM sync_change_log WHERE seq > ?", arguments: [before])
        }
        #expect(sizes.reduce(0, +) == 1500)
        #expect(try #require(sizes.max()) <= 200)
    }

    @Test("candidates are found by indexes, whatever the conditions")
    func plan() async throws {
        let cache = try cache()
        _ = try await cache.pull("orders", "[\(order("a"))]")
        let orders = try #require(cache.store.schema["orders"])
        let window = try cache.store.window(of: orders, at: TestCache.now)
        let test = try #require(window)
        let statement = WindowStatement(
            table: EntityTable(entity: orders), ties: WindowTies(of: orders, in: cache.store.schema), test: test,
            schema: cache.store.schema)
        let sql = "EXPLAIN QUERY PLAN \(statement.leaving())"
        let plan = try await cache.store.pool.read { db in
            try Row.fetchAll(db, sql: sql, arguments: [0]).map {
                $0["detail"] as String
            }
        }
        #expect(plan.contains { $0.contains("SEARCH record USING INTEGER PRIMARY KEY") }, "\(plan)")
        #expect(plan.contains { $0.contains("orders_by_updated_at (updated_at<?)") }, "\(plan)")
        #expect(!plan.contains { $0.hasPrefix("SCAN record") }, "\(plan)")
    }

    // MARK: Absence

    @Test("a record outside of the window is not missing from a full list")
    func absence() async throws {
        let cache = try cache()
        let orders = try #require(cache.store.schema["orders"])
        _ = try await cache.pull("orders", "[\(order("a")),\(order("b"))]")
        try await cache.change("orders", "a", #"{"status":"ready"}"#)
        _ = try await cache.pull("orders", "[\(order("a", "done"))]")
        var seen = try cache.store.startDeletionSweep(
            of: "orders", window: cache.store.window(of: orders, at: TestCache.now))
        seen.limit(to: try cache.store.window(of: orders, at: TestCache.now))
        #expect(try cache.store.countUnseen(of: "orders", seen, at: TestCache.now) == 1)
        #expect(try cache.store.unseen(of: "orders", seen, limit: 9, at: TestCache.now).map(\.key) == ["b"])
    }

    @Test("a list must show something only while a cached record is inside")
    func expected() async throws {
        let cache = try cache()
        let orders = try #require(cache.store.schema["orders"])
        #expect(try !cache.store.expectsList(of: orders, at: TestCache.now))
        _ = try await cache.pull("orders", "[\(order("a"))]")
        #expect(try cache.store.expectsList(of: orders, at: TestCache.now))
        #expect(try !cache.store.expectsList(of: orders, at: TestCache.now + .seconds(91 * 86_400)))
    }
}
