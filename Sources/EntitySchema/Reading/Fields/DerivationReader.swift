/// Reads `derive` of every field, once all entities are known, and checks it against the fields it is computed from.
struct DerivationReader {
    let root: SchemaNode
    let entities: [Entity]

    /// The entities with their derivations.
    func read() throws(SchemaError) -> [Entity] {
        var result = entities
        for (index, entity) in entities.enumerated() {
            for (place, field) in entity.fields.enumerated() {
                guard let node = node(field, entity).child("derive") else { continue }
                result[index].fields[place].derivation = try derivation(node, field, entity)
            }
        }
        return result
    }

    private func node(_ field: Field, _ entity: Entity) -> SchemaNode {
        ["entities", entity.name, "fields", field.name].reduce(root) { $0.child($1) ?? $0 }
    }

    private func derivation(_ node: SchemaNode, _ field: Field, _ entity: Entity) throws(SchemaError) -> Derivation {
        try node.requireKeys(["count", "sum", "latest", "by", "text", "is", "where", "unless"])
        let given = ["count", "sum", "latest", "text", "is"].filter { node.child($0) != nil }
        guard given.count == 1 else { throw node.error("expected exactly one of count, sum, latest, text and is") }
        if given != ["latest"], let by = node.child("by") { throw by.error("by is only allowed with latest") }
        if let own = node.child("text") ?? node.child("is") {
            for name in ["where", "unless"] {
                guard let condition = node.child(name) else { continue }
                throw condition.error("\(name) is only allowed with count, sum and latest")
            }
            return given == ["text"] ? .text(try patterns(own, field, entity)) : .test(try test(own, field, entity))
        }
        return .children(try figure(node, field, entity))
    }

    // MARK: From the record's own fields

    /// One text, or several; the first that has a value counts.
    private func patterns(
        _ node: SchemaNode, _ field: Field, _ entity: Entity
    ) throws(SchemaError) -> [TextPattern] {
        try require(field.kind == .string, node, "text needs a field of type string, even for a change time")
        var patterns: [TextPattern] = []
        for text in try node.oneOrMore() {
            let pattern = try text.pattern()
            for name in pattern.names {
                try requireOwn(ConditionReader(entity: entity).field(name, text), of: entity, text)
            }
            patterns.append(pattern)
        }
        try require(!patterns.isEmpty, node, "expected a text with {fields}, or a list of them")
        return patterns
    }

    private func test(_ node: SchemaNode, _ field: Field, _ entity: Entity) throws(SchemaError) -> RecordTest {
        try require(field.kind == .boolean, node, "is needs a field of type boolean")
        let test = try RecordTestReader(entity: entity).test(node)
        for name in test.names {
            try requireOwn(ConditionReader(entity: entity).field(name, node), of: entity, node)
        }
        return test
    }

    // MARK: From other records

    private func figure(_ node: SchemaNode, _ field: Field, _ entity: Entity) throws(SchemaError) -> ChildFigure {
        var measureNode = node
        for name in ["count", "sum", "latest"] { measureNode = node.child(name) ?? measureNode }
        let names = try measureNode.string().split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let isCount = node.child("count") != nil
        guard names.count == (isCount ? 1 : 2) else {
            throw measureNode.error(
                isCount
                    ? "expected the name of a relation" : "expected a relation and a field of its records: orders.total"
            )
        }
        let reader = ConditionReader(entity: try child(names[0], measureNode, of: entity), allowsMore: true)
        let conditions = try reader.conditions(of: node)
        for condition in conditions {
            try requireOwn(reader.field(condition.field, node), of: reader.entity, node)
        }
        let measure: ChildFigure.Measure
        if isCount {
            try require(field.kind == .integer, measureNode, "count needs a field of type integer")
            measure = .count
        } else if node.child("sum") != nil {
            measure = try sum(reader.field(names[1], measureNode), measureNode, field, reader.entity)
        } else {
            measure = try latest(reader.field(names[1], measureNode), node, field, reader)
        }
        return ChildFigure(relation: names[0], measure: measure, conditions: conditions)
    }

    private func child(_ name: String, _ node: SchemaNode, of entity: Entity) throws(SchemaError) -> Entity {
        let many = entity.relations.filter(\.isMany)
        guard let relation = many.first(where: { $0.name == name }) else {
            let hint = Suggestion.hint(for: name, among: many.map(\.name))
            throw node.error("\(entity.name) has no relation \(name) in many\(hint)")
        }
        guard let child = entities.first(where: { $0.name == relation.entity }) else {
            throw node.error("there is no entity \(relation.entity)")
        }
        return child
    }

    private func sum(
        _ summed: Field, _ node: SchemaNode, _ field: Field, _ child: Entity
    ) throws(SchemaError) -> ChildFigure.Measure {
        let numbers: [Field.Kind] = [.money, .number, .integer]
        try require(
            numbers.contains(summed.kind), node,
            "\(summed.name) cannot be summed; expected a field of type money, number or integer")
        try require(
            numbers.contains(field.kind) && (field.kind != .integer || summed.kind == .integer), node,
            "sum needs a field of type money or number, or integer when it adds integers")
        try requireOwn(summed, of: child, node)
        return .sum(field: summed.name)
    }

    private func latest(
        _ shown: Field, _ node: SchemaNode, _ field: Field, _ reader: ConditionReader
    ) throws(SchemaError) -> ChildFigure.Measure {
        let latest = try node.required("latest")
        let byNode = try node.required("by")
        let by = try reader.field(byNode.string(), byNode)
        try require(by.kind == .time, byNode, "\(by.name) must be of type time, which decides the latest")
        try require(
            shown.kind == field.kind, latest, "\(field.name) needs the type of \(reader.entity.name).\(shown.name)")
        for other in [shown, by] { try requireOwn(other, of: reader.entity, latest) }
        return .latest(field: shown.name, by: by.name)
    }

    // MARK: Errors

    private func require(_ holds: Bool, _ node: SchemaNode, _ problem: String) throws(SchemaError) {
        guard holds else { throw node.error(problem) }
    }

    /// Computed values depend only on values that are not computed, so they need no order.
    private func requireOwn(_ field: Field, of entity: Entity, _ node: SchemaNode) throws(SchemaError) {
        try require(
            !derives(field.name, entity), node,
            "\(field.name) is computed itself, so no computed field can depend on it")
    }

    private func derives(_ field: String, _ entity: Entity) -> Bool {
        guard let field = entity[field: field] else { return false }
        return node(field, entity).child("derive") != nil
    }
}
