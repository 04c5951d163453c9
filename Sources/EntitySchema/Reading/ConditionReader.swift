/// Reads `where` and `unless`, and finds the fields by which one entity's records are counted.
struct ConditionReader {
    let entity: Entity
    /// Whether a list can be asked for an element, and `$account` stand for the account.
    var allowsMore = false

    func conditions(of node: SchemaNode) throws(SchemaError) -> [Condition] {
        try conditions(node.child("where"), excluded: false) + conditions(node.child("unless"), excluded: true)
    }

    private func conditions(_ node: SchemaNode?, excluded: Bool) throws(SchemaError) -> [Condition] {
        var conditions: [Condition] = []
        for (name, node) in try node?.members() ?? [] {
            let field = try plain(name, node)
            let values = node.isSequence ? try node.strings() : [try node.string()]
            guard !values.isEmpty else { throw node.error("expected a value or a list of them") }
            if case .enum(let known) = field.kind,
                let stray = values.first(where: { value in !known.contains { $0.value == value } })
            {
                let near = Suggestion.nearest(to: stray, among: known.map(\.value)).map { "; did you mean \($0)?" }
                throw node.error("\(name) is never \(stray)\(near ?? "")")
            }
            if !allowsMore, values.contains(Condition.account) {
                throw node.error("\(Condition.account) can only stand in derive; expected a plain value")
            }
            conditions.append(Condition(field: name, values: values, excluded: excluded))
        }
        return conditions
    }

    /// A field whose value is a single plain one.
    func plain(_ name: String, _ node: SchemaNode) throws(SchemaError) -> Field {
        let field = try field(name, node)
        switch field.kind {
        case .string, .integer, .boolean, .enum, .reference: return field
        case .list where allowsMore: return field
        case .number, .money, .time, .object, .list:
            throw node.error(
                "\(name) cannot be told apart by value; expected a field of type string, integer, boolean, enum or "
                    + "reference")
        }
    }

    func field(_ name: String, _ node: SchemaNode) throws(SchemaError) -> Field {
        guard let field = entity[field: name] else {
            let near = Suggestion.nearest(to: name, among: entity.fields.map(\.name)).map { "; did you mean \($0)?" }
            throw node.error("\(entity.name) has no field \(name)\(near ?? "")")
        }
        guard !field.secret else { throw node.error("\(name) is secret, so nothing is counted by it") }
        return field
    }
}
