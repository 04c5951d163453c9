internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore
internal import SchemaDrift

/// Converts what a caller compares a field with to the values that its column holds.
struct FilterValues {
    let table: EntityTable
    let context: FilterContext
    let field: Field
    let comparison: FilterComparison

    /// Each value once. Of whole values, one outside an enum is a mistake.
    func all() throws(CacheError) -> [DatabaseValue] {
        var values: [DatabaseValue] = []
        var seen: Set<DatabaseValue> = []
        var seenTexts: Set<ExactText> = []
        for text in comparison.values {
            let value = try value(text)
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

    private func value(_ text: String) throws(CacheError) -> DatabaseValue {
        if field.sealed { return try sealed(text).databaseValue }
        switch field.kind {
        case .integer, .number, .money:
            guard let number = Self.number(text) else { throw expected("a number", text) }
            return number
        case .boolean:
            guard let value = ["true": 1, "false": 0][text] else {
                throw comparison.refusal(BooleanText.expectation(text))
            }
            return value.databaseValue
        case .time:
            guard let time = Timestamp(written: text) else {
                throw expected("a time such as 2026-11-21 or 2026-11-21T10:42:00Z", text)
            }
            return table.isTimeColumn(field) ? time.milliseconds.databaseValue : time.description.databaseValue
        case .date:
            guard Timestamp.isDay(text) else { throw expected("a day such as 2026-11-25", text) }
            return text.databaseValue
        case .enum(let known):
            if comparison.operation.isOfWholeValues { try requireKnown(text, among: known.map(\.value)) }
            return text.databaseValue
        case .string, .reference, .object, .list: return text.databaseValue
        }
    }

    private func expected(_ what: String, _ text: String) -> CacheError {
        comparison.refusal("expected \(what), got \(text.isEmpty ? "nothing" : String(text.prefix(100)))")
    }

    // MARK: Sealed values and enums

    /// Why a sealed field cannot be compared.
    static let sealedRefusal = "this field is sealed, so only whole values of it can be compared"

    /// The text of a sealed field's value as it is stored: the same value always gives the same text.
    private func sealed(_ text: String) throws(CacheError) -> String {
        let sealer = context.sealers[table.entity.name]
        guard sealer.opens else { return text }
        do {
            return try sealer.seal(JSONText(text, as: field), of: field.name).string ?? text
        } catch {
            throw .failed("\(table.entity.name).\(field.name) cannot be compared: \(error)")
        }
    }

    /// Checks a value of a field with an enum: the schema lists it, or the upstream was seen to send it.
    private func requireKnown(_ text: String, among known: [String]) throws(CacheError) {
        if known.contains(text) { return }
        if try hasDrifted(to: text) { return }
        let near = Suggestion.hint(for: text, among: known, else: ".")
        let value = text.isEmpty ? "empty value" : "value \(text.prefix(50))"
        throw comparison.refusal("\(field.name) has no \(value)\(near) It has \(known.joined(separator: ", "))")
    }

    /// Whether drift was counted that may be this value: long values are counted by their beginning, and beyond a number
    /// all together; other types than text only by type.
    private func hasDrifted(to text: String) throws(CacheError) -> Bool {
        let sql = """
            SELECT 1 FROM sync_drift WHERE entity = ? AND field = ?
              AND (kind = 'type' OR kind = 'value' AND found IN (?, ?, '\(Drift.others)')) LIMIT 1
            """
        let arguments = [table.entity.name, field.name, text, DriftTally.cut(text)].map(\.databaseValue)
        do {
            return try context.readers.read { try $0.first(sql, arguments) { _ in true } ?? false }
        } catch let error as CacheError {
            throw error
        } catch {
            throw .failed("\(error)")
        }
    }

    // MARK: Parts

    /// A parameter for each of these values.
    static func placeholders(_ values: [some Any]) -> String { values.map { _ in "?" }.joined(separator: ", ") }

    /// True or false as the caller writes it after `.null`.
    static func flag(of comparison: FilterComparison) throws(CacheError) -> Bool {
        guard let flag = ["true": true, "false": false][comparison.value] else {
            throw .badQuery(
                field: "\(comparison.parameter).null", message: BooleanText.expectation(comparison.value))
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

/// What a list's conditions are compiled with, besides the entity's table.
///
/// A class only because each step of making a list copies what holds it.
final class FilterContext: Sendable {
    let schema: EntitySchema
    let sealers: RecordSealers
    let readers: ReaderPool

    init(schema: EntitySchema, sealers: RecordSealers, readers: ReaderPool) {
        self.schema = schema
        self.sealers = sealers
        self.readers = readers
    }
}

extension JSONText {
    /// The caller's text as a value of the field.
    fileprivate init(_ text: String, as field: Field) {
        switch field.kind {
        case .integer, .number, .money, .boolean: self = (try? JSONText(parsing: text)) ?? .string(text)
        default: self = .string(text)
        }
    }
}
