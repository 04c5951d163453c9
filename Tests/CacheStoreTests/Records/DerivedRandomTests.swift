import EntitySchema
import Foundation
import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

/// Runs random operations on a small chat and compares every derived value with one computed from all records, after
/// each step. A failure reports the seed and step that reproduce it.
@Suite("Derived values against a full recomputation")
struct DerivedRandomTests {
    @Test("after any operation both are the same", arguments: TestRun.seeds(3, full: 12))
    func same(_ seed: UInt64) async throws {
        var day = ChatDay(seed: seed, cache: try TestCache(schema: DerivedFieldSchema.yaml))
        for step in 0..<60 {
            try await day.act()
            #expect(
                try day.cache.store.inconsistencies() == [], "\(TestRun.note(seed)), step \(step), after \(day.last)")
            let model = try ChatModel(day.cache)
            let (found, expected) = (model.found, model.expected)
            #expect(found == expected, "\(TestRun.note(seed)), step \(step), after \(day.last)")
        }
    }
}

/// All records, with their derived values computed naively.
private struct ChatModel {
    private struct Line {
        var remote: JSONText?
        /// Nil if readers do not see it.
        var document: JSONText?
    }

    private static let fields = ["line_count", "failed_count", "cost", "last_text"]

    /// The values of each talk, field by field.
    var found: [String: [String]] = [:]
    var expected: [String: [String]] = [:]

    init(_ cache: TestCache) throws {
        let lines = try Self.rows("lines", cache).map {
            Line(remote: $0.remote, document: $0.deleted ? nil : $0.document)
        }
        for talk in try Self.rows("talks", cache) {
            found[talk.key] = Self.fields.map { talk.document[$0]?.text ?? "null" }
            let there = lines.compactMap { line in
                line.remote.flatMap { $0["talk_id"]?.string == talk.key ? (line, $0) : nil }
            }
            let here = lines.compactMap { line in
                line.document.flatMap { $0["talk_id"]?.string == talk.key ? (line, $0) : nil }
            }
            func base(_ field: String) -> JSONText? { talk.remote?[field] }
            let failed = { (lines: [(Line, JSONText)]) in
                // Fields that follow the queue use what readers see on either side.
                lines.filter { ($0.0.document ?? $0.1)["state"]?.string == "failed" }.count
            }
            let cost = base("cost").flatMap { Amount(json: $0.text) }
            let (costHere, costThere) = (Self.cost(here.map(\.1)), Self.cost(there.map(\.1)))
            expected[talk.key] = [
                String((base("line_count")?.integer).map { max(0, $0 + here.count - there.count) } ?? here.count),
                String(failed(here)),
                cost.map {
                    $0.json.text == base("cost")?.text && costHere.billionths == costThere.billionths
                        ? $0.json.text : ($0 + costHere - costThere).json.text
                } ?? costHere.written(with: 2).json.text,
                Self.latest(here.map(\.1)),
            ]
        }
    }

    private static func rows(
        _ entity: String, _ cache: TestCache
    ) throws -> [(key: String, remote: JSONText?, document: JSONText, deleted: Bool)] {
        try cache.store.pool.read { db in
            try Row.fetchAll(
                db,
                sql: "SELECT _key, _remote, coalesce(_document, _remote), _deleted FROM records_\(entity) ORDER BY _pk")
        }.map { row in
            (row[0], try (row[1] as String?).map { try JSONText(parsing: $0) }, try JSONText(parsing: row[2]), row[3])
        }
    }

    private static func cost(_ lines: [JSONText]) -> Amount {
        lines.reduce(.zero) { sum, line in
            ["free", "gift"].contains(line["kind"]?.string ?? "")
                ? sum : sum + (line["cost"].flatMap { Amount(json: $0.text) } ?? .zero)
        }
    }

    /// The lines are in order of arrival, which breaks ties between equal times.
    private static func latest(_ lines: [JSONText]) -> String {
        var latest: (at: String, text: String)?
        for line in lines {
            guard let at = line["at"]?.string, at >= latest?.at ?? "" else { continue }
            latest = (at, line["text"]?.text ?? "null")
        }
        return latest?.text ?? "null"
    }
}

/// Runs random operations.
private struct ChatDay {
    private var choice: SeededRandom
    /// Every kind of operation comes up in each round of fourteen steps.
    private var operations: Deck<Int>
    var cache: TestCache
    var last = ""
    private var made = 0
    private let now = TestCache.now

    init(seed: UInt64, cache: TestCache) {
        choice = SeededRandom(seed: seed)
        operations = Deck(Array(0..<14), seed: seed)
        self.cache = cache
    }

