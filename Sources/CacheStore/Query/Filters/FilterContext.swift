internal import EntitySchema
internal import GRDB
internal import GRDBSQLite
internal import JSONText
internal import SQLiteStore
internal import SchemaDrift

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

    /// The text of a sealed field's value as it is stored: the same value always gives the same text.
    func sealed(_ text: String, of field: Field, in entity: Entity) throws(CacheError) -> String {
        guard sealers[entity.name].opens else { return text }
        do {
            return try sealers[entity.name].seal(JSONText(text, as: field), of: field.name).string ?? text
        } catch {
            throw .failed("\(entity.name).\(field.name) cannot be compared: \(error)")
        }
    }

    /// Checks a value of a field with an enum: the schema lists it, or the upstream was seen to send it.
    func requireKnown(
        _ text: String, among values: [Field.EnumValue], of field: Field, in entity: Entity, for name: String
    )
        throws(CacheError)
    {
        if values.contains(where: { $0.value == text }) { return }
        if try hasDrifted(to: text, field.name, entity.name) { return }
        let known = values.map(\.value)
        let near = Suggestion.hint(for: text, among: known, else: ".")
        let value = text.isEmpty ? "empty value" : "value \(text.prefix(50))"
        throw .badQuery(
            field: name, message: "\(field.name) has no \(value)\(near) It has \(known.joined(separator: ", "))")
    }

    /// Whether drift was counted that may be this value: long values are counted by their beginning, and beyond a number
    /// all together; other types than text only by type.
    private func hasDrifted(to text: String, _ field: String, _ entity: String) throws(CacheError) -> Bool {
        let sql = """
            SELECT 1 FROM sync_drift WHERE entity = ? AND field = ?
              AND (kind = 'type' OR kind = 'value' AND found IN (?, ?, '\(Drift.others)')) LIMIT 1
            """
        let arguments = [entity, field, text, DriftTally.cut(text)].map(\.databaseValue)
        do {
            return try readers.read { try $0.first(sql, arguments) { _ in true } ?? false }
        } catch let error as CacheError {
            throw error
        } catch {
            throw .failed("\(error)")
        }
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
