/// Finds the entities and fields that parts of a schema name which are not an entity's own, such as the dashboard's.
struct FieldLookup {
    let entities: [Entity]

    func entity(_ node: SchemaNode) throws(SchemaError) -> Entity {
        let name = try node.string()
        guard let entity = entities.first(where: { $0.name == name }) else {
            let near = Suggestion.nearest(to: name, among: entities.map(\.name)).map { "; did you mean \($0)?" } ?? ""
            throw node.error("there is no entity \(name)\(near)")
        }
        return entity
    }

    func field(_ node: SchemaNode, of entity: Entity) throws(SchemaError) -> Field {
        try ConditionReader(entity: entity).field(node.string(), node)
    }

    /// One whose value is a single plain one.
    func plain(_ node: SchemaNode, of entity: Entity) throws(SchemaError) -> Field {
        try ConditionReader(entity: entity).plain(node.string(), node)
    }
}
