internal import JSONText

/// The component schemas of what `GET /v1/schema` answers, as the document has them.
enum SchemaComponents {
    static func schemas() throws -> JSONText { try JSONText(parsing: text).opened }

    private static let text = #"""
        {
          "Schema": {
            "type": "object", "required": ["name", "title", "entities"],
            "properties": {
              "name": {"type": "string"}, "title": {"type": "string"},
              "entities": {"type": "array", "items": {"$ref": "#/components/schemas/Entity"}}}},
          "Entity": {
            "type": "object",
            "required": ["name", "local", "key", "title", "title_else", "sort", "create", "update", "delete", "content",
              "fields", "relations"],
            "properties": {
              "name": {"type": "string"}, "local": {"type": "boolean", "description": "kept only on this machine"},
              "key": {"type": "string", "description": "the field that identifies a record"},
              "title": {"type": "string", "description": "a record's name for people: text with {fields}"},
              "title_else": {"type": ["string", "null"], "description": "instead of title, if one of its fields is empty"},
              "sort": {"type": ["string", "null"], "description": "the default of sort=; null for the order of arrival"},
              "create": {"type": ["array", "null"], "items": {"type": "string"},
                "description": "the fields that a new record can have; null if none can be created"},
              "update": {"type": ["array", "null"], "items": {"type": "string"},
                "description": "the fields that can be changed; null if none can"},
              "delete": {"type": "boolean"},
              "content": {"oneOf": [{"type": "null"}, {"$ref": "#/components/schemas/Content"}]},
              "fields": {"type": "array", "items": {"$ref": "#/components/schemas/Field"}},
              "relations": {"type": "array", "items": {"$ref": "#/components/schemas/Relation"}}}},
          "Content": {
            "type": "object", "required": ["upload", "create", "delete", "types", "max_size", "state"],
            "properties": {
              "upload": {"type": "boolean"}, "create": {"type": "boolean"}, "delete": {"type": "boolean"},
              "types": {"type": "array", "items": {"type": "string"}},
              "max_size": {"type": "integer", "description": "in bytes"},
              "state": {"type": ["string", "null"], "description": "the field that shows the progress of an upload"}}},
          "Field": {
            "type": "object",
            "required": [
              "name", "type", "values", "to", "from", "required", "index", "search", "secret", "sealed",
              "computed", "default", "natural"
            ],
            "properties": {
              "name": {"type": "string"},
              "type": {"enum": ["string", "integer", "number", "money", "boolean", "time", "enum", "reference", "object",
                "list"]},
              "values": {"type": ["array", "null"], "description": "of an enum", "items": {
                "type": "object", "required": ["value", "label", "icon"],
                "properties": {
                  "value": {"type": "string"}, "label": {"type": "string"}, "icon": {"type": ["string", "null"]}}}},
              "to": {"type": ["string", "null"], "description": "the entity that a reference points to"},
              "from": {"type": ["string", "null"], "description": "where a record has the value, if not under its name"},
              "required": {"type": "boolean"}, "index": {"type": "boolean"},
              "search": {"enum": ["words", "fragments", null]}, "secret": {"type": "boolean"},
              "sealed": {"type": "boolean", "description": "stored encrypted; filtered by whole values only"},
              "natural": {"type": "boolean", "description": "requests may name a record by it: order_number:1486"},
              "computed": {"type": "boolean", "description": "computed by the daemon; cannot be written"},
              "default": {"description": "the value in a record created without one, if that is always the same"}}},
          "Relation": {
            "type": "object", "required": ["name", "many", "entity", "by"],
            "properties": {
              "name": {"type": "string"}, "many": {"type": "boolean"}, "entity": {"type": "string"},
              "by": {"type": "string",
                "description": "the field that refers to the other record: of the other entity if many, else of this one"}}}
        }
        """#
}
