/// Reads `where` and `unless`, and finds the fields by which an entity's records are counted.
struct ConditionReader {
    let entity: Entity
    /// Whether a condition may test a list for an element, and use `$account` for the account.
    var allowsMore = false

    func conditions(of node: SchemaNode) throws(SchemaError) -> [Condition] {
        try conditions(node.child("where"), excluded: false) + conditions(node.child("unless"), excluded: true)
    }

    private func conditions(_ node: SchemaNode?, excluded: Bool) throws(SchemaError) -> [Condition] {
        var conditions: [Condition] = []
        for (name, node) in try node?.members() ?? [] {
            let field = try plain(name, node)
            let values = try node.texts()
            guard !values.isEmpty else { throw node.error("expected a value or a list of them") }
            try node.check(values, for: field)
            if !allowsMore, values.contains(Condition.account) {
                throw node.error("\(Condition.account) is allowed only in derive; expected a plain value")
            }
            conditions.append(Condition(field: name, values: values, excluded: excluded))
        }
        return conditions
    }

    /// A field with a single plain value.
    func plain(_ name: String, _ node: SchemaNode) throws(SchemaError) -> Field {
        let field = try field(name, node)
        switch field.kind {
        case .string, .integer, .boolean, .enum, .reference: return field
        case .list where allowsMore: return field
        case .number, .money, .time, .date, .object, .list:
            throw node.error(
                "\(name) cannot be compared by value; expected a field of type string, integer, boolean, enum or "
                    + "reference")
        }
    }

    func field(_ name: String, _ node: SchemaNode) throws(SchemaError) -> Field {
        guard let field = entity[field: name] else { throw node.error(Suggestion.noField(name, of: entity)) }
        guard !field.isStoredSealed else {
            throw node.error("\(name) is \(field.sealingWord), so it cannot be used here; choose another field")
        }
        return field
    }
}

/// Finds the entities and fields that parts of a schema outside of entities name, such as the dashboard.
struct FieldLookup {
    let entities: [Entity]

    func entity(_ node: SchemaNode) throws(SchemaError) -> Entity {
        let name = try node.string()
        guard let entity = entities.first(where: { $0.name == name }) else {
            let hint = Suggestion.hint(for: name, among: entities.map(\.name))
            throw node.error("there is no entity \(name)\(hint)")
        }
        return entity
    }

    func field(_ node: SchemaNode, of entity: Entity) throws(SchemaError) -> Field {
        try ConditionReader(entity: entity).field(node.string(), node)
    }

    /// A field with a single plain value.
    func plain(_ node: SchemaNode, of entity: Entity) throws(SchemaError) -> Field {
        try ConditionReader(entity: entity).plain(node.string(), node)
    }
}
