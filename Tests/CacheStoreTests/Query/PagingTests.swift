import EntitySchema
import Foundation
import JSONText
import TestSupport
import Testing

@testable import CacheStore

/// Pages through lists while records are created, changed and deleted.
@Suite("Paging")
struct PagingTests {
    @Test("paging neither repeats nor skips a record that does not change meanwhile")
    func pagingWhileRecordsMove() async throws {
        var random = SeededRandom()
        for _ in 0..<(TestRun.isFull ? 25 : 8) { try await pageOnce(&random) }
    }

    @Test(
        "a list sorted by values too long for a URL is complete", arguments: ["notes", "-notes,total"])
    func long(sort: String) async throws {
        let cache = try TestCache()
        let rest = String(repeating: "\u{1}\u{10FFFF}", count: 10_000)
        let records = (0..<6).map { number in
            JSONText.object(["id": .string("k\(number)"), "notes": .string("\(number)\(number == 3 ? "" : rest)")])
        }
        _ = try await cache.pull("orders", JSONText.array(records).text)
        var query = ListQuery(entity: "orders", sort: sort.split(separator: ",").map { SortTerm(text: String($0)) })
        query.limit = 1
        var seen: [String] = []
        repeat {
            let page = try cache.store.list(query)
            seen += try JSONText(page.records).elements.compactMap { $0["id"]?.string }
            query.cursor = page.next
            #expect((page.next ?? "").utf8.count <= ListCursor.longest)
        } while query.cursor != nil && seen.count < 7
        let ascending = (0..<6).map { "k\($0)" }
        #expect(seen == (sort == "notes" ? ascending : ascending.reversed()))
    }

    private func pageOnce(_ random: inout SeededRandom) async throws {
        let cache = try TestCache()
        let records = (0..<60).map { record("k\($0)", &random) }
        _ = try await cache.pull("orders", JSONText.array(records).text)
        var query = randomQuery(&random)
        let description = "\(query), \(TestRun.note())"
        var untouched = Set((0..<60).map { "k\($0)" })
        var seen: [String] = []
        repeat {
            let page = try cache.store.list(query)
            seen += try JSONText(page.records).elements.compactMap { $0["id"]?.string }
            query.cursor = page.next
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                untouched.remove(try await disturb(cache, &random))
            }
        } while query.cursor != nil
        query.limit = 1000
        let expected = try cache.keys(query).filter(untouched.contains)
        #expect(seen.filter(untouched.contains) == expected, "\(description)")
    }

    /// Changes, deletes or creates a record; returns its key.
    private func disturb(_ cache: TestCache, _ random: inout SeededRandom) async throws -> String {
        let key = "k\(Int.random(in: 0..<80, using: &random))"
        switch Int.random(in: 0..<4, using: &random) {
        case 0: _ = try await cache.pull("orders", #"[{"id":"\#(key)","deleted_at":"2026-01-01"}]"#)
        case 1:
            let body = JSONText.object(["status": .string(["open", "ready"].randomElement(using: &random) ?? "open")])
            _ = try? await cache.store.update("orders", key: key, body: body, at: TestCache.now)
        default: _ = try await cache.pull("orders", JSONText.array([record(key, &random)]).text)
        }
        return key
    }

    private func record(_ key: String, _ random: inout SeededRandom) -> JSONText {
        let totals: [JSONText] = [0, 5, .decimal(1250, places: 2), .null]
        let day = Int.random(in: 0..<8, using: &random)
        return .object([
            "id": .string(key), "status": .string(["open", "ready", "lost"].randomElement(using: &random) ?? "open"),
            "total": totals.randomElement(using: &random) ?? 0,
            "created_at": day < 2 ? .null : .string("2026-01-1\(day)"), "updated_at": .string("2026-02-1\(day)"),
        ])
    }

    private func randomQuery(_ random: inout SeededRandom) -> ListQuery {
        let sorts = [
            "", "created_at", "-created_at", "status", "-status", "total", "-total,status", "updated_at", "-id",
            "-synced_at",
            "status,synced_at",
        ]
        let filters: [[FilterCondition]] = [
            [], [.init(field: "status", comparison: .equal, values: ["open"])],
            [.init(field: "status", comparison: .equal, values: ["open", "ready", "open"])],
            [.init(field: "status", comparison: .notEqual, values: ["open"])],
            [.init(field: "created_at", comparison: .null, values: ["false"])],
            [.init(field: "created_at", comparison: .null, values: ["true"])],
            [.init(field: "created_at", comparison: .notEqual, values: ["2026-01-14"])],
            [.init(field: "created_at", comparison: .atLeast, values: ["2026-01-14"])],
            [.init(field: "updated_at", comparison: .less, values: ["2026-02-16"])],
            [.init(field: "total", comparison: .equal, values: ["5", "5.0", "12.5"])],
            [.init(field: "id", comparison: .greater, values: ["k3"])],
        ]
        let sort = sorts.randomElement(using: &random) ?? ""
        return ListQuery(
            entity: "orders", filters: filters.randomElement(using: &random) ?? [],
            sort: sort.split(separator: ",").map { SortTerm(text: String($0)) },
            limit: Int.random(in: 1...9, using: &random))
    }

    @Test("a filtered list matches a check of every record")
    func filtersAgree() async throws {
        var random = SeededRandom()
        let cache = try TestCache()
        _ = try await cache.pull("orders", JSONText.array((0..<60).map { record("k\($0)", &random) }).text)
        let all = try JSONText(cache.store.list(ListQuery(entity: "orders", limit: 1000)).records).elements
        for comparison in PendingQuery.comparisons where comparison != .null {
            for sort in ["", "status", "-status", "-total", "id"] {
                let terms = sort.isEmpty ? [] : [SortTerm(text: sort)]
                let filter = FilterCondition(field: "status", comparison: comparison, values: ["open"])
                let found = try cache.keys(ListQuery(entity: "orders", filters: [filter], sort: terms, limit: 1000))
                let expected = all.filter { record in
                    let status = record["status"]?.string ?? ""
                    return switch comparison {
                    case .equal: status == "open"
                    case .notEqual: status != "open"
                    case .less: status < "open"
                    case .atMost: status <= "open"
                    case .greater: status > "open"
                    default: status >= "open"
                    }
                }
                #expect(
                    found.sorted() == expected.compactMap { $0["id"]?.string }.sorted(),
                    "\(comparison) \(sort), \(TestRun.note())")
            }
        }
    }
}
