/// Writes one field of an entity: `status: { type: enum, values: { open: Open } }`.
struct FieldWriter {
    let field: DraftField

    var member: YAMLNode.Member {
        var members: [YAMLNode.Member] = []
        switch field.kind {
        case .simple(let word): members.append(YAMLNode.Member("type", .text(word)))
        case .enum(let values):
            members.append(YAMLNode.Member("type", .text("enum")))
            members.append(YAMLNode.Member("values", .mapping(values.map(Self.value))))
        case .reference(let entity, let name):
            members.append(YAMLNode.Member("type", .text("reference")))
            members.append(YAMLNode.Member("to", .text(entity)))
            if let name { members.append(YAMLNode.Member("as", .text(name))) }
        }
        if let from = field.from { members.append(YAMLNode.Member("from", .text(from))) }
        if field.isTextOnWire { members.append(YAMLNode.Member("wire", .text("string"))) }
        if let form = field.timeForm { members.append(YAMLNode.Member("wire", .text(form))) }
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
