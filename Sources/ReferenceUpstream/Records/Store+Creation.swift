internal import EntitySchema
internal import JSONText

/// What the upstream gives a new record besides what was sent.
extension Store {
    /// Adds defaults, the next number of a field such as `order_number`, and the values of records that it refers to.
    mutating func completed(_ record: JSONText, _ entity: Entity) -> JSONText {
        var record = record
        for field in entity.fields where entity.value(of: field.name, in: record) ?? .null == .null {
            guard field.derivation == nil, let value = initial(field, record, entity) else { continue }
            record = record.setting((field.source ?? field.name).split(separator: ".")[...], to: value)
        }
        return record
    }

    private mutating func initial(_ field: Field, _ record: JSONText, _ entity: Entity) -> JSONText? {
        switch field.initial?.value {
        case .value(let value): return value
        case .text(let pattern): return pattern.text { text($0, record, entity) }.map { JSONText.string($0) }
        case .now: return nil
        case nil: break
        }
        guard field.kind == .integer, field.indexed, field.name.hasSuffix("_number") else { return nil }
        return .integer(nextNumber(field, entity))
    }

    private func text(_ name: String, _ record: JSONText, _ entity: Entity) -> String? {
        name == FieldDefault.accountName ? settings.accountName : value(of: name, in: record, entity)?.plain
    }

    /// A field of the record or, with a dot, of one that it refers to.
    func value(of name: String, in record: JSONText, _ entity: Entity) -> JSONText? {
        guard let far = entity.far(name) else { return entity.value(of: name, in: record) }
        guard let key = entity.value(of: far.reference, in: record)?.plain, let other = schema[far.entity] else {
            return nil
        }
        return self.record(other.name, key: key).flatMap { other.value(of: far.field, in: $0) }
    }

    private mutating func nextNumber(_ field: Field, _ entity: Entity) -> Int {
        let place = "\(entity.name).\(field.name)"
        let last =
            numbers[place]
            ?? (records(of: entity.name) ?? []).reduce(0) { greatest, record in
                max(greatest, entity.value(of: field.name, in: record).flatMap { Int($0.plain) } ?? 0)
            }
        numbers[place] = last + 1
        return last + 1
    }
}
