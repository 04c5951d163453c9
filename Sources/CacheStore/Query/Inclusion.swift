package import EntitySchema
package import SQLiteStore

/// A relation whose records are included in each record, with their own inclusions.
package struct Inclusion: Sendable, Equatable {
    package var relation: Relation
    package var nested: [Inclusion]

    /// Relations of relations of relations.
    package static let greatestDepth = 3
    private static let mostRelations = 20

    /// The entities whose records these include.
    static func entities(of include: [Inclusion]) -> Set<String> {
        include.reduce(into: []) { names, inclusion in
            names.insert(inclusion.relation.entity)
            names.formUnion(entities(of: inclusion.nested))
        }
    }

    /// Reads paths such as `devices` and `tickets.messages`; a shared prefix is included once.
    ///
    /// Throws `.badQuery` for a relation that is not in the schema, and beyond the limits.
    package static func tree(_ paths: [String], of entity: Entity, in schema: EntitySchema) throws(CacheError)
        -> [Inclusion]
    {
        var tree: [Inclusion] = []
        var count = 0
        for path in paths {
            let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            guard names.count <= greatestDepth else {
                throw refusal("\(path.prefix(200)) is too deep; include goes at most \(greatestDepth) relations deep")
            }
            count += try add(names[...], to: &tree, of: entity, in: schema)
        }
        guard count <= mostRelations else { throw refusal("include takes at most \(mostRelations) relations") }
        return tree
    }

    /// Returns the number of new relations.
    private static func add(
        _ names: ArraySlice<String>, to tree: inout [Inclusion], of entity: Entity, in schema: EntitySchema
    ) throws(CacheError) -> Int {
        guard let name = names.first else { return 0 }
        guard let relation = entity[relation: name], let other = schema[relation.entity],
            !isSecret(relation, entity, other)
        else {
            let known = entity.relations.map(\.name)
            let near = Suggestion.hint(for: name, among: known, else: ".")
            let list = known.isEmpty ? "no relations" : known.joined(separator: ", ")
            throw refusal("\(entity.name) has no relation \(name.prefix(100))\(near) It has \(list)")
        }
        var count = 0
        if !tree.contains(where: { $0.relation.name == name }) {
            tree.append(Inclusion(relation: relation, nested: []))
            count = 1
        }
        for index in tree.indices where tree[index].relation.name == name {
            count += try add(names.dropFirst(), to: &tree[index].nested, of: other, in: schema)
        }
        return count
    }

    /// The target of a secret field would reveal its value.
    private static func isSecret(_ relation: Relation, _ entity: Entity, _ other: Entity) -> Bool {
        switch relation.kind {
        case .one(let field): entity[field: field]?.secret ?? true
        case .many(let field, _): other[field: field]?.secret ?? true
        }
    }

    private static func refusal(_ message: String) -> CacheError { .badQuery(field: "include", message: message) }
}
