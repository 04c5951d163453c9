internal import CacheStore
internal import EntitySchema
internal import JSONText

/// The parameters that depend on an entity's schema: filters, order, and which fields and relations to show.
struct EntityParameters {
    typealias Named = (key: String, value: JSONText)

    let schema: EntitySchema
    let entity: Entity

    /// The component parameters by name.
    var all: [Named] { order + inclusion + secrets + filters }
    /// The names of the parameters of its lists, and of a single record.
    var ofLists: [String] {
        let filters = filterable.map { "where.\($0.name)" } + ["comparisons"]
        return (["sort", "fields"] + inclusionNames + filters).map(name)
    }
    var ofOne: [String] {
        (inclusionNames + (entity.fields.contains(where: \.secret) ? ["reveal"] : [])).map(name)
    }

    private var shown: [Field] { entity.fields.filter { !$0.secret } }

    /// What lists filter and sort by.
    private var listed: [Field] { shown + (entity[field: Entity.syncedAt.name] == nil ? [Entity.syncedAt] : []) }

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

    // MARK: Filters

    private var filters: [Named] {
        filterable.map { named("where.\($0.name)", equality($0)) } + [named("comparisons", comparisons)]
    }

    private var filterable: [Field] {
        listed.filter { field in
            switch field.kind {
            case .object, .list: false
            default: true
            }
        }
    }

    private func equality(_ field: Field) -> JSONText {
        var note = "records with any of these values"
        if case .enum(let values) = field.kind { note += ": \(values.map(\.value).joined(separator: ", "))" }
        if !field.indexed && field.name != entity.key { note += "; not indexed, reads the whole table" }
        return .parameter(field.name, note, several: Self.value(of: field))
    }

    private static func value(of field: Field) -> JSONText {
        switch field.kind {
        case .integer, .number, .money: .object(["type": "number"])
        case .boolean: .object(["type": "boolean"])
        case .time: .object(["type": "string", "format": "date-time"])
        case .date: .object(["type": "string", "format": "date"])
        default: .object(["type": "string"])
        }
    }

    private var comparisons: JSONText {
        let nulls = Self.pattern(filterable, "null")
        let patterns = [(key: nulls, value: JSONText.object(["type": "boolean"]))] + comparedByValue
        return .object([
            "name": "comparisons", "in": "query", "style": "form", "explode": true,
            "description": "field.gt=, .gte=, .lt=, .lte=, .ne= with a value; field.null= with true or false",
            "schema": .object([
                "type": "object", "patternProperties": .object(members: patterns), "additionalProperties": false,
            ]),
        ])
    }

    /// One pattern for the fields of each type.
    private var comparedByValue: [Named] {
        var types: [(type: JSONText, fields: [Field])] = []
        for field in filterable {
            let type = Self.value(of: field)
            if let index = types.firstIndex(where: { $0.type == type }) {
                types[index].fields.append(field)
            } else {
                types.append((type, [field]))
            }
        }
        return types.map { (key: Self.pattern($0.fields, "gt|gte|lt|lte|ne"), value: $0.type) }
    }

    private static func pattern(_ fields: [Field], _ comparisons: String) -> String {
        "^(\(fields.map(\.name).joined(separator: "|")))\\.(\(comparisons))$"
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
