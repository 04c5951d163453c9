import EntitySchema
import JSONText
import SQLiteStore
import SchemaDrift
import TestSupport
import Testing

@testable import CacheStore

@Suite("Fields that are days")
struct DateFieldTests {
    private static func schema(_ wire: String, where window: String = "") -> String {
        """
        schema: jobs
        upstream: { base_url: http://localhost }
        entities:
          visits:
            fields:
              id: { type: string }
              day: { type: date, index: true\(wire) }
              other: { type: date\(wire) }
            pull: { path: /visits\(window) }
            push: { create: { call: POST /visits }, update: { call: "PATCH /visits/{id}" } }
        """
    }

    private static let forms: [(String, [String])] = [
        ("", [#""2026-11-24""#, #""2026-11-25""#, #""2026-11-26""#]),
        (
            ", wire: iso",
            [#""2026-11-24T00:00:00.000Z""#, #""2026-11-25T00:00:00+02:00""#, #""2026-11-26T00:00:00Z""#]
        ), (", wire: epoch", ["1795478400", "1795564800", "1795651200"]),
        (", wire: dd.MM.yyyy", [#""24.11.2026""#, #""25.11.2026""#, #""26.11.2026""#]),
        (", wire: 'yyyy-MM-dd HH:mm'", [#""2026-11-24 00:00""#, #""2026-11-25 00:00""#, #""2026-11-26 00:00""#]),
        (", wire: epoch_ms", ["1795478400000", "1795564800000", "1795651200000"]),
    ]

    private func cache(_ wire: String, _ days: [String]) async throws -> TestCache {
        let cache = try TestCache(schema: Self.schema(wire))
        let records = zip(["a", "b", "c"], days).map { #"{"id":"\#($0)","day":\#($1),"other":\#($1)}"# }
        _ = try await cache.pull("visits", "[\(records.joined(separator: ","))]")
        return cache
    }

    @Test("are filtered and sorted by the day, however the upstream writes it", arguments: forms)
    func filters(_ wire: String, _ days: [String]) async throws {
        let cache = try await cache(wire, days)
        for field in ["day", "other"] {
            func keys(_ comparison: FilterComparison.Operation, _ values: String...) throws -> [String] {
                try cache.keys(
                    ListQuery(
                        entity: "visits", filters: [.init(field: field, comparison: comparison, values: values)],
                        sort: [SortTerm(text: "-\(field)")]))
            }
            #expect(try keys(.equal, "2026-11-25") == ["b"])
            #expect(try keys(.equal, "2026-11-24", "2026-11-26") == ["c", "a"])
            #expect(try keys(.atLeast, "2026-11-25") == ["c", "b"])
            #expect(try keys(.less, "2026-11-25") == ["a"])
        }
    }

    @Test(
        "a filter by what is no day is refused", arguments: ["2026-02-30", "25.11.2026", "2026-11-25T10:00:00Z", "x"])
    func badFilter(_ text: String) async throws {
        let cache = try await cache("", Self.forms[0].1)
        let query = ListQuery(entity: "visits", filters: [.init(field: "day", comparison: .equal, values: [text])])
        #expect(throws: CacheError.self) { try cache.keys(query) }
    }

    @Test("a local write gives a day, and is sent as the upstream writes it", arguments: forms)
    func writes(_ wire: String, _ days: [String]) async throws {
        let cache = try await cache(wire, days)
        try await cache.store.update("visits", key: "a", body: .object(["day": "2026-11-26"]), at: TestCache.now)
        #expect(try cache.keys(ListQuery(entity: "visits", sort: [SortTerm(text: "day")])) == ["b", "a", "c"])
        let change = try #require(try cache.store.readyChanges(limit: 1, at: TestCache.now).first)
        let entity = try #require(cache.store.schema["visits"])
        let sent = try #require(change.request(of: entity)?.body?["day"])
        #expect(entity[field: "day"].map { $0.meant(sent) } == "2026-11-26")
        #expect(sent.kind == (wire.contains("epoch") ? .number : .string))
        for bad: JSONText in ["2026-11-31", "soon", true] {
            await #expect(throws: (any Error).self) {
                try await cache.store.update("visits", key: "a", body: .object(["day": bad]), at: TestCache.now)
            }
        }
    }

    @Test("what is no day is stored, and reported as drift")
    func drift() async throws {
        let cache = try await cache("", [#""2026-11-24""#, #""25/11/2026""#, "20261126"])
        let drift = try cache.store.drift().filter { $0.kind == .type }
        #expect(Set(drift.map(\.field)) == ["day", "other"])
        #expect(drift.allSatisfy { $0.expected == "date" }, "\(drift)")
        #expect(try cache.record("visits", "b")?["day"] == "25/11/2026")
    }

    @Test("a window keeps what is not older than a day")
    func window() throws {
        let window = #", where: { day.gte: "{$now-90d:date}" }"#
        let entity = try #require(try EntitySchema(yaml: Self.schema("", where: window), file: "jobs.yaml")["visits"])
        let test = try #require(
            entity.pull?.window?.test(
                at: Timestamp(iso8601: "2026-11-25T20:00:00Z") ?? TestCache.now, account: nil))
        #expect(test.holds { _ in "2026-08-27" })
        #expect(!test.holds { _ in "2026-08-26" })
    }
}
