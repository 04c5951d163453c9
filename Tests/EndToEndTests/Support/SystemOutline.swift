import JSONText
import Testing

/// The entities of a system, one line each with its fields: `?` marks an optional field, parentheses hold an enum's values.
///
/// `users id, email, display_name?, tier (free, premium)`
struct SystemOutline {
    struct Field {
        var name: String
        var isOptional: Bool
        var values: [String]
    }

    struct Entity {
        var name: String
        var fields: [Field]
    }

    let entities: [Entity]
    /// `entity/relation`.
    let relations: [String]

    init(_ text: String, relations: String) {
        entities = text.split(separator: "\n").map { line in
            let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
            return Entity(name: parts[0], fields: Self.fields(parts[1]))
        }
        self.relations = relations.split(separator: " ").map(String.init)
    }

    private static func fields(_ text: String) -> [Field] {
        var fields: [Field] = []
        var rest = text[...]
        while !rest.isEmpty {
            let name = rest.prefix { $0 != "," && $0 != " " }
            rest = rest.dropFirst(name.count)
            var values: [String] = []
            if rest.hasPrefix(" (") {
                let list = rest.dropFirst(2).prefix { $0 != ")" }
                values = list.split(separator: ",").map { $0.trimmingPrefix(" ") }.map(String.init)
                rest = rest.dropFirst(list.count + 3)
            }
            rest = rest.drop { $0 == "," || $0 == " " }
            let isOptional = name.hasSuffix("?")
            fields.append(
                Field(name: String(isOptional ? name.dropLast() : name), isOptional: isOptional, values: values))
        }
        return fields
    }

    /// Compares the daemon's OpenAPI description with this outline.
    func check(against api: JSONText) throws {
        for entity in entities {
            let record = properties("\(entity.name).record", api)
            // Secrets can be written but are not shown.
            let made = properties("\(entity.name).new", api)
            for field in entity.fields {
                let shown = try #require(
                    record[field.name] ?? made[field.name], "\(entity.name) has no \(field.name)")
                let values =
                    (shown["x-extensible-enum"] ?? shown["enum"])?.elements.filter { $0 != .null }.map(\.plain) ?? []
                #expect(values == field.values || field.values.isEmpty, "\(entity.name).\(field.name)")
            }
            checkIndexes(of: entity, record, api)
        }
        for relation in relations {
            let parts = relation.split(separator: "/")
            #expect(api["paths"]?["/v1/\(parts[0])/{id}/\(parts[1])"] != nil, "\(relation)")
        }
    }

    /// Keys, enums and times have an index; the description of a filter mentions a missing one.
    private func checkIndexes(of entity: Entity, _ record: [String: JSONText], _ api: JSONText) {
        for filter in api["paths"]?["/v1/\(entity.name)"]?["get"]?["parameters"]?.elements ?? [] {
            guard let name = filter["name"]?.string, let shown = record[name] else { continue }
            let isKey = name.hasSuffix("_id") && shown["description"]?.plain.contains("the key of") == true
            guard isKey || shown["x-extensible-enum"] != nil || shown["format"] == "date-time" else { continue }
            #expect(filter["description"]?.plain.contains("no index") == false, "\(entity.name).\(name)")
        }
    }

    private func properties(_ name: String, _ api: JSONText) -> [String: JSONText] {
        let members = api["components"]?["schemas"]?[name]?["properties"]?.members ?? []
        return Dictionary(uniqueKeysWithValues: members.map { ($0.key, $0.value["anyOf"]?.elements.first ?? $0.value) })
    }
}
