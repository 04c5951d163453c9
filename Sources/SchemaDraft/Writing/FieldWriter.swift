/// Writes one field of an entity: `status: { type: enum, values: { open: Open } }`.
struct FieldWriter {
    let field: DraftField

    var member: YAMLNode.Member {
        var members: [YAMLNode.Member] = []
        switch field.kind {
        case .simple(let word): members.add("type", word)
        case .enum(let values):
            members.add("type", "enum")
            members.append(YAMLNode.Member("values", .mapping(values.map(Self.value))))
        case .reference(let entity, let name):
            members.add("type", "reference")
            members.add("to", entity)
            members.add("as", name)
        }
        members.add("from", field.from)
        members.add("wire", field.isTextOnWire ? "string" : nil)
        members.add("wire", field.timeForm)
        for (name, isSet) in [
            ("index", field.isIndexed), ("search", field.isSearched), ("required", field.isRequired),
            ("secret", field.isSecret), ("write_only", field.isWriteOnly),
        ] where isSet { members.append(YAMLNode.Member(name, .word("true"))) }
        return YAMLNode.Member(field.name, .mapping(members), field.reason)
    }

    private static func value(_ value: DataShape.EnumValue) -> YAMLNode.Member {
        let label = value.label.map { $0.filter { !"{}".contains($0) } } ?? Words.label(value.value)
        return YAMLNode.Member(value.value, .text(label.isEmpty ? value.value : String(label.prefix(80))))
    }
}
