internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// Converts what callers write to the values that the columns of an entity hold.
struct FilterValues {
    let table: EntityTable
    let context: FilterContext

    /// The values that a comparison has for a field, each once. Of whole values, one outside an enum is a mistake.
    func values(of comparison: FilterComparison, _ field: Field) throws(CacheError) -> [DatabaseValue] {
        var values: [DatabaseValue] = []
        var seen: Set<DatabaseValue> = []
        var seenTexts: Set<ExactText> = []
        for text in comparison.values {
            let value = try value(
                text, of: field, named: comparison.parameter, isWhole: comparison.operation.isOfWholeValues)
            let isNew =
                if case .string(let text) = value.storage {
                    seenTexts.insert(text.exact).inserted
                } else {
                    seen.insert(value).inserted
                }
            if isNew { values.append(value) }
        }
        return values
    }

    private func value(
        _ text: String, of field: Field, named name: String, isWhole: Bool
    ) throws(CacheError) -> DatabaseValue {
        if field.sealed { return try context.sealed(text, of: field, in: table.entity).databaseValue }
        switch field.kind {
        case .integer, .number, .money:
            if let number = Self.number(text) { return number }
            throw .badQuery(field: name, message: "expected a number, got \(Self.shown(text))")
        case .boolean:
            guard let value = ["true": 1, "false": 0][text] else {
                throw .badQuery(field: name, message: BooleanText.expectation(text))
            }
            return value.databaseValue
        case .time:
            guard let time = Timestamp(written: text) else {
                throw .badQuery(
                    field: name,
                    message: "expected a time such as 2026-11-21 or 2026-11-21T10:42:00Z, got \(Self.shown(text))")
            }
            return table.isTimeColumn(field) ? time.milliseconds.databaseValue : time.description.databaseValue
        case .date:
            guard Timestamp.isDay(text) else {
                throw .badQuery(
                    field: name, message: "expected a day such as 2026-11-25, got \(Self.shown(text))")
            }
            return text.databaseValue
        case .enum(let known):
            if isWhole { try context.requireKnown(text, among: known, of: field, in: table.entity, for: name) }
            return text.databaseValue
        case .string, .reference, .object, .list: return text.databaseValue
        }
    }

    /// Why a sealed field cannot be compared.
    static let sealedRefusal = "this field is sealed, so only whole values of it can be compared"

    /// A parameter for each of these values.
    static func placeholders(_ values: [some Any]) -> String { values.map { _ in "?" }.joined(separator: ", ") }

    /// A value that cannot be used, for a message.
    private static func shown(_ text: String) -> String { text.isEmpty ? "nothing" : String(text.prefix(100)) }

    /// True or false as the caller writes it after `.null`.
    static func flag(_ text: String, named name: String) throws(CacheError) -> Bool {
        guard let flag = ["true": true, "false": false][text] else {
            throw .badQuery(field: "\(name).null", message: BooleanText.expectation(text))
        }
        return flag
    }

    /// A JSON number; a whole one becomes an integer, however it is written, so that each number has one value.
    static func number(_ text: String) -> DatabaseValue? {
        guard (try? JSONText(parsing: text))?.kind == .number else { return nil }
        if let value = Int64(text) { return value.databaseValue }
        guard let value = Double(text), value.isFinite else { return nil }
        return Int64(exactly: value).map(\.databaseValue) ?? value.databaseValue
    }
}
