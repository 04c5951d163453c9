internal import JSONText

/// The component schemas that do not depend on the schema, as the document has them.
enum FixedSchemas {
    /// The bodies of requests, which take nothing but what their schemas say.
    private static let bodies: Set<String> = ["Choice", "Fields", "Snooze", "SyncRequest"]

    /// Answers are open to values that come later.
    static func all() throws -> [(key: String, value: JSONText)] {
        try JSONText(parsing: text).members.map { name, schema in
            if name == "Problem" { return (name, withCodes(schema).opened) }
            return (name, bodies.contains(name) ? schema : schema.opened)
        }
    }

    /// With all codes of problems.
    private static func withCodes(_ problem: JSONText) -> JSONText {
        let codes = JSONText.array(ProblemCode.allCases.map { .string($0.rawValue) })
        guard let properties = problem["properties"], let code = properties["code"] else { return problem }
        return problem.setting("properties", to: properties.setting("code", to: code.setting("enum", to: codes)))
    }

    private static let text = #"""
        {
          "Index": {
            "type": "object",
            "required": ["name", "title", "version", "entities", "calls", "description", "docs"],
            "properties": {
              "name": {"type": "string"}, "title": {"type": "string"}, "version": {"type": "string"},
              "entities": {"type": "array", "items": {
                "type": "object", "required": ["name", "href", "schema"],
                "properties": {
                  "name": {"type": "string"}, "href": {"type": "string"}, "schema": {"type": "string"}}}},
              "calls": {"type": "array", "items": {
                "type": "object", "required": ["method", "path", "summary"],
                "properties": {
                  "method": {"type": "string"}, "path": {"type": "string"}, "summary": {"type": "string"}}}},
              "description": {"type": "string"}, "docs": {"type": "string"}}},
          "OpenAPI": {"type": "object", "required": ["openapi"]},
          "Time": {"type": ["string", "null"], "format": "date-time"},
          "Cursor": {"type": ["string", "null"], "description": "for the next page; null on the last page"},
          "Fields": {"type": "object", "examples": [{"status": "ready"}]},
          "Problem": {
            "type": "object", "required": ["type", "title", "status", "code", "detail"],
            "properties": {
              "type": {"type": "string"}, "title": {"type": "string"}, "status": {"type": "integer"},
              "code": {"type": "string", "description": "what went wrong, for programs; each answer lists its codes"},
              "detail": {"type": "string"},
              "errors": {"type": "array", "items": {
                "type": "object", "required": ["code", "in", "pointer", "field", "message"],
                "properties": {
                  "code": {"type": "string"}, "in": {"type": "string", "description": "query, header or body"},
                  "pointer": {"type": "string", "description": "a JSON pointer into the body; else the name"},
                  "field": {"type": "string"}, "message": {"type": "string"}}}},
              "dependents": {"type": "array", "items": {"type": "integer"}},
              "request_id": {"type": "string", "description": "X-Request-Id of the answer"}},
            "examples": [{"type": "file:///usr/share/doc/repairminder-sync/errors.md#invalid_fields",
              "title": "Unprocessable content", "status": 422, "code": "invalid_fields",
              "detail": "status: expected one of open, ready, got \"lost\"",
              "errors": [{"code": "unknown_value", "in": "body", "pointer": "/status", "field": "status",
                "message": "expected one of open, ready, got \"lost\""}]}]},
          "Sync": {
            "type": "object", "required": ["state", "pending_fields", "synced_at", "error"],
            "properties": {
              "state": {"enum": ["synced", "pending", "uploading", "conflict", "error"]},
              "pending_fields": {"type": "array", "items": {"type": "string"}},
              "synced_at": {"$ref": "#/components/schemas/Time"},
              "error": {"type": ["object", "null"]}, "push": {"$ref": "#/components/schemas/Push"}}},
          "Push": {
            "type": "object", "required": ["state", "changes"], "description": "the outcome of a write that was waited for",
            "properties": {
              "state": {"enum": ["pending", "failed", "blocked", "conflict", "discarded"]},
              "changes": {"type": "array", "items": {"type": "integer"}}, "position": {"type": ["integer", "null"]}}},
          "Pushing": {"type": "object", "properties": {"_sync": {"type": "object"}}},
          "Status": {
            "type": "object",
            "required": ["state", "progress", "phase", "error", "missing", "last_sync_at", "next_sync_at", "pending", "failed", "conflicts",
              "entities", "upstream", "schema", "version", "uptime_s"],
            "properties": {
              "state": {"enum": ["idle", "syncing", "completed", "error", "offline", "paused"]},
              "progress": {"type": "number"}, "phase": {"type": ["string", "null"]},
              "error": {"type": ["string", "null"]},
              "missing": {"type": ["string", "null"], "description": "what must still be configured before a sync can run"},
              "warnings": {"type": "array", "items": {"type": "string"}},
              "last_sync_at": {"$ref": "#/components/schemas/Time"},
              "next_sync_at": {"$ref": "#/components/schemas/Time"}, "pending": {"type": "integer"},
              "failed": {"type": "integer"}, "conflicts": {"type": "integer"},
              "parked_deliveries": {"type": "integer", "description": "of hooks; absent if there are none"},
              "entities": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/EntityStatus"}},
              "upstream": {"type": "object"}, "schema": {"type": "string"}, "version": {"type": "string"},
              "rescue": {"type": ["object", "null"]}, "uptime_s": {"type": "integer"}}},
          "EntityStatus": {
            "type": "object", "required": ["rows", "state", "last_synced_at", "cursor", "error", "held"],
            "properties": {
              "rows": {"type": "integer"}, "state": {"type": "string", "examples": ["idle", "syncing", "error"]},
              "last_synced_at": {"$ref": "#/components/schemas/Time"}, "cursor": {"type": ["string", "null"]},
              "error": {"type": ["string", "null"]}, "held": {"type": ["string", "null"]},
              "kept": {"type": "integer"}, "total": {"type": ["integer", "null"]},
              "progress": {
                "type": "object", "required": ["rows", "total"], "description": "of the pull under way",
                "properties": {
                  "rows": {"type": "integer"},
                  "total": {"type": ["integer", "null"], "description": "as the upstream states it"}}}}},
          "SyncRequest": {
            "type": "object", "additionalProperties": false,
            "properties": {
              "entities": {"type": "array", "items": {"type": "string"}, "minItems": 1},
              "full": {"type": "boolean"}, "delete": {"type": "boolean", "description": "only with full"}},
            "if": {"required": ["delete"], "properties": {"delete": {"const": true}}},
            "then": {"required": ["full"], "properties": {"full": {"const": true}}},
            "examples": [{"entities": ["orders"], "full": true}]},
          "PendingCount": {
            "type": "object", "required": ["pending", "failed"],
            "properties": {"pending": {"type": "integer"}, "failed": {"type": "integer"}},
            "examples": [{"pending": 3, "failed": 1}]},
          "PendingChange": {
            "type": "object",
            "required": ["id", "entity", "record_id", "operation", "fields", "request", "state", "retry_count", "created_at"],
            "properties": {
              "id": {"type": "integer"}, "entity": {"type": "string"}, "record_id": {"type": "string"},
              "operation": {"enum": ["create", "update", "delete", "content"]},
              "fields": {"type": "array", "items": {"type": "string"}}, "body": {"type": ["object", "null"]},
              "request": {"type": ["object", "null"]},
              "state": {"enum": ["queued", "uploading", "waiting", "blocked", "failed"]},
              "retry_count": {"type": "integer"}, "created_at": {"$ref": "#/components/schemas/Time"},
              "last_attempt_at": {"$ref": "#/components/schemas/Time"},
              "next_attempt_at": {"$ref": "#/components/schemas/Time"}, "error": {"type": ["object", "null"]},
              "blocked_by": {"type": ["integer", "null"]}, "conflict": {"type": ["integer", "null"]},
              "traceparent": {"type": "string", "description": "the trace of the latest caller that named one"}},
            "examples": [{"id": 4, "entity": "orders", "record_id": "ord_4bba", "operation": "update", "fields": ["status"],
              "body": {"status": "ready"}, "request": {"method": "PATCH", "path": "/api/orders/ord_4bba"}, "state": "queued",
              "retry_count": 0, "created_at": "2026-11-21T10:42:00.000Z", "last_attempt_at": null, "next_attempt_at": null,
              "error": null, "blocked_by": null, "conflict": null}]},
          "PendingChanges": {
            "type": "object", "required": ["data", "next"],
            "properties": {
              "data": {"type": "array", "items": {"$ref": "#/components/schemas/PendingChange"}},
              "next": {"$ref": "#/components/schemas/Cursor"}}},
          "Retried": {"type": "object", "required": ["retried"], "properties": {"retried": {"type": "integer"}}},
          "Choice": {
            "type": "object", "required": ["winner"], "additionalProperties": false,
            "properties": {"winner": {"enum": ["local", "server"]}}},
          "Conflict": {
            "type": "object",
            "required": ["id", "at", "entity", "record_id", "operation", "field", "base", "local", "server", "rule", "winner"],
            "properties": {
              "id": {"type": "integer"}, "at": {"$ref": "#/components/schemas/Time"}, "entity": {"type": "string"},
              "record_id": {"type": "string"}, "change_id": {"type": ["integer", "null"]},
              "operation": {"enum": ["create", "update", "delete"]}, "field": {"type": ["string", "null"]},
              "local_at": {"$ref": "#/components/schemas/Time"}, "server_at": {"$ref": "#/components/schemas/Time"},
              "rule": {"enum": ["last_write_wins", "local_wins", "server_wins", "manual"]},
              "winner": {"enum": ["local", "server", null]}, "decided_at": {"$ref": "#/components/schemas/Time"},
              "undone_at": {"$ref": "#/components/schemas/Time"}}},
          "Conflicts": {
            "type": "object", "required": ["data", "next"],
            "properties": {
              "data": {"type": "array", "items": {"$ref": "#/components/schemas/Conflict"}},
              "next": {"$ref": "#/components/schemas/Cursor"}}},
          "Drift": {
            "type": "object", "required": ["data", "set_aside"],
            "properties": {
              "data": {"type": "array", "items": {
                "type": "object", "required": ["entity", "field", "kind", "count"],
                "properties": {
                  "entity": {"type": "string"}, "field": {"type": "string"},
                  "kind": {"enum": ["unknown", "missing", "type", "value", "list", "ignored"]}, "expected": {"type": ["string", "null"]},
                  "found": {"type": "string"}, "count": {"type": "integer"}}}},
              "set_aside": {"type": "array", "items": {"type": "object"}}}},
          "Change": {
            "type": "object", "required": ["seq", "at", "kind", "entity", "id", "fields"],
            "properties": {
              "seq": {"type": "integer"}, "at": {"$ref": "#/components/schemas/Time"}, "kind": {"type": "string"},
              "entity": {"type": ["string", "null"]}, "id": {"type": ["string", "null"]},
              "fields": {"type": ["array", "null"], "items": {"type": "string"}},
              "change_id": {"type": ["integer", "null"]}, "old_id": {"type": ["string", "null"]},
              "reason": {"type": ["string", "null"]}, "carrier": {"type": "integer"},
              "reminder": {"$ref": "#/components/schemas/Reminder"}},
            "examples": [{"seq": 812, "at": "2026-11-21T10:42:00.000Z", "kind": "queued", "entity": "orders",
              "id": "ord_4bba", "fields": ["status"], "change_id": 4}]},
          "Event": {
            "type": "object", "description": "one Server-Sent Event",
            "properties": {
              "id": {"type": "string"}, "event": {"type": "string"},
              "data": {"type": "string", "contentMediaType": "application/json",
                "contentSchema": {"$ref": "#/components/schemas/Change"}}}},
          "Changes": {
            "type": "object", "required": ["epoch", "data", "next"],
            "properties": {
              "epoch": {"type": "string"}, "next": {"type": "integer"},
              "data": {"type": "array", "items": {"$ref": "#/components/schemas/Change"}}}},
          "History": {
            "type": "object", "required": ["data", "next"],
            "properties": {
              "data": {"type": "array", "items": {"type": "object", "required": ["seq", "at", "kind"]}},
              "next": {"$ref": "#/components/schemas/Cursor"}}},
          "Found": {
            "type": "object", "required": ["data", "complete"],
            "properties": {
              "complete": {"type": "boolean"},
              "data": {"type": "array", "items": {
                "type": "object", "required": ["entity", "id", "title", "snippet"],
                "properties": {
                  "entity": {"type": "string"}, "id": {"type": "string"}, "title": {"type": ["string", "null"]},
                  "snippet": {"type": ["string", "null"]}}}}},
            "examples": [{"data": [{"entity": "clients", "id": "cli_9", "title": "Zoë Smith", "snippet": "«Zoë» Smith"}],
              "complete": true}]},
          "Reminder": {
            "type": "object", "required": ["id", "rule", "entity", "record_id", "text", "due_at", "state", "attempts"],
            "properties": {
              "id": {"type": "integer"}, "rule": {"type": "string"}, "entity": {"type": "string"},
              "record_id": {"type": "string"}, "text": {"type": "string"}, "due_at": {"$ref": "#/components/schemas/Time"},
              "state": {"enum": ["scheduled", "due", "delivered", "snoozed", "dismissed"]},
              "snoozed_until": {"$ref": "#/components/schemas/Time"}, "delivered_at": {"$ref": "#/components/schemas/Time"},
              "attempts": {"type": "integer"}, "error": {"type": ["string", "null"]}}},
          "Reminders": {
            "type": "object", "required": ["data", "next"],
            "properties": {
              "data": {"type": "array", "items": {"$ref": "#/components/schemas/Reminder"}},
              "next": {"$ref": "#/components/schemas/Cursor"}}},
          "Hook": {
            "type": "object", "required": ["name", "on", "state", "position", "attempts", "delivered", "parked"],
            "properties": {
              "name": {"type": "string"}, "on": {"type": "array", "items": {"type": "string"}},
              "of": {"type": ["string", "null"]}, "state": {"enum": ["waiting", "retrying", "paused"]},
              "position": {"type": "integer"}, "attempts": {"type": "integer"},
              "next_attempt_at": {"$ref": "#/components/schemas/Time"}, "error": {"type": ["string", "null"]},
              "delivered": {"type": "integer"}, "delivered_at": {"$ref": "#/components/schemas/Time"},
              "parked": {"type": "integer"}, "parked_deliveries": {"type": "array", "items": {"type": "object"}}}},
          "Hooks": {
            "type": "object", "required": ["data"],
            "properties": {"data": {"type": "array", "items": {"$ref": "#/components/schemas/Hook"}}}},
          "HookChoice": {
            "type": "object", "required": ["id"], "additionalProperties": false,
            "properties": {"id": {"type": "integer", "minimum": 1, "maximum": 9223372036854775807}}, "examples": [{"id": 1}]},
          "Snooze": {
            "type": "object", "required": ["for"], "additionalProperties": false,
            "properties": {"for": {"type": "string", "pattern": "^[1-9][0-9]{0,3}[smhd]$"}}, "examples": [{"for": "10m"}]},
          "Dashboard": {
            "type": "object", "required": ["period", "scope", "time_zone", "from", "until"],
            "properties": {
              "period": {"type": "string"}, "scope": {"type": "string"}, "time_zone": {"type": "string"},
              "from": {"$ref": "#/components/schemas/Time"}, "until": {"$ref": "#/components/schemas/Time"},
              "user": {"type": "string"}},
            "additionalProperties": {
              "type": "object", "required": ["current", "comparisons"],
              "properties": {
                "current": {"type": "object", "properties": {"count": {"type": "integer"}, "total": {"type": "number"}}},
                "comparisons": {"type": "array", "items": {
                  "type": "object", "required": ["period", "change", "change_percent"],
                  "properties": {
                    "period": {"type": "string"}, "count": {"type": "integer"}, "total": {"type": "number"},
                    "change": {"type": "number"}, "change_percent": {"type": "number"}}}}}}}
        }
        """#
}
