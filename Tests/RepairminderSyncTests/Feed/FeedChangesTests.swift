import EntitySchema
import JSONText
import LocalAPI
import Testing

@testable import repairminder_sync

@Suite struct FeedChangesTests {
    private static func entry(_ kind: String, _ id: String, at second: Int, _ more: JSONText = .object([:])) -> JSONText
    {
        JSONText.object([
            "kind": .string(kind), "entity": "orders", "id": .string(id),
            "at": .string("2026-11-21T10:42:0\(second).000Z"),
        ]).setting(more)
    }

    private static func time(_ second: Int) -> Timestamp? { Timestamp(iso8601: "2026-11-21T10:42:0\(second).000Z") }

    @Test("each record counts once, with the time of its last entry, and a renamed one under both keys")
    func records() throws {
        let now = try #require(Self.time(9))
        let changes = FeedChanges(
            [
                Self.entry("queued", "a", at: 1), Self.entry("upserted", "b", at: 2), Self.entry("failed", "a", at: 3),
                Self.entry("renamed", "c", at: 4, .object(["old_id": "b"])), Self.entry("reminder", "d", at: 5),
            ], now: now)
        #expect(changes.entities == ["orders"])
        let times = try #require(changes.times["orders"])
        #expect(times == ["a": Self.time(3), "b": Self.time(4), "c": Self.time(4)].compactMapValues { $0 })
    }

    @Test("keys that look the same, in other bytes, are those of two records")
    func equivalentKeys() throws {
        let now = try #require(Self.time(9))
        let (composed, apart) = ("\u{E9}", "e\u{301}")
        let changes = FeedChanges(
            [Self.entry("upserted", composed, at: 1), Self.entry("upserted", apart, at: 2)], now: now)
        #expect(changes.times["orders"]?.count == 2)
        let entity = try #require(FeedEntity(try JSONText(parsing: #"{"name": "orders", "key": "id"}"#)))
        var rows = FeedRows()
        for id in [composed, apart] { rows.add(.object(["id": .string(id)]), of: entity, at: now) }
        #expect(rows.count == 2)
    }

    @Test("a record that is added twice is written once, as it was the second time")
    func rows() throws {
        let entity = try #require(FeedEntity(try JSONText(parsing: #"{"name": "orders", "key": "id"}"#)))
        let time = try #require(Self.time(1))
        var rows = FeedRows()
        rows.add(.object(["id": "a", "n": 1]), of: entity, at: time)
        rows.add(.object(["id": "b"]), of: entity, at: time)
        rows.add(.object(["id": "a", "n": 2, "_sync": .object([:])]), of: entity, at: time)
        let parameters = rows.parameters(instance: "o'x", FeedTable.new(entity, keepsHistory: false))
        let texts = parameters.map { String(decoding: $0 ?? [], as: UTF8.self) }
        #expect(
            texts == [
                "o'x", #"{"a","b"}"#, #"{"2026-11-21T10:42:01.000Z","2026-11-21T10:42:01.000Z"}"#,
                #"{"{\"id\":\"a\",\"n\":2}","{\"id\":\"b\"}"}"#,
            ])
    }

    @Test("keys are quoted in a filter, and many of them make several requests")
    func filters() {
        #expect(FeedSource.filters([]).isEmpty)
        #expect(FeedSource.filters(["a", "b,c", "d\"e\\", "(f)"]) == [#"("a","b,c","d\"e\\","(f)")"#])
        let keys = (0..<1000).map { "ord_\(10000 + $0)" }
        let filters = FeedSource.filters(keys)
        #expect(filters.count > 1 && filters.allSatisfy { $0.utf8.count <= 2000 })
        #expect(filters.joined().split(separator: "ord_").count == 1001)
        let long = String(repeating: "\u{1F600}", count: 498)
        #expect(FeedSource.filters([long, long]).count == 2)
    }

    @Test("a label of a metric is read with its escapes")
    func labels() {
        let line = #"repairminder_sync_info{instance="till \"2\" \\",site="a\nb",schema_hash="3f9c"} 1"#
        #expect(FeedSource.label("instance", line) == "till \"2\" \\")
        #expect(FeedSource.label("site", line) == "a\nb")
        #expect(FeedSource.label("schema_hash", line) == "3f9c")
        #expect(FeedSource.label("other", line).isEmpty)
    }
}
