import JSONText
import Testing

/// Schemas of upstreams with delta tokens, lists of deletions and lists by POST: the built daemon against the built
/// upstream.
@Suite("Feeds of changes and deletions", .serialized, .timeLimit(.minutes(10)))
struct DeltaFeedTests {
    private static let orders = """
        call: POST /orders/search, body: { after: "{$cursor}", token: "{$delta}" }, record: { path: "/orders/{id}" },
                  since: { token: meta.token }, pagination: { style: cursor, cursor: after, next: meta.next, page_size: 10 },
                  deleted: { call: POST /orders/removed, body: { since: "{$delta}" }, key: id, since: { token: mark } }
        """
    private static let notes = """
        path: /notes, since: { link: '"@odata.deltaLink"' }, deleted: "@removed",
                  pagination: { style: next_url, next: '"@odata.nextLink"', page_size: 10 }
        """
    private static let tasks = """
        call: POST /tasks/query, changed_at: changed,
                  body: { query: "tasks(page: {$page}, since: {$since:quoted})", page: "{$page}", from: "{$since}" },
                  since: { field: changed }, pagination: { style: page, page_size: 10, total: total },
                  record: { call: POST /tasks/one, body: { id: "{id}" } },
                  deleted: { path: /tasks/deletions, key: task, at: at, since: { param: from } }
        """

    private static var yaml: String {
        let entities = [("orders", orders), ("notes", notes), ("tasks", tasks)].map { name, pull in
            """
              \(name):
                fields: { id: { type: string }, title: { type: string }, changed: { type: time } }
                pull:
                  { \(pull) }
                push:
                  create: { call: POST /\(name), look_up: key }
                  update: { call: "PATCH /\(name)/{id}" }
                  delete: { call: "DELETE /\(name)/{id}" }
            """
        }
        return """
            schema: feeds
            upstream:
              base_url: "http://127.0.0.1:1"
              records: value
              record: value
              pagination: { style: single }
              idempotency_header: Idempotency-Key
            entities:
            \(entities.joined(separator: "\n"))
            """
    }

    private func titles(_ entity: String, _ shop: Shop) async throws -> [String: String] {
        let records = try await shop.all(entity)
        return Dictionary(records.map { ($0["id"]?.plain ?? "", $0["title"]?.plain ?? "") }) { $1 }
    }

    private func titlesThere(_ entity: String, _ shop: Shop) async throws -> [String: String] {
        let records = try await shop.admin("records/\(entity)")
        return Dictionary(records.map { ($0["id"]?.plain ?? "", $0["title"]?.plain ?? "") }) { $1 }
    }

    private func sync(_ shop: Shop) async throws {
        let (status, output) = try await shop.command("sync", "--wait")
        #expect(status == 0, "\(output)")
    }

    private func pulls(of entity: String, _ shop: Shop) async throws -> Int {
        let log = try await shop.admin("log")
        return log.count { $0["path"]?.string?.hasPrefix("/\(entity)") ?? false }
    }

    @Test("both sides agree after changes on both, a kill, and tokens that are forgotten")
    func feeds() async throws {
        let shop = try await Shop(rows: 35) { _ in Self.yaml }
        let result: Result<Void, any Error>
        do { result = .success(try await story(shop)) } catch { result = .failure(error) }
        await shop.end()
        try result.get()
    }

    private func story(_ shop: Shop) async throws {
        let entities = ["orders", "notes", "tasks"]
        try await sync(shop)
        for entity in entities {
            #expect(try await titles(entity, shop) == titlesThere(entity, shop), "\(entity)")
            #expect(try await !titles(entity, shop).isEmpty, "\(entity)")
        }
        for isForgotten in [false, true] {
            if isForgotten {
                _ = try await shop.admin("habits", "PUT", .object(["forgotten_tokens": "1ms"]))
            }
            for entity in entities { try await churn(entity, isForgotten ? "later" : "first", shop) }
            await shop.killDaemon()
            try await shop.startDaemon()
            try await sync(shop)
            for entity in entities {
                #expect(try await titles(entity, shop) == titlesThere(entity, shop), "\(entity)")
            }
        }
        // Nothing has changed, so each list is asked for once.
        _ = try await shop.admin("habits", "DELETE")
        try await sync(shop)
        let before = try await pulls(of: "orders", shop)
        try await sync(shop)
        #expect(try await pulls(of: "orders", shop) == before + 2)
    }

    /// Edits, creates and deletes there and here.
    private func churn(_ entity: String, _ word: String, _ shop: Shop) async throws {
        let keys = try await titlesThere(entity, shop).keys.sorted()
        let there = "records/\(entity)"
        _ = try await shop.admin("\(there)/\(keys[0])", "PATCH", .object(["title": .string("there \(word)")]))
        _ = try await shop.admin("\(there)/\(keys[1])", "DELETE")
        let edit = try await shop.call("PATCH", "/v1/\(entity)/\(keys[2])", .object(["title": .string("here \(word)")]))
        #expect(edit.status == 200)
        #expect(try await shop.call("POST", "/v1/\(entity)", .object(["title": .string("new \(word)")])).status == 201)
        #expect(try await shop.call("DELETE", "/v1/\(entity)/\(keys[3])").status < 300)
    }
}
