internal import CacheStore
internal import EntitySchema
internal import JSONText

/// The parameters that depend on an entity's schema: order, which fields and relations to show, and filters
/// (`FilterParameters`).
struct EntityParameters {
    typealias Named = (key: String, value: JSONText)

    let schema: EntitySchema
    let entity: Entity

    /// The component parameters by name.
    var all: [Named] { order + inclusion + secrets + filters.all.map { named($0.key, $0.value) } }
    /// The names of the parameters of its lists, and of a single record.
    var ofLists: [String] {
        (["sort", "fields"] + inclusionNames + filters.all.map(\.key)).map(name) + filters.words
    }
    var ofOne: [String] {
        (["fields"] + inclusionNames + (entity.fields.contains(where: \.secret) ? ["reveal"] : [])).map(name)
    }

    private var shown: [Field] { entity.fields.filter { !$0.secret } }

    /// What lists filter and sort by.
    private var listed: [Field] { shown + (entity[field: Entity.syncedAt.name] == nil ? [Entity.syncedAt] : []) }

    private var filters: FilterParameters { FilterParameters(schema: schema, entity: entity, listed: listed) }

    private var inclusionNames: [String] { entity.relations.isEmpty ? [] : ["include"] }

    private func name(_ name: String) -> String { "\(entity.name).\(name)" }

    private func named(_ name: String, _ parameter: JSONText) -> Named { (self.name(name), parameter) }

    // MARK: What to show

    private var order: [Named] {
        let names = shown.map { JSONText.string($0.name) }
        let terms = listed.flatMap { [JSONText.string($0.name), .string("-\($0.name)")] }
        return [
            named(
                "sort",
                .parameter(
                    "sort", "fields to sort by, in this order; - before a name for descending", several: .values(terms))
            ),
            named("fields", .parameter("fields", "show only these fields and the key", several: .values(names))),
        ]
    }

    private var inclusion: [Named] {
        let paths = paths(from: entity, depth: Inclusion.greatestDepth).map { JSONText.string($0) }
        guard !paths.isEmpty else { return [] }
        return [named("include", .parameter("include", "relations to show with each record", several: .values(paths)))]
    }

    private func paths(from entity: Entity, depth: Int) -> [String] {
        guard depth > 0 else { return [] }
        return entity.relations.flatMap { relation in
            let beyond = schema[relation.entity].map { paths(from: $0, depth: depth - 1) } ?? []
            return [relation.name] + beyond.map { "\(relation.name).\($0)" }
        }
    }

    private var secrets: [Named] {
        let names = entity.fields.filter(\.secret).map { JSONText.string($0.name) }
        guard !names.isEmpty else { return [] }
        let note = "secret fields to show; not combined with other parameters, and logged"
        return [named("reveal", .parameter("reveal", note, several: .values(names), isUnique: true))]
    }
}

extension JSONText {
    /// A query parameter that takes one value, or several separated by commas.
    static func parameter(
        _ name: String, _ description: String, several values: JSONText, isUnique: Bool = false
    ) -> JSONText {
        let list = JSONText.object(["type": "array", "items": values, "minItems": 1])
        return .object([
            "name": .string(name), "in": "query", "style": "form", "explode": false,
            "description": .string("\(description); separated by commas"),
            "schema": isUnique ? list.setting("uniqueItems", to: true) : list,
        ])
    }

    static func values(_ values: [JSONText]) -> JSONText { .object(["enum": .array(values)]) }
}

extension Entity {
    /// Whether a search can find its records.
    var isSearched: Bool { fields.contains { $0.search != nil && !$0.secret } }
}