    private mutating func below(_ bound: Int) -> Int { choice.below(bound) }

    private mutating func one(of keys: [String]) -> String? { keys.isEmpty ? nil : keys[below(keys.count)] }

    mutating func act() async throws {
        switch operations.draw() {
        case 0...1: try await pullTalks()
        case 2...4: try await pullLines()
        case 5...6: try await makeLine()
        case 7: try await editLine()
        case 8: try await delete(below(3) == 0 ? "talks" : "lines")
        case 9: try await discard()
        case 10...11: try await finish()
        case 12:
            last = "make talk"
            _ = try await cache.make("talks", "{}")
        default:
            last = "reopen"
            cache = try cache.reopened(schema: DerivedFieldSchema.yaml)
        }
    }

    // MARK: Server

    private mutating func pullTalks() async throws {
        let key = "t\(below(3))"
        last = "pull \(key)"
        switch below(8) {
        case 0: _ = try await cache.pull("talks", #"[{"id":"\#(key)","deleted_at":"2026-01-01"}]"#)
        case 1...4: _ = try await cache.pull("talks", #"[{"id":"\#(key)","n":\#(below(3))}]"#)
        default:
            _ = try await cache.pull("talks", #"[{"id":"\#(key)","line_count":\#(below(9)),"cost":\#(below(5)).25}]"#)
        }
    }

    private mutating func pullLines() async throws {
        let lines = (0...below(4)).map { _ in
            let key = below(3) == 0 ? one(of: (try? keys("lines")) ?? []) ?? "l0" : "l\(below(12))"
            return below(8) == 0 ? #"{"id":"\#(key)","deleted_at":"2026-01-01"}"# : #"{"id":"\#(key)",\#(fields())}"#
        }
        last = "pull \(lines)"
        _ = try await cache.pull("lines", "[\(lines.joined(separator: ","))]")
    }

    private mutating func fields() -> String {
        made += 1
        let kind = ["free", "paid", "gift"][below(3)]
        let talk = one(of: ((try? keys("talks")) ?? []) + ["t0", "t1"]) ?? "t0"
        return #""talk_id":"\#(talk)","text":"m\#(made)","kind":"\#(kind)","cost":\#(below(4)).\#(below(10)),"#
            + #""at":"2026-01-\#(10 + below(15))T00:00:00.000Z""#
    }

    // MARK: Local changes

    private mutating func makeLine() async throws {
        let fields = fields()
        last = "make \(fields)"
        // A line is also accepted for a talk that does not exist, or is being deleted.
        _ = try await cache.make("lines", "{\(fields)}")
    }

    private mutating func editLine() async throws {
        guard let key = one(of: try keys("lines")) else { return }
        let fields = fields()
        last = "edit \(key) \(fields)"
        try await cache.change("lines", key, "{\(fields)}")
    }

    private mutating func delete(_ entity: String) async throws {
        guard let key = one(of: try keys(entity)) else { return }
        last = "delete \(entity)/\(key)"
        do {
            try await cache.store.delete(entity, key: key, at: now)
        } catch CacheError.needed {}
    }

    private mutating func discard() async throws {
        let changes = try cache.store.pending(PendingQuery(limit: 100)).changes.compactMap { $0["id"]?.integer }
        guard !changes.isEmpty else { return }
        let id = Int64(changes[below(changes.count)])
        last = "discard \(id)"
        do {
            try await cache.store.discard(id, cascade: true, at: now)
        } catch CacheError.conflict {}
    }

    private mutating func finish() async throws {
        guard let change = try cache.store.readyChanges(limit: 1, at: now).first,
            try await cache.store.begin(change, at: now)
        else { return _ = try await cache.store.retry(nil, at: now) }
        let failure = PushFailure(.refused, status: 422, message: "no")
        let renamed = change.operation == .create && below(2) == 0
        let key = renamed ? "s\(made)-\(change.id)" : change.key
        let record = change.record.setting("id", to: .string(key))
        let outcome: PushOutcome =
            below(4) == 0
            ? .failed(failure) : .acknowledged(record: change.operation == .delete ? nil : sent(record, change.entity))
        last = "settle \(change.operation) \(change.entity)/\(change.key) as \(outcome)"
        try await cache.store.finish(change.id, outcome, at: now)
    }

    /// The server's answer: the record without its derived values.
    private func sent(_ record: JSONText, _ entity: String) -> JSONText {
        cache.store.schema[entity]?.withoutDerivedFields(record) ?? record
    }

    private func keys(_ entity: String) throws -> [String] {
        try cache.keys(ListQuery(entity: entity, limit: 1000)).sorted()
    }
}
