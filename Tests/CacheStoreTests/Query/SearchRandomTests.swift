import EntitySchema
import Foundation
import JSONText
import TestSupport
import Testing

@testable import CacheStore

/// Runs random operations on a small shop and compares each search with a scan of all records.
@Suite("The search index against a scan of all records")
struct SearchRandomTests {
    @Test("after any operations both find the same", arguments: TestRun.seeds(2, full: 12))
    func same(_ seed: UInt64) async throws {
        var day = RandomDay(seed: seed, cache: try TestCache(schema: SearchShop.schema))
        for step in 0..<(TestRun.isFull ? 60 : 36) {
            try await day.act()
            #expect(try day.cache.store.inconsistencies() == [], "\(TestRun.note(seed)), step \(step)")
            guard step % 6 == 5 else { continue }
            try await day.cache.store.completeSearch()
            try await day.cache.requireInStep()
            for _ in 0..<8 {
                let text = day.query()
                // Fewer than two letters are refused.
                guard (try? SearchQuery(text)) != nil else { continue }
                let found = try await day.cache.found(text)
                #expect(found == (try day.naive(text)), "\(TestRun.note(seed)), step \(step), q=\(text)")
                let hits = try await day.cache.hits(text, in: ["clients"], limit: 1000).map(\.key).sorted()
                #expect(hits == found, "\(TestRun.note(seed)), step \(step), q=\(text)")
            }
        }
    }
}

private struct RandomDay {
    private var choice: SeededRandom
    /// Every kind of operation comes up in each round of twelve steps.
    private var operations: Deck<Int>
    var cache: TestCache
    private let now = TestCache.now

    private static let words = [
        "Zoë", "zoe", "Smith", "smithers", "Ün", "unter", "O'Brien", "brien", "gold", "ab", "12a", "Åsa",
    ]
    private static let numbers = ["+44 7700 900-123", "0770 0900", "12a-b3", "(020) 7946", "gold"]

    init(seed: UInt64, cache: TestCache) {
        choice = SeededRandom(seed: seed)
        operations = Deck(Array(0..<12), seed: seed)
        self.cache = cache
    }

    private mutating func below(_ bound: Int) -> Int { choice.below(bound) }

    private mutating func phrase(_ most: Int) -> String {
        (0..<(1 + below(most))).map { _ in Self.words[below(Self.words.count)] }.joined(separator: " ")
    }

    private mutating func fields() -> [(key: String, value: JSONText)] {
        var fields: [(key: String, value: JSONText)] = [("name", .string(phrase(2)))]
        if below(2) == 0 { fields.append(("notes", below(4) == 0 ? .null : .string(phrase(5)))) }
        if below(2) == 0 { fields.append(("phone", .string(Self.numbers[below(Self.numbers.count)]))) }
        return fields
    }

    // MARK: Operations

    mutating func act() async throws {
        switch operations.draw() {
        case 0...2: try await pull(1 + below(6))
        case 3: try await pull(130)
        case 4: _ = try await cache.pull("clients", #"[{"id":"k\#(below(12))","deleted_at":"2026-01-01"}]"#)
        case 5...6: try await update()
        case 7: _ = try await cache.store.create("clients", body: .object(members: fields()), at: now)
        case 8:
            if let key = try keys().first { try await cache.store.delete("clients", key: key, at: now) }
        case 9: try await discard()
        case 10: try await finish()
        default: cache = try cache.reopened(schema: SearchShop.schema)
        }
    }

    private mutating func pull(_ count: Int) async throws {
        let records = (0..<count).map { index -> JSONText in
            let key = "k\(count > 100 ? 100 + index : below(12))"
            return .object(members: [(key: "id", value: .string(key))] + fields())
        }
        _ = try await cache.pull("clients", JSONText.array(records).text)
    }

    private mutating func update() async throws {
        let keys = try keys()
        guard !keys.isEmpty else { return }
        let key = keys[below(keys.count)]
        try await cache.store.update("clients", key: key, body: .object(members: fields()), at: now)
    }

    private mutating func discard() async throws {
        let changes = try cache.store.pending(PendingQuery(limit: 100)).changes
        guard !changes.isEmpty, let id = changes[below(changes.count)]["id"]?.integer else { return }
        try await cache.store.discard(Int64(id), cascade: true, at: now)
    }

    private mutating func finish() async throws {
        guard let change = try cache.store.readyChanges(limit: 1, at: now).first,
            try await cache.store.begin(change, at: now)
        else { return }
        let isCreation = change.operation == .create
        let record = isCreation ? change.record.setting("id", to: .string("s\(change.id)")) : change.record
        let outcome = PushOutcome.acknowledged(record: change.operation == .delete ? nil : record)
        try await cache.store.finish(change.id, outcome, at: now)
    }

    private func keys() throws -> [String] { try cache.keys(ListQuery(entity: "clients", limit: 1000)) }

    // MARK: Searches

    mutating func query() -> String {
        switch below(4) {
        case 0: return String(phrase(1).prefix(2 + below(4)))
        case 1: return phrase(2)
        case 2: return ["900123", "7700 9", "770", "12a", "2ab3", "gold", "0770 zoe"][below(7)]
        default: return phrase(1) + " " + ["900", "12a", "7700", "79"][below(4)]
        }
    }

    /// The expected result, computed without the index.
    func naive(_ text: String) throws -> [String] {
        let words = text.split(separator: " ").map(String.init)
        let records = try JSONText(cache.store.list(ListQuery(entity: "clients", limit: 1000)).records).elements
        return records.filter { record in
            let texts = ["name", "notes"].compactMap { record[$0]?.string.map(Self.tokens) }
            let bare = Self.bare(record["phone"]?.string ?? "")
            let whole = Self.bare(words.joined())
            if whole.count > 2, bare.contains(whole) { return true }
            return words.enumerated().allSatisfy { index, word in
                let part = Self.bare(word)
                if word.contains(where: \.isNumber), part.count > 2, words.count > 1, bare.contains(part) {
                    return true
                }
                return texts.contains { Self.has($0, Self.tokens(word), prefix: index == words.count - 1) }
            }
        }.compactMap { $0["id"]?.string }.sorted()
    }

    private static func tokens(_ text: String) -> [String] {
        text.folding(options: [.diacriticInsensitive, .caseInsensitive], locale: nil).lowercased()
            .split { !$0.isLetter && !$0.isNumber }.map(String.init)
    }

    private static func has(_ text: [String], _ phrase: [String], prefix: Bool) -> Bool {
        guard let last = phrase.last, text.count >= phrase.count else { return false }
        let isPrefix = prefix && last.count > 1
        return (0...(text.count - phrase.count)).contains { start in
            let part = text[start..<(start + phrase.count)]
            return Array(part.dropLast()) == phrase.dropLast()
                && (isPrefix ? part.last?.hasPrefix(last) == true : part.last == last)
        }
    }

    private static func bare(_ text: String) -> String {
        text.lowercased().filter { $0.isLetter || $0.isNumber || $0 == "'" }
    }
}
