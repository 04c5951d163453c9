internal import CacheStore
internal import EntitySchema
internal import JSONText

/// The filters of an entity's lists: one parameter for each field, and one object with all comparisons.
struct FilterParameters {
    let schema: EntitySchema
    let entity: Entity
    /// The fields that lists filter and sort by.
    let listed: [Field]

    /// The component parameters by name, without the entity's.
    var all: [EntityParameters.Named] {
        filterable.map { ("where.\($0.name)", equality($0)) } + [("comparisons", comparisons)]
    }

    /// The parameters that combine conditions, except those that are fields of the entity.
    var words: [String] { ["or", "and", "not.or", "not.and"].filter { entity.listed($0) == nil } }

    private var filterable: [Field] { Self.withOneValue(listed) }

    private static func withOneValue(_ fields: [Field]) -> [Field] {
        fields.filter { field in
            switch field.kind {
            case .object, .list: false
            default: true
            }
        }
    }

    // MARK: Equality

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

    // MARK: Comparisons

    private var comparisons: JSONText {
        .object([
            "name": "comparisons", "in": "query", "style": "form", "explode": true,
            "description": .string(
                "field.gt=, .gte=, .lt=, .lte=, .ne=, .eq= with a value, .in= and .nin= with several; .null= with true or "
                    + "false; .starts=, .contains= with text; .has= with an element of a list. not. before a comparison "
                    + "negates it. The field may be one of a related record (relation.field) or a place in an object"),
            "schema": .object([
                "type": "object", "patternProperties": .object(members: patterns), "additionalProperties": false,
            ]),
        ])
    }

    private var patterns: [EntityParameters.Named] {
        let own = filterable.map { (path: $0.name, field: $0) }
        let paths = own + related
        let nullable = listed.filter { !$0.isStoredSealed }.map(\.name) + related.map(\.path)
        return [Self.pattern(nullable, "null", .object(["type": "boolean"]))] + comparedByValue(paths)
            + compared(texts(paths), "starts|contains", .object(["type": "string", "minLength": 1, "maxLength": 200]))
            + compared(fields(.list), "has", .object(["type": "string"])) + equalities(related) + places
    }

    /// The fields of the records that this entity's refer to.
    private var related: [(path: String, field: Field)] {
        entity.relations.flatMap { relation -> [(path: String, field: Field)] in
            guard case .one(let reference) = relation.kind, entity[field: reference]?.isStoredSealed == false,
                let other = schema[relation.entity]
            else { return [] }
            return Self.withOneValue(other.fields.filter { !$0.secret }).map { ("\(relation.name)\\.\($0.name)", $0) }
        }
    }

    private func texts(_ paths: [(path: String, field: Field)]) -> [String] {
        paths.filter { path in
            switch path.field.kind {
            case .string, .enum, .reference: !path.field.isStoredSealed
            default: false
            }
        }.map(\.path)
    }

    /// The lists, or the objects, without secrets in them.
    private func fields(_ kind: Field.Kind) -> [String] {
        listed.filter { field in
            field.kind == kind && !entity.secretPlaces.contains { $0.path.first == .member(field.name) }
        }.map(\.name)
    }

    /// One pattern for the fields of each type, and one for their ranges: a text with a comma is none.
    private func comparedByValue(_ paths: [(path: String, field: Field)]) -> [EntityParameters.Named] {
        Self.types(paths).flatMap { type, paths -> [EntityParameters.Named] in
            let isText = type == .object(["type": "string"])
            let one = isText ? type.setting("pattern", to: "^[^,]*$") : type
            let several = isText ? type.setting("pattern", to: "^[^\"()]*$") : type
            let ranged = paths.filter { !$0.field.isStoredSealed }.map(\.path)
            let names = paths.map(\.path)
            return compared(names, "eq", type) + compared(names, "ne", one) + compared(names, "in|nin", several)
                + compared(ranged, "gt|gte|lt|lte", one)
        }
    }

    /// Any of several values of a related field.
    private func equalities(_ paths: [(path: String, field: Field)]) -> [EntityParameters.Named] {
        Self.types(paths).map { type, paths in
            (key: "^(\(paths.map(\.path).joined(separator: "|")))$", value: type)
        }
    }

    /// Places inside objects, whose types the schema does not say.
    private var places: [EntityParameters.Named] {
        let objects = fields(.object)
        guard !objects.isEmpty else { return [] }
        return [
            (
                key: "^(\(objects.joined(separator: "|")))(\\.[A-Za-z_]+)+(\\.(not\\.)?(eq|in|nin|has))?$",
                value: .object(["type": "string", "pattern": "^[^\"()]*$"])
            )
        ]
    }

    private func compared(_ paths: [String], _ comparisons: String, _ value: JSONText) -> [EntityParameters.Named] {
        paths.isEmpty ? [] : [Self.pattern(paths, comparisons, value)]
    }

    private static func pattern(_ paths: [String], _ comparisons: String, _ value: JSONText) -> EntityParameters.Named {
        (key: "^(\(paths.joined(separator: "|")))\\.(not\\.)?(\(comparisons))$", value: value)
    }

    private static func types(_ paths: [(path: String, field: Field)])
        -> [(type: JSONText, paths: [(path: String, field: Field)])]
    {
        var types: [(type: JSONText, paths: [(path: String, field: Field)])] = []
        for path in paths {
            let type = value(of: path.field)
            if let index = types.firstIndex(where: { $0.type == type }) {
                types[index].paths.append(path)
            } else {
                types.append((type, [path]))
            }
        }
        return types
    }
}
