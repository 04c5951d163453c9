internal import CacheStore
internal import EntitySchema
internal import JSONText

/// The parameters of all calls as components of the document: those of every schema, and those of this one's entities.
struct ParameterComponents {
    let schema: EntitySchema

    /// Throws only for a mistake in `FixedParameters`, which tests find.
    func all() throws -> [(key: String, value: JSONText)] {
        let entities = schema.entities.map { JSONText.string($0.name) }
        let searched = schema.entities.filter(\.isSearched).map { JSONText.string($0.name) }
        let kinds = ChangeLogKind.allCases.map { JSONText.string($0.rawValue) }
        return try FixedParameters.all() + [
            ("entity", entity(entities)),
            ("entities", .parameter("entity", "only these entities", several: .values(entities))),
            ("searched_entities", .parameter("entity", "only these entities", several: .values(searched))),
            ("kinds", .parameter("kind", "only these kinds", several: .values(kinds))),
        ] + schema.entities.flatMap { EntityParameters(schema: schema, entity: $0).all }
    }

    /// Component → the parameter's name in the query. Empty, so that every parameter is refused, if `all` throws.
    func queryNames() -> [String: String] {
        var names: [String: String] = [:]
        for (component, parameter) in (try? all()) ?? [] where parameter["in"]?.string == "query" {
            names[component] = parameter["name"]?.string
        }
        return names
    }

    /// The variable segment of a path that names an entity.
    private func entity(_ names: [JSONText]) -> JSONText {
        .object(["name": "entity", "in": "path", "required": true, "schema": .values(names)])
    }
}
