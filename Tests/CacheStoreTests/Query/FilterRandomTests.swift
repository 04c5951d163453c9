import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

/// Compares filters on texts with a plain reading of all records, whatever the search index has indexed so far.
@Suite("Random filters on texts")
struct FilterRandomTests {
    private static let pieces = [
        "ada", "Ada", "SMITH", "smi", "é", "e\u{301}", "É", "ß", "İ", "日本", "ж", "'", "\"", "*", "^", "(", " ", "  ",
        "\t", "-", ".",
        "_", "%", "\\", "7", "900", "+44", "\u{00A0}", "OR", "NEAR", "🙂", "a", "Z",
    ]

    private func text(_ random: inout SeededRandom, _ most: Int) -> String {
        (0..<(1 + random.below(most))).map { _ in Self.pieces[random.below(Self.pieces.count)] }.joined()
    }

    /// Whether LIKE would find it: character by character, A to Z in either case.
    private func matches(_ value: String, _ text: String, _ operation: FilterComparison.Operation) -> Bool {
        let (value, text) = (folded(value), folded(text))
        if operation == .starts { return value.starts(with: text) }
        return value.count >= text.count
            && (0...(value.count - text.count)).contains { value[$0...].starts(with: text) }
    }

    private func folded(_ text: String) -> [UInt32] {
        text.unicodeScalars.map { (65...90).contains($0.value) ? $0.value + 32 : $0.value }
    }

    @Test("beginnings and parts are found exactly, before and after the search index knows the records")
    func exact() async throws {
        var random = SeededRandom()
        let cache = try TestCache(schema: FilterShop.schema)
        var values: [String: [String: String]] = [:]
        for round in 0..<(TestRun.isFull ? 40 : 8) {
            var records: [JSONText] = []
            for _ in 0..<20 {
                let id = "k\(random.below(60))"
                let fields = Dictionary(
                    uniqueKeysWithValues: ["name", "phone", "notes", "email"].map { ($0, text(&random, 5)) })
                values[id] = fields
                records.append(.object(members: [("id", .string(id))] + fields.map { ($0.key, .string($0.value)) }))
            }
            _ = try await cache.pull("clients", JSONText.array(records).text)
            if round % 2 == 1 { try await cache.store.catchUpSearch() }
            for _ in 0..<60 {
                let operation: FilterComparison.Operation = random.below(2) == 0 ? .starts : .contains
                let field = ["name", "phone", "notes", "email", "id"][random.below(5)]
                let some = values.randomElement(using: &random)?.value[field] ?? "K1"
                let wanted = random.below(2) == 0 ? text(&random, 3) : part(of: some, operation, &random)
                let expected = values.filter {
                    matches(field == "id" ? $0.key : $0.value[field] ?? "", wanted, operation)
                }
                let found = try cache.keys("clients", where: .test(field, operation, wanted))
                #expect(
                    found == expected.keys.sorted().joined(separator: " "),
                    "\(field) \(operation) \(wanted.debugDescription) \(TestRun.note())")
            }
        }
    }

    /// A part of the value, some letters of it in the other case.
    private func part(of value: String, _ operation: FilterComparison.Operation, _ random: inout SeededRandom) -> String
    {
        let scalars = Array(value.unicodeScalars)
        let start = operation == .starts ? 0 : random.below(scalars.count)
        let end = start + 1 + random.below(scalars.count - start)
        let text = String(String.UnicodeScalarView(scalars[start..<end]))
        return String(
            text.map { letter in
                guard letter.isASCII, random.below(3) == 0 else { return letter }
                return Character(letter.isUppercase ? letter.lowercased() : letter.uppercased())
            })
    }
}
