internal import JSONText

/// The component schemas of `POST /v1/_batch`, as the document has them.
enum BatchComponents {
    static func schemas() throws -> JSONText { try JSONText(parsing: text) }

    private static let text = #"""
        {
          "Batch": {
            "type": "object", "required": ["operations"], "additionalProperties": false,
            "properties": {
              "atomic": {"type": "boolean", "default": true,
                "description": "true: all operations are done, or none; false: each is done or refused by itself"},
              "operations": {"type": "array", "maxItems": 1000, "description": "done in this order",
                "items": {"$ref": "#/components/schemas/BatchedWrite"}}},
            "examples": [{"operations": [
              {"operation": "create", "entity": "clients", "lid": "ada", "body": {"first_name": "Ada"}},
              {"operation": "create", "entity": "orders", "body": {"client_id": {"lid": "ada"}}},
              {"operation": "update", "entity": "orders", "id": "ord_4bba", "body": {"status": "ready"}}]}]},
          "BatchedWrite": {
            "oneOf": [
              {"type": "object", "required": ["operation", "entity", "body"], "additionalProperties": false,
                "properties": {
                  "operation": {"const": "create"}, "entity": {"type": "string", "minLength": 1},
                  "lid": {"type": "string", "minLength": 1,
                    "description": "a name for the new record, for later operations of this batch"},
                  "body": {"$ref": "#/components/schemas/BatchBody"}}},
              {"type": "object", "required": ["operation", "entity", "id", "body"], "additionalProperties": false,
                "properties": {
                  "operation": {"const": "update"}, "entity": {"type": "string", "minLength": 1},
                  "id": {"$ref": "#/components/schemas/BatchKey"},
                  "body": {"$ref": "#/components/schemas/BatchBody"},
                  "merge": {"type": "boolean", "description": "the body is a merge patch (RFC 7396)"},
                  "if_match": {"$ref": "#/components/schemas/BatchCondition"}}},
              {"type": "object", "required": ["operation", "entity", "id", "body"], "additionalProperties": false,
                "properties": {
                  "operation": {"const": "replace"}, "entity": {"type": "string", "minLength": 1},
                  "id": {"$ref": "#/components/schemas/BatchKey"},
                  "body": {"$ref": "#/components/schemas/BatchBody"},
                  "if_match": {"$ref": "#/components/schemas/BatchCondition"}}},
              {"type": "object", "required": ["operation", "entity", "id"], "additionalProperties": false,
                "properties": {
                  "operation": {"const": "delete"}, "entity": {"type": "string", "minLength": 1},
                  "id": {"$ref": "#/components/schemas/BatchKey"},
                  "if_match": {"$ref": "#/components/schemas/BatchCondition"}}}]},
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
