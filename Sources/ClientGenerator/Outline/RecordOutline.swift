internal import EntitySchema
internal import JSONText

/// An entity as generated code has it.
struct RecordOutline {
    let entity: String
    /// The type of a record, such as `Order`.
    let type: String
    let idType: String
    /// The name of all its records, such as `orders`.
    let accessor: String
    /// The name of the key in the schema.
    let key: String
    let enums: [EnumOutline]
    /// What a record shows.
    let shown: [FieldOutline]
    /// What lists filter and sort by.
    let listed: [FieldOutline]
    let relations: [RelationOutline]
    /// The fields of a new record; nil if none can be created.
    let create: [FieldOutline]?
    /// The fields that can be changed; nil if none can.
    let update: [FieldOutline]?
    let canDelete: Bool
    let hasContent: Bool
    let takesContent: Bool
}

/// Makes the outline of one entity, with the names that were given to all of them.
struct RecordOutliner {
    let schema: EntitySchema
    let rules: NamingRules
    /// Entity → the names of its types.
    let types: [String: ClientOutline.TypeNames]

    func outline(_ entity: Entity, _ topLevel: inout NameScope) -> RecordOutline? {
        guard let names = types[entity.name] else { return nil }
        var members = NameScope(rules.members, reserved: rules.reservedMembers, word: "field")
        var nested = NameScope(.pascal, reserved: rules.reservedNested.union(types.values.map(\.record)), word: "value")
        var enums: [EnumOutline] = []
        var fields: [String: FieldOutline] = [:]
        for field in entity.fields {
            var kind = kind(of: field, entity, names)
            if case .enum(let values) = field.kind, field.name != entity.key {
                let type =
                    rules.nestsTypes
                    ? nested.name(Words(field.name)) : topLevel.name(Words("\(names.record)_\(field.name)"))
                enums.append(EnumOutline(type: type, values: self.values(values)))
                kind = .name(type)
            }
            let isKey = field.name == entity.key && field.name == "id"
            fields[field.name] = FieldOutline(
                name: field.name, identifier: isKey ? "id" : members.name(Words(field.name)), kind: kind,
                place: FieldOutline.place(field), isRequired: field.required && field.name != entity.key,
                isSealed: field.sealed, isShownRaw: field.dayFormat != nil,
                isNumber: isNumber(field, entity))
        }
        let relations = entity.relations.compactMap { outline($0, entity, &members) }
        let outlines = { (all: [Field]) in all.compactMap { fields[$0.name] } }
        let operations = entity.operations
        return RecordOutline(
            entity: entity.name, type: names.record, idType: names.id, accessor: names.accessor, key: entity.key,
            enums: enums, shown: outlines(entity.fields.filter { !$0.secret }),
            listed: outlines(listed(entity)) + syncedAt(entity, &members), relations: relations,
            create: operations.contains(.create) ? outlines(entity.writable(by: .create)) : nil,
            update: operations.contains(.update) ? outlines(entity.writable(by: .update)) : nil,
            canDelete: operations.contains(.delete), hasContent: entity.content != nil,
            takesContent: entity.content?.upload != nil)
    }

    /// Not what is inside an object or a list with secrets, nor what cannot be compared as a whole.
    private func listed(_ entity: Entity) -> [Field] {
        entity.fields.filter { field in
            switch field.kind {
            case .object, .list:
                !field.isStoredSealed && !entity.secretPlaces.contains { $0.path.first == .member(field.name) }
            default: !field.secret
            }
        }
    }

    private func syncedAt(_ entity: Entity, _ members: inout NameScope) -> [FieldOutline] {
        let name = Entity.syncedAt.name
        guard entity[field: name] == nil else { return [] }
        return [FieldOutline(name: name, identifier: members.name(Words(name)), kind: .time)]
    }

    private func kind(of field: Field, _ entity: Entity, _ names: ClientOutline.TypeNames) -> FieldOutline.Kind {
        if field.name == entity.key, field.name == "id" { return .id(names.id) }
        switch field.kind {
        case .string, .enum: return .string
        case .integer: return .integer
        case .number, .money: return .decimal
        case .boolean: return .boolean
        case .time: return .time
        case .date: return .day
        case .object: return .object
        case .list: return .list
        case .reference(let other): return types[other].map { .id($0.id) } ?? .string
        }
    }

    private func isNumber(_ field: Field, _ entity: Entity) -> Bool {
        field.name == entity.key && field.kind == .integer
    }

    private func outline(_ relation: Relation, _ entity: Entity, _ members: inout NameScope) -> RelationOutline? {
        guard let other = types[relation.entity] else { return nil }
        var (isMany, isFiltered) = (true, false)
        if case .one(let field) = relation.kind {
            isMany = false
            isFiltered = entity[field: field]?.isStoredSealed == false
        }
        return RelationOutline(
            name: relation.name, identifier: members.name(Words(relation.name)), type: other.record, isMany: isMany,
            isFiltered: isFiltered)
    }

    private func values(_ values: [Field.EnumValue]) -> [EnumOutline.Value] {
        var scope = NameScope(rules.constants, reserved: rules.reservedConstants, word: "value")
        return values.map {
            EnumOutline.Value(identifier: scope.name(Words($0.value)), value: $0.value, label: $0.label)
        }
    }
}
