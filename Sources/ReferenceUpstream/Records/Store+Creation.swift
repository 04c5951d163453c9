internal import EntitySchema
internal import JSONText

/// What the upstream gives a new record besides what was sent.
extension Store {
    /// Adds defaults, the next number of a field such as `order_number`, and the values of records that it refers to.
    mutating func completed(_ record: JSONText, _ entity: Entity) -> JSONText {
        var record = record
        for field in entity.fields where entity.value(of: field.name, in: record) ?? .null == .null {
            guard field.derivation == nil, let value = initial(field, record, entity) else { continue }
            record = record.setting(JSONPath.steps(field.source ?? field.name)[...], to: value)
        }
        return record
    }

    /// Keeps the content that a new record came with; returns the record as it is then.
    mutating func keep(
        _ content: Content, of record: JSONText, in entity: Entity, at now: Timestamp
    ) throws(Refusal) -> JSONText {
        let key = record[entity.key]?.plain ?? ""
        contents[entity.name, default: [:]][key] = content
        var changes = JSONText.object([:])
        if let field = entity.content?.address {
            let path = entity.content?.upload?.path.source ?? (entity.pull?.single.path.source).map { "\($0)/content" }
            let address = path.flatMap { Template($0) }.flatMap { entity.path($0, of: record) }
            changes = changes.setting(field, to: .string(address))
        }
        if let field = entity.content?.state {
            changes = changes.setting(field, to: .string(ContentState.uploaded.rawValue))
        }
        return changes.members.isEmpty ? record : try update(entity, key: key, with: changes, at: now)
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
