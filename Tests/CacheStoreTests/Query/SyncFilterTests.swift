import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore

@Suite("Lists by the state of syncing")
struct SyncFilterTests {
    private let now = TestCache.now

    @Test("a filter finds exactly the records whose _sync shows its state; pending also those being sent")
    func agreement() async throws {
        var random = SeededRandom()
        var seen: Set<String> = []
        for _ in 0..<(TestRun.isFull ? 100 : 12) {
            let cache = try await filled(&random)
            for _ in 0..<6 {
                for _ in 0..<10 { try await disturb(cache, &random) }
                seen.formUnion(try compare(cache))
            }
        }
        #expect(seen == Set(ListQuery.SyncFilter.allCases.map(\.rawValue)), "\(TestRun.note())")
    }

    /// Returns the states that occur.
    private func compare(_ cache: TestCache) throws -> Set<String> {
        let all = try JSONText(cache.store.list(ListQuery(entity: "orders", limit: 1000)).records).elements
        let states = Dictionary(grouping: all) { $0.at(path: "_sync.state")?.string ?? "" }
            .mapValues { $0.compactMap { $0["id"]?.string } }
        for filter in ListQuery.SyncFilter.allCases {
            for sort in ["", "-status", "notes"] {
                let terms = sort.isEmpty ? [] : [SortTerm(text: sort)]
                let query = ListQuery(entity: "orders", sort: terms, limit: 1000, sync: filter, count: true)
                let shown = filter == .pending ? ["pending", "uploading"] : [filter.rawValue]
                let expected = Set(shown.flatMap { states[$0] ?? [] })
                #expect(Set(try cache.keys(query)) == expected, "\(filter) \(sort), \(TestRun.note())")
                #expect(try cache.store.list(query).total == expected.count)
            }
        }
        return Set(states.keys)
    }

    private func filled(_ random: inout SeededRandom) async throws -> TestCache {
        let routes = #"""
            update:
                    - { call: "PATCH /orders/{id}", fields: [status, notes] }
                    - { call: "PUT /orders/{id}/total", body: { amount: total } }
            """#
        let cache = try TestCache(
            schema: TestCache.shop.replacing("  orders:\n", with: "  orders:\n    conflict: manual\n")
                .replacing(#"update: { call: "PATCH /orders/{id}" }"#, with: routes))
        let records = (0..<12).map { JSONText.object(["id": .string("k\($0)"), "notes": "0", "total": 1]) }
        _ = try await cache.pull("orders", JSONText.array(records).text)
        return cache
    }

    /// An edit here or on the server, the begin or the end of an attempt, or a creation.
    private func disturb(_ cache: TestCache, _ random: inout SeededRandom) async throws {
        let key = "k\(random.below(12))"
        let value = random.below(1000)
        switch random.below(8) {
        case 0, 1:
            let body = JSONText.object([["notes", "total"][random.below(2)]: .integer(value)])
                .setting("notes", to: .string("\(value)"))
            _ = try? await cache.store.update("orders", key: key, body: body, at: now)
        case 2:
            _ = try? await cache.store.update(
                "orders", key: key, body: JSONText(parsing: "{\"total\":\(value)}"), at: now)
        case 3: _ = try await cache.pull("orders", #"[{"id":"\#(key)","notes":"theirs \#(value)","total":1}]"#)
        case 4: _ = try await cache.store.create("orders", body: JSONText(parsing: #"{"notes":"new"}"#), at: now)
        case 5: if random.below(3) == 0 { _ = try await cache.store.retry(nil, at: now) }
        default: try await attempt(cache, &random)
        }
    }

    private func attempt(_ cache: TestCache, _ random: inout SeededRandom) async throws {
        let ready = try cache.store.readyChanges(limit: 100, at: now)
        guard let change = random.pick(ready), try await cache.store.begin(change, at: now) else { return }
        let refused = PushFailure(.refused, status: 422, message: "no")
        switch random.below(4) {
        case 0: try await cache.store.finish(change.id, .failed(refused), at: now)
        case 1: try await cache.store.finish(change.id, .waiting(refused, at: now, counted: true), at: now)
        case 2: try await cache.store.finish(change.id, .acknowledged(record: change.record), at: now)
        default: break
        }
    }

    @Test("records without changes are listed in order, and found by words too")
    func synced() async throws {
        let cache = try TestCache(
            schema: TestCache.shop.replacing("notes: { type: string }", with: "notes: { type: string, search: true }"))
        let records = (0..<40).map { JSONText.object(["id": .string("k\($0)"), "notes": "screen"]) }
        _ = try await cache.pull("orders", JSONText.array(records).text)
        try await cache.store.update("orders", key: "k5", body: JSONText(parsing: #"{"status":"open"}"#), at: now)
        try await cache.store.catchUpSearch()
        var query = ListQuery(entity: "orders", limit: 1000, sync: .synced)
        #expect(try cache.keys(query).count == 39)
        query.search = try SearchQuery("screen")
        query.limit = 2
        query.count = true
        query.sort = [SortTerm(text: "created_at")]
        #expect(try cache.store.list(query).total == 39)
        query.limit = 1000
        #expect(try cache.keys(query).contains("k5") == false)
    }
}
