package import EntitySchema
internal import JSONText

/// Where another schema expects a list, to recognise an upstream that answers in that schema's shape.
package struct ListElsewhere: Sendable, Equatable {
    package var schema: String
    package var path: String
    package var records: Place

    package static func all(in schema: EntitySchema) -> [ListElsewhere] {
        schema.entities.compactMap(\.pull).map {
            ListElsewhere(schema: schema.name, path: $0.path, records: $0.list.records)
        }
    }

    /// What to do about an answer to `path` that has no list where its own schema expects it; nil when no other schema
    /// finds one.
    static func advice(for body: JSONText, at path: String, _ others: [ListElsewhere]) -> String? {
        let found = others.first { other in
            path.hasSuffix(other.path) && other.records.value(in: body)?.kind == .array
        }
        return found.map { other in
            "but one at \(other.records.description), where the schema \(other.schema) expects it; set schema: "
                + "\(other.schema) in the configuration and restart"
        }
    }
}
