internal import EntitySchema
internal import JSONText

/// The component schemas of `POST /v1/_batch`, as the document has them.
struct BatchComponents {
    let schema: EntitySchema

    func all() throws -> [(key: String, value: JSONText)] {
        let operations = try JSONText(parsing: Self.operations).members.compactMap(operation)
        // Nothing is valid where nothing can be written.
        let write = operations.isEmpty ? ("not", JSONText.object([:])) : ("oneOf", .array(operations))
        return try [(key: "BatchedWrite", value: .object(members: [write]))] + JSONText(parsing: Self.text).members
    }

    /// One kind of operation, with the entities whose records can be written so; nil if there are none.
    private func operation(_ kind: String, _ shape: JSONText) -> JSONText? {
        let needed = kind == "replace" ? [.create, .update] : Operation.allCases.filter { $0.rawValue == kind }
        let entities = schema.entities.filter { entity in needed.allSatisfy(entity.operations.contains) }
        guard !entities.isEmpty, let properties = shape["properties"] else { return nil }
        let own: [(key: String, value: JSONText)] = [
            ("operation", .object(["const": .string(kind)])),
            ("entity", .object(["enum": .array(entities.map { .string($0.name) })])),
        ]
        return shape.setting("properties", to: .object(members: own + properties.members))
    }

    /// By kind.
    private static let operations = #"""
        {
          "create": {"type": "object", "required": ["operation", "entity", "body"], "additionalProperties": false,
            "properties": {
              "lid": {"type": "string", "minLength": 1,
                "description": "a name for the new record, for later operations of this batch"},
              "body": {"$ref": "#/components/schemas/BatchBody"}}},
          "update": {"type": "object", "required": ["operation", "entity", "id", "body"], "additionalProperties": false,
            "properties": {
              "id": {"$ref": "#/components/schemas/BatchKey"},
              "body": {"$ref": "#/components/schemas/BatchBody"},
              "merge": {"type": "boolean", "description": "the body is a merge patch (RFC 7396)"},
              "if_match": {"$ref": "#/components/schemas/BatchCondition"}}},
          "replace": {"type": "object", "required": ["operation", "entity", "id", "body"], "additionalProperties": false,
            "properties": {
              "id": {"$ref": "#/components/schemas/BatchKey"},
              "body": {"$ref": "#/components/schemas/BatchBody"},
              "if_match": {"$ref": "#/components/schemas/BatchCondition"}}},
          "delete": {"type": "object", "required": ["operation", "entity", "id"], "additionalProperties": false,
            "properties": {
              "id": {"$ref": "#/components/schemas/BatchKey"},
              "if_match": {"$ref": "#/components/schemas/BatchCondition"}}}
        }
        """#

    private static let text = #"""
        {
          "Batch": {
            "type": "object", "required": ["operations"], "additionalProperties": false,
            "properties": {
              "atomic": {"type": "boolean", "default": true,
                "description": "true: all operations are done, or none; false: each is done or refused by itself"},
              "operations": {"type": "array", "maxItems": 1000, "description": "done in this order",
                "items": {"$ref": "#/components/schemas/BatchedWrite"}}}},
          "BatchBody": {"type": "object", "description":
            "the fields, as in a single write; one that refers to a record of this batch has {\"lid\": …}"},
          "BatchKey": {
            "oneOf": [
              {"type": "string", "minLength": 1}, {"type": "integer"},
              {"type": "object", "required": ["lid"], "additionalProperties": false,
                "properties": {"lid": {"type": "string", "minLength": 1}}}],
            "description": "the record's key, current or earlier, or the lid of one that this batch creates"},
          "BatchCondition": {"type": "string", "description": "the tags that If-Match would have",
            "pattern": "^(\\*|(W/)?\"[^\"]*\"(, *(W/)?\"[^\"]*\")*)$", "examples": ["\"0123456789abcdef-0123456789abcdef\""]},
          "BatchAnswer": {
            "type": "object", "required": ["failed", "results"],
            "properties": {
              "failed": {"type": "integer", "description": "how many operations were refused"},
              "results": {"type": "array", "description": "one for each operation, in their order", "items": {
                "type": "object", "required": ["status"],
                "properties": {
                  "status": {"type": "integer", "description": "as of a single write"},
                  "id": {"type": "string"}, "etag": {"type": "string"},
                  "record": {"type": "object", "description": "as a single write shows it"},
                  "problem": {"$ref": "#/components/schemas/Problem"}}}}},
            "examples": [{"failed": 0, "results": [
              {"status": 201, "id": "ord_4bba", "etag": "\"0123456789abcdef-0123456789abcdef\"",
                "record": {"id": "ord_4bba", "status": "ready"}}]}]}
        }
        """#
}
