import EntitySchema
import Foundation
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

/// The queue as a list: filters, orders and pages, compared with what the whole queue shows.
@Suite("The queue as a list")
struct PendingTests {
    private let now = TestCache.now

    // MARK: A queue with changes in every state

    /// Changes of 20 orders and of messages, some of which wait for others, after random attempts.
    private func filled(_ random: inout SeededRandom) async throws -> TestCache {
        let cache = try await TestCache.with(orders: orders("0"), conflict: "manual")
        for number in 0..<20 {
            let body = JSONText.object(["notes": .string("mine \(number)")])
            try await cache.store.update("orders", key: "k\(number)", body: body, at: now + .seconds(Int64(number / 3)))
        }
        for number in 0..<12 {
            let body = JSONText.object(["order_id": .string("k\(number % 4)"), "text": "hello"])
            _ = try await cache.store.create("messages", body: body, at: now)
        }
        for _ in 0..<40 { try await attempt(cache, &random) }
        // A later version of some orders, whose edit then waits for a choice.
        _ = try await cache.pull("orders", orders("1", (0..<4).map { $0 * 5 }))
        for change in try cache.store.readyChanges(limit: 2, at: now + .seconds(600)) {
            _ = try await cache.store.begin(change, at: now)
        }
        // One that no attempt has reached, whatever was drawn.
        _ = try await cache.store.create("orders", body: .object(["notes": "new"]), at: now)
        return cache
    }

    private func orders(_ version: String, _ numbers: [Int] = Array(0..<20)) -> String {
        JSONText.array(numbers.map { .object(["id": .string("k\($0)"), "notes": .string("theirs \(version)")]) }).text
    }

    private func attempt(_ cache: TestCache, _ random: inout SeededRandom) async throws {
        let ready = try cache.store.readyChanges(limit: 100, at: now)
        guard let change = random.pick(ready), try await cache.store.begin(change, at: now) else { return }
        let failure = PushFailure(.server, status: 500, message: "no")
        // Every third is due at once, so it can be tried again.
        let due = now + .seconds(Int64([0, 60, 120][random.below(3)]))
        let outcome: PushOutcome =
            random.below(6) == 0 ? .failed(failure) : .waiting(failure, at: due, counted: random.below(4) > 0)
        try await cache.store.finish(change.id, outcome, at: now)
    }

    private func ids(_ changes: [JSONText]) -> [Int] { changes.compactMap { $0["id"]?.integer } }

    @Test("a page of large changes ends early, and the pages together have them all")
    func largeChanges() async throws {
        let cache = try TestCache()
        let body = JSONText.object(["notes": .string(String(repeating: "x", count: 1 << 20))])
        for _ in 0..<5 { _ = try await cache.store.create("orders", body: body, at: now) }
        var query = PendingQuery()
        let first = try cache.store.pending(query)
        #expect(first.changes.count < 5 && first.next != nil)
        var found: [Int] = []
        repeat {
            let page = try cache.store.pending(query)
            found += ids(page.changes)
            query.cursor = page.next
        } while query.cursor != nil
        #expect(found.count == 5 && Set(found).count == 5)
    }

    private func ids(_ query: PendingQuery, _ cache: TestCache) throws -> [Int] {
        ids(try cache.store.pending(query).changes)
    }

    private func filter(_ field: String, _ values: String..., by comparison: FilterComparison.Operation = .equal)
        -> FilterComparison
    {
        FilterComparison(parameter: field, path: [field], operation: comparison, values: values)
    }

    // MARK: Filters

