package import EntitySchema
package import JSONText

/// Whether what a look-up compares tells a new record from others.
extension OutboxChange {
    /// False if many records have what was sent in these fields: states, choices, references, defaults of the schema, and
    /// nothing at all.
    package func isTold(by fields: [String], of entity: Entity) -> Bool {
        fields.contains { isTelling($0, of: entity) }
    }

    private func isTelling(_ name: String, of entity: Entity) -> Bool {
        guard let value = body[name], !entity.isNothing(value, of: name) else { return false }
        guard let field = entity[field: name], name != entity.key else { return true }
        switch field.kind {
        case .enum, .boolean, .reference: return false
        case .object, .list: return !value.members.isEmpty || !value.elements.isEmpty
        case .string, .integer, .number, .money, .time, .date: return field.initial?.value != .value(value)
        }
    }

    /// Whether a field is among the values at a place as it was sent. A field that was not sent, and a record without that place,
    /// say nothing: true.
    package func mayHave(_ name: String, among shown: JSONText?, of entity: Entity) -> Bool {
        guard let sent = body[name], !entity.isNothing(sent, of: name), let shown else { return true }
        let values = shown.kind == .array ? shown.elements : [shown]
        return values.contains { meaning.newForms(from: sent, to: $0, of: name) != nil }
    }

    /// Whether a record also has what was sent beside the fields of a look-up. What it does not show says nothing if a value
    /// was sent in each of these.
    package func isSaid(by record: JSONText, of entity: Entity, beside fields: [String]) -> Bool {
        let isWhole = fields.allSatisfy { name in body[name].map { !entity.isNothing($0, of: name) } ?? false }
        return body.members.allSatisfy { name, sent in
            if name == entity.key || fields.contains(name) || entity.isNothing(sent, of: name) { return true }
            guard entity.value(of: name, in: record) != nil else { return isWhole || !isTelling(name, of: entity) }
            return isForm(of: name, in: record, entity)
        }
    }
}
