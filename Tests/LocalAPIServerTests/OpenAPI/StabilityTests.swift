import Foundation
import JSONText
import TestSupport
import Testing

@Suite("The stability of the description")
struct StabilityTests {
    private static let file = "Tests/Released/openapi.json"

    /// To keep the present description at a release: `KEEP_DESCRIPTION=yes swift test --filter StabilityTests`.
    @Test("nothing that the last release described is broken")
    func compatible() async throws {
        let now = await (try TestAPI(deletes: true)).call("GET", "/openapi.json").text
        if ProcessInfo.processInfo.environment["KEEP_DESCRIPTION"] != nil {
            try Data((now + "\n").utf8).write(to: ProjectFiles.root.appending(path: Self.file))
        }
        let released = try JSONText(
            parsing: ProjectFiles.text(Self.file).trimmingCharacters(in: .whitespacesAndNewlines))
        #expect(DescriptionComparison(old: released, new: try JSONText(parsing: now)).breaks == [])
        #expect((released["paths"]?.members.count ?? 0) > 30)
    }

    // MARK: The comparison

    /// A document of one call, which each test breaks at one place.
    private static let document = ##"""
        {"paths": {"/v1/orders": {"get": {
          "operationId": "listOrders",
          "parameters": [{"$ref": "#/components/parameters/limit"}, {"name": "sort", "in": "query", "schema": {"enum": ["id", "at"]}}],
          "requestBody": {"required": false, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/new"}}}},
          "responses": {
            "200": {"headers": {"ETag": {"required": true}}, "content": {"application/json": {"schema": {
              "type": "object", "required": ["data"],
              "properties": {"data": {"type": "array", "items": {"$ref": "#/components/schemas/order"}}}}}}},
            "404": {"description": "no"}}}}},
         "components": {
           "parameters": {"limit": {"name": "limit", "in": "query", "schema": {"type": "integer", "maximum": 1000}}},
           "schemas": {
             "new": {"type": "object", "required": ["id"], "additionalProperties": false,
               "properties": {"id": {"type": ["string", "integer"]}, "note": {"type": "string", "maxLength": 9}}},
             "order": {"type": "object", "required": ["id", "total"],
               "properties": {"id": {"type": "string"}, "total": {"type": ["number", "null"]},
                 "state": {"anyOf": [{"type": "string"}, {}]}}}}}}
        """##

    private func breaks(_ old: String, _ new: String) throws -> [String] {
        try #require(Self.document.contains(old), "the document has \(old)")
        return try DescriptionComparison(
            old: JSONText(parsing: Self.document), new: JSONText(parsing: Self.document.replacing(old, with: new))
        ).breaks
    }

    @Test(
        "a breaking change is found",
        arguments: [
            (#""/v1/orders":"#, #""/v1/others":"#, "the path was removed"),
            (#"{"get": {"#, #"{"post": {"#, "the call was removed"),
            (#""listOrders""#, #""list""#, "the operation id was changed"),
            (##"{"$ref": "#/components/parameters/limit"}, "##, "", "parameter limit in query was removed"),
            (#""name": "sort", "#, #""name": "sort", "required": true, "#, "parameter sort in query became required"),
            (#""name": "sort""#, #""name": "order", "required": true"#, "parameter order in query is new and required"),
            (#"["id", "at"]"#, #"["id"]"#, "parameter sort in query: values were removed"),
            (#""maximum": 1000"#, #""maximum": 100"#, "parameter limit in query: maximum was lowered"),
            (
                #"{"type": "integer", "maximum""#, #"{"type": "boolean", "maximum""#,
                "parameter limit in query: the type was narrowed"
            ),
            (#""requestBody": {"required": false"#, #""requestBody": {"required": true"#, "the body became required"),
            (
                #""required": ["id"], "additional"#, #""required": ["id", "note"], "additional"#,
                "body.note became required"
            ),
            (#"["string", "integer"]"#, #""string""#, "body.id: the type was narrowed"),
            (#", "note": {"type": "string", "maxLength": 9}"#, "", "body.note was removed"),
            (#""maxLength": 9"#, #""maxLength": 8"#, "body.note: maxLength was lowered"),
            (#""404": {"#, #""405": {"#, "answer 404 was removed"),
            (#"{"ETag": {"required": true}}"#, "{}", "answer 200: header ETag was removed"),
            (#"{"ETag": {"required": true}}"#, #"{"ETag": {}}"#, "answer 200: header ETag may be missing now"),
            (
                #""headers": {"ETag": {"required": true}}, "content": {"application/json""#,
                #""headers": {"ETag": {"required": true}}, "content": {"text/plain""#,
                "answer 200: application/json was removed"
            ),
            (#""required": ["id", "total"]"#, #""required": ["id"]"#, "answer 200.data[].total may be missing now"),
            (#""id": {"type": "string"}, "total""#, #""total""#, "answer 200.data[].id was removed"),
            (
                #""total": {"type": ["number", "null"]}"#, #""total": {"type": "string"}"#,
                "answer 200.data[].total: the type was changed"
            ),
            (
                #"{"type": "array", "items""#, #"{"type": ["array", "null"], "items""#,
                "answer 200.data: the type was changed"
            ),
            (
                #"[{"type": "string"}, {}]"#, #"[{"type": "object"}, {}]"#,
                "answer 200.data[].state: the type was changed"
            ),
        ])
    func found(_ old: String, _ new: String, _ expected: String) throws {
        let breaks = try breaks(old, new)
        #expect(breaks.contains { $0.hasSuffix(expected) }, "\(breaks)")
    }

    @Test(
        "what clients must tolerate is no breaking change",
        arguments: [
            (#""paths": {"#, #""paths": {"/v1/new": {"get": {}}, "#),
            (#"{"get": {"#, #"{"post": {"operationId": "x"}, "get": {"#),
            (#""name": "sort", "in": "query""#, #""name": "sort", "in": "query", "required": false"#),
            (
                ##"{"$ref": "#/components/parameters/limit"}, "##,
                ##"{"$ref": "#/components/parameters/limit"}, {"name": "more", "in": "query"}, "##
            ),
            (#"["id", "at"]"#, #"["id", "at", "total"]"#), (#""maximum": 1000"#, #""maximum": 5000"#),
            (#", "maximum": 1000"#, ""), (#""maxLength": 9"#, #""maxLength": 10"#),
            (#"["string", "integer"]"#, #"["string", "integer", "boolean"]"#),
            (#""note": {"type""#, #""more": {"type": "string"}, "note": {"type""#),
            (#""id": {"type": "string"}, "total""#, #""id": {"type": "string"}, "more": {}, "total""#),
            (#""total": {"type": ["number", "null"]}"#, #""total": {"type": "integer"}"#),
            (#""404": {"#, #""410": {}, "404": {"#), (#""ETag": {"#, #""Link": {}, "ETag": {"#),
            (#""required": ["id"], "additional"#, #""required": [], "additional"#),
        ])
    func tolerated(_ old: String, _ new: String) throws {
        #expect(try breaks(old, new) == [])
    }
}
