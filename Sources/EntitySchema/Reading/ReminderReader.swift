/// Reads `reminders` and checks each against the entities that it names.
struct ReminderReader {
    let node: SchemaNode
    let entities: [Entity]

    private var lookup: FieldLookup { FieldLookup(entities: entities) }

    func rules() throws(SchemaError) -> [ReminderRule] {
        var rules: [ReminderRule] = []
        for (name, node) in try node.members() {
            _ = try node.identifier(name)
            rules.append(try rule(name, node))
        }
        return rules
    }

    private func rule(_ name: String, _ node: SchemaNode) throws(SchemaError) -> ReminderRule {
        try node.requireKeys(["of", "at", "before", "text", "where", "unless", "into"])
        let entity = try lookup.entity(node.required("of"))
        let at = try lookup.field(node.required("at"), of: entity)
        guard at.kind == .time || at.kind == .date && at.dayFormat == nil else {
            throw try node.required("at").error(
                "\(at.name) must be of type time or date (without wire), because it decides when to remind")
        }
        return ReminderRule(
            name: name, entity: entity.name, at: at.name, before: try node.child("before")?.duration() ?? .zero,
            text: try text(node.required("text"), of: entity),
            conditions: try ConditionReader(entity: entity).conditions(of: node),
            into: try node.child("into").map { node throws(SchemaError) in try into(node, of: entity) })
    }

    private func text(_ node: SchemaNode, of entity: Entity) throws(SchemaError) -> Template {
        let template = try node.template()
        for name in template.placeholders { _ = try ConditionReader(entity: entity).field(name, node) }
        return template
    }

    /// The entity's name alone, or `{ entity, fields }`.
    private func into(_ node: SchemaNode, of reminded: Entity) throws(SchemaError) -> ReminderRule.Into {
        if node.isMapping { try node.requireKeys(["entity", "fields"]) }
        let entity = try lookup.entity(node.isMapping ? node.required("entity") : node)
        guard entity.isLocal else {
            throw node.error("\(entity.name) is synced with the upstream; reminders need an entity with local: true")
        }
        var fields: [String: ReminderRule.Part] = [:]
        for field in entity.fields {
            if let part = ReminderRule.Part(rawValue: field.name), part.fits(field.kind, of: reminded.name) {
                fields[field.name] = part
            }
        }
        for (name, node) in try (node.isMapping ? node.child("fields") : nil)?.members() ?? [] {
            fields[name] = try part(node, heldBy: ConditionReader(entity: entity).field(name, node), of: reminded)
        }
        guard fields[entity.key] == nil else {
            throw node.error("\(entity.key) is the key of \(entity.name), which is generated; remove it")
        }
        for field in entity.fields where field.required && field.name != entity.key && fields[field.name] == nil {
            throw node.error("\(entity.name) requires \(field.name), which a reminder does not set; add it to fields")
        }
        return ReminderRule.Into(entity: entity.name, fields: fields)
    }

    private func part(
        _ node: SchemaNode, heldBy field: Field, of reminded: Entity
    ) throws(SchemaError) -> ReminderRule.Part {
        guard let part = ReminderRule.Part(rawValue: try node.string()) else {
            let known = ReminderRule.Part.allCases.map(\.rawValue).joined(separator: ", ")
            throw node.error("expected the part of a reminder that \(field.name) holds, one of \(known)")
        }
        guard part.fits(field.kind, of: reminded.name) else {
            throw node.error("\(field.name) cannot hold \(part.rawValue), which has another type; choose another field")
        }
        return part
    }
}
