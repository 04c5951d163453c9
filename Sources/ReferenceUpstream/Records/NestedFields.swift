internal import EntitySchema
internal import JSONText

/// Writes fields into a record where the upstream keeps them: a field that the schema reads from inside an object is
/// written there.
///
/// An `id` identifies the object around it, so writing it replaces the whole object.
struct NestedFields {
    let entity: Entity
    /// The record of an entity with a key.
    let referred: (_ entity: String, _ key: String) -> JSONText?
    /// Any record of this entity with the same value in the field.
    let like: (_ field: String, _ value: String) -> JSONText?

    func applying(_ fields: JSONText, over record: JSONText) -> JSONText {
        fields.members.reduce(record) { record, member in
            guard let field = entity[field: member.key], let source = field.source, record[member.key] == nil else {
                return record.setting(member.key, to: member.value)
            }
            let path = JSONPath.steps(source)
            guard path.last == "id", path.count > 1 else { return record.setting(path[...], to: member.value) }
            return record.setting(path.dropLast(), to: object(of: field, path, member.value))
        }
    }

    /// The known part of the object with this `id`.
    private func object(of field: Field, _ path: [Substring], _ id: JSONText) -> JSONText {
        guard id != .null else { return .null }
        let around = path.dropLast()
        if case .reference(let other) = field.kind, let record = referred(other, id.plain) {
            let siblings = entity.fields.compactMap { $0.source.map(JSONPath.steps) }.filter {
                $0.dropLast() == around
            }
            return .object(
                members: siblings.map { (key: String($0.last ?? ""), value: record[String($0.last ?? "")] ?? .null) })
        }
        return like(field.name, id.plain)?.at(path: around.joined(separator: ".")) ?? .object(members: [("id", id)])
    }
}

extension JSONText {
    /// A copy with the value at a path; values on the way that are not objects are replaced by objects.
    func setting(_ path: ArraySlice<Substring>, to value: JSONText) -> JSONText {
        guard let name = path.first else { return value }
        let whole = kind == .object ? self : .object(members: [])
        return whole.setting(String(name), to: (whole[String(name)] ?? .null).setting(path.dropFirst(), to: value))
    }

    /// A copy with the value of a field where the record has it: in an object, or else under the field's own name.
    func setting(_ field: Field, to value: JSONText) -> JSONText {
        guard self[field.name] == nil, let source = field.source, at(path: source) != nil else {
            return setting(field.name, to: value)
        }
        return setting(JSONPath.steps(source)[...], to: value)
    }
}