    @Test("a filter finds exactly the changes that show what it asks for")
    func filters() async throws {
        var random = SeededRandom()
        let cache = try await filled(&random)
        let all = try cache.store.pending(PendingQuery(limit: 1000)).changes
        #expect(Set(all.compactMap { $0["state"]?.string }) == Set(PendingQuery.State.allCases.map(\.rawValue)))
        func count(_ change: JSONText) -> Int { change["retry_count"]?.integer ?? -1 }
        var cases: [(FilterComparison, (JSONText) -> Bool)] = PendingQuery.State.allCases.map { state in
            (filter("state", state.rawValue), { $0["state"]?.string == state.rawValue })
        }
        for states in [["failed", "waiting"], ["blocked", "queued"]] {
            let filter = FilterComparison(parameter: "state", path: ["state"], operation: .equal, values: states)
            cases.append((filter, { states.contains($0["state"]?.string ?? "") }))
        }
        cases.append((filter("entity", "messages"), { $0["entity"] == "messages" }))
        cases.append((filter("entity", "messages", "orders"), { _ in true }))
        cases.append((filter("retry_count", "1"), { count($0) == 1 }))
        cases.append((filter("retry_count", "0", "2"), { count($0) == 0 || count($0) == 2 }))
        cases.append((filter("retry_count", "1", by: .notEqual), { count($0) != 1 }))
        cases.append((filter("retry_count", "1", by: .atLeast), { count($0) >= 1 }))
        cases.append((filter("retry_count", "1", by: .greater), { count($0) > 1 }))
        cases.append((filter("retry_count", "1", by: .atMost), { count($0) <= 1 }))
        cases.append((filter("retry_count", "1", by: .less), { count($0) < 1 }))
        for (filter, isFound) in cases {
            let found = try ids(PendingQuery(filters: [filter], limit: 1000), cache)
            #expect(found == ids(all.filter(isFound)), "\(filter), \(TestRun.note())")
        }
        for (one, isFound) in cases {
            let both = PendingQuery(filters: [filter("state", "waiting", "blocked"), one], limit: 1000)
            let expected = all.filter { ["waiting", "blocked"].contains($0["state"]?.string) && isFound($0) }
            #expect(try ids(both, cache) == ids(expected), "\(one), \(TestRun.note())")
        }
    }

