internal import JSONText

/// The component schemas of the calls that the page needs besides those for records, as the document has them.
enum PageComponents {
    static func schemas() throws -> JSONText { try JSONText(parsing: text) }

    private static let text = #"""
        {
          "Activity": {
            "type": "object", "required": ["minutes", "hours"],
            "properties": {
              "minutes": {"$ref": "#/components/schemas/ActivitySteps"},
              "hours": {"$ref": "#/components/schemas/ActivitySteps"}}},
          "ActivitySteps": {
            "type": "object",
            "required": ["start", "step_s", "pending", "failed", "syncs", "sync_ms", "unreachable_s", "requests"],
            "description": "one list for each figure, with an element for each step, oldest first",
            "properties": {
              "start": {"type": "string", "format": "date-time", "description": "of the first step"},
              "step_s": {"type": "integer", "description": "the length of a step in seconds"},
              "pending": {"$ref": "#/components/schemas/ActivityFigures"},
              "failed": {"$ref": "#/components/schemas/ActivityFigures"},
              "syncs": {"$ref": "#/components/schemas/ActivityFigures"},
              "sync_ms": {"$ref": "#/components/schemas/ActivityFigures"},
              "unreachable_s": {"$ref": "#/components/schemas/ActivityFigures"},
              "requests": {
                "type": "object", "required": ["2xx", "3xx", "4xx", "5xx", "unreachable"],
                "additionalProperties": {"$ref": "#/components/schemas/ActivityFigures"}}}},
          "ActivityFigures": {
            "type": "array", "items": {"type": ["integer", "null"]},
            "description": "null for a step in which the daemon did not run", "examples": [[null, 0, 2]]},
          "Findings": {
            "type": "object", "required": ["data"],
            "properties": {
              "data": {"type": "array", "items": {
                "type": "object", "required": ["check", "level", "message", "advice"],
                "properties": {
                  "check": {"type": "string"}, "level": {"type": "string", "x-extensible-enum": ["ok", "warning", "error"]},
                  "message": {"type": "string"},
                  "advice": {"type": ["string", "null"], "description": "what to do; null if nothing is"}}}}},
            "examples": [{"data": [{"check": "disk", "level": "ok",
              "message": "8122 MiB free in /var/lib/repairminder-sync", "advice": null}]}]},
          "SessionRequest": {
            "type": "object", "required": ["token"], "additionalProperties": false,
            "properties": {"token": {"type": "string", "description": "the content of the daemon's api-token file"}}},
          "SignInWays": {
            "type": "object", "required": ["needed", "ways"],
            "properties": {
              "needed": {"type": "boolean", "description": "whether the upstream refuses the daemon's token, or it has none"},
              "ways": {"type": "array", "items": {"type": "string"}, "description": "none if the daemon needs no person"}}},
          "SignInRequest": {
            "oneOf": [{"$ref": "#/components/schemas/SignInBeginning"}, {"$ref": "#/components/schemas/SignInAnswers"}],
            "examples": [{"way": "password"}]},
          "SignInBeginning": {
            "type": "object", "required": ["way"], "additionalProperties": false,
            "properties": {"way": {"type": "string", "description": "begins a sign-in"}}},
          "SignInAnswers": {
            "type": "object", "required": ["id", "answers"], "additionalProperties": false,
            "properties": {"id": {"type": "string"}, "answers": {"$ref": "#/components/schemas/SignInAnswersByName"}}},
          "SignInAnswersByName": {
            "type": "object", "additionalProperties": {"type": "string"}, "description": "by the names of the questions"},
          "SignIn": {
            "type": "object", "required": ["signed_in", "id", "questions"],
            "properties": {
              "signed_in": {"type": "boolean"}, "id": {"type": ["string", "null"]},
              "questions": {"type": "array", "description": "those to answer next", "items": {
                "type": "object", "required": ["name", "text", "secret"],
                "properties": {
                  "name": {"type": "string"}, "text": {"type": "string"}, "secret": {"type": "boolean"}}}}}}
        }
        """#
}
