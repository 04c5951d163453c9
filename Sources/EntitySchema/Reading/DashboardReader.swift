/// Reads `dashboard` and checks it against the entities that it counts.
struct DashboardReader {
    let node: SchemaNode
    let entities: [Entity]

    func plan() throws(SchemaError) -> DashboardPlan {
        try node.requireKeys(["path", "figures"])
        var figures: [DashboardPlan.Figure] = []
        for (name, node) in try node.required("figures").members() {
            _ = try node.identifier(name)
            if DashboardPlan.reservedNames.contains(name) {
                throw node.error(
                    "\(name) is a member of the dashboard's response and cannot name a figure; choose another name")
            }
            figures.append(try figure(name, node))
        }
        guard !figures.isEmpty else { throw try node.required("figures").error("expected at least one figure") }
        return DashboardPlan(path: try node.child("path")?.fixedPath(), figures: figures)
    }

    private var lookup: FieldLookup { FieldLookup(entities: entities) }

    private func figure(_ name: String, _ node: SchemaNode) throws(SchemaError) -> DashboardPlan.Figure {
        try node.requireKeys([
            "of", "at", "sum", "with_count", "decimals", "distinct", "seen", "where", "unless", "user",
        ])
        let entity = try lookup.entity(node.required("of"))
        let at = try lookup.field(node.required("at"), of: entity)
        guard at.kind == .time, at.indexed else {
            throw try node.required("at").error(
                "\(at.name) must be of type time with index: true, because every period is looked up by it")
        }
        let conditions = try ConditionReader(entity: entity).conditions(of: node)
        return DashboardPlan.Figure(
            name: name, entity: entity.name, at: at.name, measure: try measure(node, entity), conditions: conditions,
            user: try node.child("user").map { node throws(SchemaError) in try user(node, entity) },
            isCounted: try node.flag("with_count"))
    }

    /// A field, or one of a record that the entity refers to: `order.assigned_user_id`.
    private func user(_ node: SchemaNode, _ entity: Entity) throws(SchemaError) -> String {
        let name = try node.string()
        guard let far = entity.far(name), let other = entities.first(where: { $0.name == far.entity }) else {
            return try lookup.field(node, of: entity).name
        }
        _ = try ConditionReader(entity: other).field(far.field, node)
        return name
    }

    // MARK: What is counted

    private func measure(_ node: SchemaNode, _ entity: Entity) throws(SchemaError) -> DashboardPlan.Measure {
        if let seen = node.child("seen"), node.child("distinct") == nil {
            throw seen.error("seen needs distinct beside it, which names the field")
        }
        for name in ["decimals", "with_count"] {
            guard let key = node.child(name), node.child("sum") == nil else { continue }
            throw key.error("\(name) needs sum beside it")
        }
        switch (node.child("sum"), node.child("distinct")) {
        case (nil, nil): return .count
        case (let sum?, nil):
            let field = try lookup.field(sum, of: entity)
            guard [.money, .number, .integer].contains(field.kind) else {
                throw sum.error("\(field.name) cannot be summed; expected a field of type money, number or integer")
            }
            return .sum(field: field.name, decimals: try node.child("decimals")?.integer(in: 0...9) ?? 2)
        case (nil, let distinct?):
            let field = try lookup.plain(distinct, of: entity)
            guard let seen = node.child("seen") else { return .distinct(field: field.name, seen: nil) }
            guard field.indexed || field.name == entity.key else {
                throw distinct.error("\(field.name) needs index: true, because seen looks up each of its values")
            }
            guard let word = DashboardPlan.Seen(rawValue: try seen.string()) else {
                throw seen.error("expected first (new in the period) or again (seen before it)")
            }
            return .distinct(field: field.name, seen: word)
        case (_?, let distinct?): throw distinct.error("a figure has sum or distinct, not both; remove one")
        }
    }
}