    @Test("the changes of a record are found by its key, with or without its entity")
    func record() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a"},{"id":"b"}]"#)
        try await cache.store.update("orders", key: "a", body: JSONText(parsing: #"{"notes":"x"}"#), at: now)
        try await cache.store.update("orders", key: "b", body: JSONText(parsing: #"{"notes":"x"}"#), at: now)
        // A message with the key of an order.
        let body = try JSONText(parsing: #"{"id":"a","order_id":"b","text":"hello"}"#)
        _ = try await cache.store.create("messages", body: body, at: now)
        #expect(try ids(PendingQuery(record: "a"), cache) == [1, 3])
        #expect(try ids(PendingQuery(filters: [filter("entity", "orders")], record: "a"), cache) == [1])
        #expect(try ids(PendingQuery(record: "missing"), cache) == [])
    }

    @Test("a record is found by the key that it had before the upstream gave it another")
    func formerKey() async throws {
        let cache = try TestCache()
        let key = try await cache.store.create("orders", body: JSONText(parsing: #"{"notes":"x"}"#), at: now)
        let creation = try await cache.begun()
        let answer = try JSONText(parsing: #"{"id":"given","notes":"x"}"#)
        try await cache.store.finish(creation.id, .acknowledged(record: answer), at: now)
        try await cache.store.update("orders", key: key, body: JSONText(parsing: #"{"notes":"y"}"#), at: now)
        #expect(try ids(PendingQuery(record: key), cache) == ids(PendingQuery(record: "given"), cache))
        #expect(try ids(PendingQuery(record: key), cache).count == 1)
    }

    @Test("changes of an entity that the schema no longer has are blocked, and are found by its name")
    func lostEntity() async throws {
        let full = try TestCache()
        _ = try await full.store.create("orders", body: JSONText(parsing: #"{"id":"a"}"#), at: now)
        let message = try JSONText(parsing: #"{"id":"m","order_id":"a","text":"hello"}"#)
        _ = try await full.store.create("messages", body: message, at: now)
        let orders = try #require(TestCache.shop.range(of: "  messages:\n    fields")?.lowerBound)
        let schema = TestCache.shop[..<orders]
            .replacing("many:\n      messages: { of: messages, by: order_id, on_delete: cascade }", with: "")
            .replacing(
                #"detail: { path: "/orders/{id}/messages", into: messages, when_changed: updated_at }"#, with: "")
        let cache = try full.reopened(schema: String(schema))
        #expect(try ids(PendingQuery(filters: [filter("entity", "messages")]), cache) == [2])
        #expect(try ids(PendingQuery(filters: [filter("state", "blocked")]), cache) == [2])
        #expect(try ids(PendingQuery(record: "m"), cache) == [2])
        #expect(try ids(PendingQuery(filters: [filter("state", "queued")]), cache) == [1])
        let counts = try cache.store.measures().queue
        #expect(counts["blocked"] == 1 && counts["queued"] == 1)
    }

    // MARK: Orders and pages

    private static let sorts = [
        "", "id", "-id", "retry_count", "-retry_count", "created_at", "-created_at", "next_attempt_at",
        "-next_attempt_at", "last_attempt_at", "-last_attempt_at", "-retry_count,created_at", "next_attempt_at,-id",
    ]

    private func terms(_ sort: String) -> [SortTerm] { sort.split(separator: ",").map { SortTerm(text: String($0)) } }

    @Test("paging by cursor returns the same changes as one large page, in any order and with any filter")
    func paging() async throws {
        var random = SeededRandom()
        let cache = try await filled(&random)
        for sort in Self.sorts {
            for filters in [[], [filter("state", "waiting", "blocked")], [filter("retry_count", "1", by: .atLeast)]] {
                var query = PendingQuery(filters: filters, sort: terms(sort), limit: 1000)
                let all = try ids(query, cache)
                #expect(Set(all).count == all.count && !all.isEmpty)
                for limit in [1, 7, all.count] {
                    query.limit = limit
                    query.cursor = nil
                    var pages: [Int] = []
                    repeat {
                        let (changes, next) = try cache.store.pending(query)
                        pages += ids(changes)
                        query.cursor = next
                    } while query.cursor != nil
                    #expect(pages == all, "\(sort), \(filters), \(limit), \(TestRun.note())")
                }
            }
        }
    }

    @Test("changes are sorted by what they show, null first, and then in the order in which they were made")
    func orders() async throws {
        var random = SeededRandom()
        let cache = try await filled(&random)
        for name in ["id", "retry_count", "created_at", "last_attempt_at", "next_attempt_at"] {
            for sign in ["", "-"] {
                let changes = try cache.store.pending(PendingQuery(sort: terms(sign + name), limit: 1000)).changes
                // Times and small numbers sort as text; a missing one is empty.
                let keys = changes.map { change in
                    let value = change[name]?.integer.map { String($0 + 1000) } ?? change[name]?.string ?? ""
                    return "\(value) \((change["id"]?.integer ?? 0) + 1000)"
                }
                #expect(keys == (sign.isEmpty ? keys.sorted() : keys.sorted(by: >)), "\(sign)\(name)")
            }
        }
    }

    @Test("a cursor of one list is refused by a list with another order or filter")
    func foreignCursor() async throws {
        var random = SeededRandom()
        let cache = try await filled(&random)
        let queries = [
            PendingQuery(limit: 2), PendingQuery(sort: terms("-id"), limit: 2),
            PendingQuery(filters: [filter("entity", "orders")], limit: 2),
            PendingQuery(sort: terms("created_at"), limit: 2),
            PendingQuery(filters: [filter("retry_count", "0", by: .atLeast)], limit: 2),
        ]
        for (index, query) in queries.enumerated() {
            let next = try #require(try cache.store.pending(query).next)
            for (other, foreign) in queries.enumerated() {
                var query = foreign
                query.cursor = next
                if other == index {
                    #expect(try cache.store.pending(query).changes.count == 2)
                } else {
                    #expect(throws: CacheError.self) { try cache.store.pending(query) }
                }
            }
        }
    }

    @Test("paging neither repeats nor skips a change that stays as it is while others leave and come")
    func movingQueue() async throws {
        var random = SeededRandom()
        for sort in ["", "-id", "-retry_count", "next_attempt_at"] {
            let cache = try await filled(&random)
            var touched: Set<Int> = []
            var query = PendingQuery(sort: terms(sort), limit: 4)
            let before = try ids(PendingQuery(sort: terms(sort), limit: 1000), cache)
            var seen: [Int] = []
            repeat {
                let (changes, next) = try cache.store.pending(query)
                seen += ids(changes)
                query.cursor = next
                let ready = try cache.store.readyChanges(limit: 1, at: now)
                touched.formUnion(ready.map { Int($0.id) })
                for change in ready where try await cache.store.begin(change, at: now) {
                    let refused = PushFailure(.refused, status: 422, message: "no")
                    try await cache.store.finish(change.id, .failed(refused), at: now)
                }
            } while query.cursor != nil
            #expect(
                seen.filter { !touched.contains($0) } == before.filter { !touched.contains($0) }, "\(TestRun.note())")
        }
    }
}
